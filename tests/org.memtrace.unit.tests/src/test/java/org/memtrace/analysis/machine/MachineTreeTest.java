// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.place.AccessPlaces;
import org.memtrace.aggregation.place.CpuPlaces;
import org.memtrace.analysis.machine.MachineTest.Row;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology.Type;
import org.memtrace.model.Progress;

/** A machine as a hierarchy, and accesses by its leaves. */
class MachineTreeTest {
	private static List<String> names(MachineTree tree) {
		List<String> names = new ArrayList<>();
		for (int n = 0; n < tree.hierarchy().size(); n++) {
			names.add("  ".repeat(tree.hierarchy().level(n)) + tree.names().name(n) + " [" + tree.cpus(n) + "]");
		}
		return names;
	}

	@Test
	void objectsWithTheSameCpusAreOneNode() {
		assertEquals(List.of("Machine [0-7]", "  Package 0, NUMA node 0 [0-3]", "    Core 0 [0-1]", "      CPU 0 [0]", "      CPU 1 [1]",
				"    Core 1 [2-3]", "      CPU 2 [2]", "      CPU 3 [3]", "  Package 1, NUMA node 1 [4-7]", "    Core 2 [4-5]",
				"      CPU 4 [4]", "      CPU 5 [5]", "    Core 3 [6-7]", "      CPU 6 [6]", "      CPU 7 [7]"),
				names(new MachineTree(MachineTest.machine(2, 2, true))));
		// one package with one core: two levels are enough
		assertEquals(List.of("Machine [0-1]", "  CPU 0 [0]", "  CPU 1 [1]"), names(new MachineTree(MachineTest.machine(1, 1, true))));
	}

	/** A core with one CPU has the name of the CPU; one without a CPU is no part; numbers of CPUs may have gaps and any order. */
	@Test
	void leavesAreCpus() {
		MachineObject five = new MachineObject(Type.PU, "CPU", 5, 0, 0, MachineTest.cpus(5), List.of(), List.of());
		MachineObject two = new MachineObject(Type.PU, "CPU", 2, 1, 0, MachineTest.cpus(2), List.of(), List.of());
		MachineObject none = new MachineObject(Type.CORE, "Core", 7, 2, 0, new BitSet(), List.of(), List.of());
		List<MachineObject> cores = List.of(new MachineObject(Type.CORE, "Core", 0, 0, 0, MachineTest.cpus(5), List.of(), List.of(five)), none,
				new MachineObject(Type.CORE, "Core", 1, 1, 0, MachineTest.cpus(2), List.of(), List.of(two)));
		MachineTree tree = new MachineTree(new MachineTopology(
				new MachineObject(Type.MACHINE, "Machine", -1, 0, 0, MachineTest.cpus(2, 5), List.of(), cores), "x", true));
		assertEquals(List.of("Machine [2,5]", "  CPU 5 [5]", "  CPU 2 [2]"), names(tree));
		CpuPlaces places = tree.places();
		assertEquals(2, places.count());
		assertEquals("[-1, -1, -1, 1, -1, -1, 0, -1]",
				Arrays.toString(new int[] {places.place(-1), places.place(0), places.place(1), places.place(2), places.place(3), places.place(4),
					places.place(5), places.place(6)}));
		assertThrows(IllegalArgumentException.class, () -> new MachineTree(new MachineTopology(none, "x", true)));
	}

	private static final ModelRequest WHOLE = new ModelRequest(BasicDimensions.READ_WRITE, Metric.ACCESSES, 4, 0, 1000,
			ModelRequest.WHOLE_TREE, null);

	private static MicroscopicModel across(AccessTable table, ModelRequest request, MachineTree tree) throws Exception {
		return new AccessModels(table).modelByPlace(request, new AccessModels(table).hierarchy(request.producer(), Progress.NONE),
				tree.places(), Progress.NONE);
	}

	/** Several CPUs share equally; no CPU, and one that the machine does not have, are left out and told. */
	@Test
	void memoryAcrossTheMachine() throws Exception {
		MachineTree tree = new MachineTree(MachineTest.machine(2, 2, true));
		List<BitSet> sets = List.of(MachineTest.cpus(0), MachineTest.cpus(0, 6), MachineTest.cpus(1, 99), MachineTest.cpus(99));
		List<Row> rows = List.of(new Row(0, 0, 0, 0, 10, 2), new Row(100, 0, 1, 0, 8, 0), new Row(0, 1, -1, 0, 5, 0),
				new Row(950, 1, 2, 0, 0, 6), new Row(100, 2, 3, 0, 3, 0));
		MachineTest.ask(3, sets, rows, table -> {
			MicroscopicModel m = across(table, WHOLE, tree);
			assertEquals(MicroscopicModel.Places.COLUMNS, m.places());
			assertEquals(8, m.sliceCount());
			assertEquals(3, m.hierarchy().leafCount());
			double[][][] wanted = new double[3][8][2];
			wanted[0][0] = new double[] {14, 2};
			wanted[0][6] = new double[] {4, 0};
			wanted[1][1] = new double[] {0, 1.5}; // half of the interval, half of the CPUs
			for (int page = 0; page < 3; page++) {
				for (int cpu = 0; cpu < 8; cpu++) {
					assertEquals(Arrays.toString(wanted[page][cpu]), Arrays.toString(m.sums(page, page + 1, cpu, cpu + 1)),
							"page " + page + ", CPU " + cpu);
				}
			}
			MachineUse use = MachineUse.of(tree.topology(), AccessPlaces.of(table, ModelRequest.WHOLE_TREE, 0, 1000, Progress.NONE));
			double left = use.unknownCpu() + use.elsewhere();
			assertEquals(5 + 1.5 + 3, left);
			assertEquals(use.whole().accesses(), Arrays.stream(m.totals()).sum() + left);
			assertEquals(3, use.cpuNotes().size());
			assertEquals("30.6 % of the " + use.unit().plural() + " have no CPU here", use.leftOut());
			return null;
		});
	}

	/** The same accesses by page and CPU, by CPU and time, and by CPU. */
	@ParameterizedTest
	@ValueSource(longs = {1, 2, 3, 4, 5, 6})
	void bothModelsHaveTheSumsOfTheMachine(long seed) throws Exception {
		Random random = new Random(seed);
		MachineTree tree = new MachineTree(MachineTest.machine(1 + random.nextInt(2), 1 + random.nextInt(3), true));
		int cpus = tree.places().count();
		List<BitSet> sets = new ArrayList<>();
		for (int i = 0; i < 12; i++) {
			sets.add(i < 6 ? MachineTest.cpus(random.nextInt(cpus + 1))
					: MachineTest.cpus(random.nextInt(cpus + 2), random.nextInt(cpus), random.nextInt(cpus)));
		}
		List<Row> rows = new ArrayList<>();
		for (int page = 0; page < 40; page++) {
			for (long start = 0; start < 900; start += 1 + random.nextInt(300)) {
				rows.add(new Row(start, page, random.nextInt(13) - 1, 0, 1 + random.nextInt(50), random.nextInt(9)));
			}
		}
		ModelRequest request = new ModelRequest(BasicDimensions.READ_WRITE, Metric.ACCESSES, 1 + random.nextInt(9), random.nextInt(200),
				600 + random.nextInt(400), ModelRequest.WHOLE_TREE, null);
		MachineTest.ask(40, sets, rows, table -> {
			MicroscopicModel memory = across(table, request, tree);
			MicroscopicModel time = new AccessModels(table).modelOfPlaces(request, tree.hierarchy(), tree.places(), Progress.NONE);
			assertEquals(MicroscopicModel.Places.ROWS, time.places());
			assertEquals(request.slices(), time.sliceCount());
			Hierarchy h = tree.hierarchy();
			MachineUse use = MachineUse.of(tree.topology(),
					AccessPlaces.of(table, ModelRequest.WHOLE_TREE, request.fromNs(), request.toNs(), Progress.NONE));
			double all = 0;
			for (int n = 0; n < h.size(); n++) {
				double[] a = memory.sums(0, 40, h.leafFrom(n), h.leafTo(n));
				double[] b = time.sums(h.leafFrom(n), h.leafTo(n), 0, time.sliceCount());
				for (int k = 0; k < 2; k++) {
					assertEquals(a[k], b[k], 1e-9 * (1 + a[k]), tree.names().name(n));
				}
				all = n == 0 ? a[0] + a[1] : all;
				assertEquals(use.figures(tree.object(n)).accesses(), a[0] + a[1], 1e-6);
			}
			assertTrue(all > 0);
			// slices hold what the same slices of memory over time hold, but for accesses at no CPU
			MicroscopicModel plain = new AccessModels(table).model(request, Progress.NONE);
			for (int t = 0; t < time.sliceCount(); t++) {
				assertTrue(time.sums(0, cpus, t, t + 1)[0] <= plain.sums(0, 40, t, t + 1)[0] + 1e-9);
			}
			assertEquals(Arrays.stream(plain.totals()).sum(), all + use.unknownCpu() + use.elsewhere(), 1e-6);
			return null;
		});
	}

	/** A record that begins in a slice counts there once as an event; threads of pages are no sum. */
	@Test
	void otherMetrics() throws Exception {
		MachineTree tree = new MachineTree(MachineTest.machine(1, 2, true));
		List<Row> rows = List.of(new Row(0, 0, 0, 0, 10, 2), new Row(240, 1, 0, 0, 8, 0), new Row(600, 1, 1, 0, 4, 0));
		MachineTest.ask(2, List.of(MachineTest.cpus(1), MachineTest.cpus(0, 3)), rows, table -> {
			ModelRequest events = WHOLE.withMetric(Metric.EVENTS).withViewpoint(BasicDimensions.THREAD);
			MicroscopicModel m = new AccessModels(table).modelOfPlaces(events, tree.hierarchy(), tree.places(), Progress.NONE);
			assertEquals(2, m.sums(1, 2, 0, 1)[0]);
			assertEquals(0.5, m.sums(3, 4, 2, 3)[0]);
			assertEquals(3, m.totals()[0]);
			MicroscopicModel writes = new AccessModels(table).modelOfPlaces(WHOLE.withTypes(Pattern.compile("Write")), tree.hierarchy(),
					tree.places(),
					Progress.NONE);
			assertEquals(1, writes.typeCount());
			assertEquals("[2.0]", Arrays.toString(writes.sums(1, 2, 0, 1)));
			assertEquals("[2.0]", Arrays.toString(across(table, WHOLE.withTypes(Pattern.compile("Write")), tree).totals()));
			ModelRequest threads = WHOLE.withMetric(Metric.THREADS).withViewpoint(BasicDimensions.THREAD);
			assertEquals(1, across(table, threads, tree).sums(1, 2, 1, 2)[0]);
			assertThrows(IllegalArgumentException.class,
					() -> new AccessModels(table).modelOfPlaces(threads, tree.hierarchy(), tree.places(), Progress.NONE));
			return null;
		});
	}
}
