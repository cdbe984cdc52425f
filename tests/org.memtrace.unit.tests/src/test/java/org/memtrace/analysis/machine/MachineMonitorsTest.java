// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.machine.MachineMonitors.Bounds;
import org.memtrace.analysis.machine.MachineMonitors.Law;
import org.memtrace.analysis.machine.MachineMonitors.Mode;
import org.memtrace.analysis.machine.MachineMonitors.Show;
import org.memtrace.analysis.machine.MachinePicture.Box;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology.Type;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.importer.ImportOperation;
import org.memtrace.model.LiveValues;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/** Values of monitors on a machine at a time, their picture, and their replay. */
class MachineMonitorsTest {
	@TempDir
	Path directory;

	/** Two packages with an L3, a NUMA node and two cores with one CPU each; CPU numbers of the system are not those of hwloc. */
	private static MachineTopology machine(boolean recorded) {
		List<MachineObject> packages = new ArrayList<>();
		BitSet all = new BitSet();
		for (int p = 0; p < 2; p++) {
			BitSet here = new BitSet();
			List<MachineObject> cores = new ArrayList<>();
			for (int c = 2 * p; c < 2 * p + 2; c++) {
				int os = c % 2 * 2 + p; // as on machines that count packages in turn
				BitSet one = new BitSet();
				one.set(os);
				here.set(os);
				cores.add(new MachineObject(Type.CORE, "Core", c, c, 0, one, List.of(),
						List.of(new MachineObject(Type.PU, "CPU", os, c, 0, one, List.of(), List.of()))));
			}
			all.or(here);
			MachineObject cache = new MachineObject(Type.CACHE, "L3", -1, p, 32 << 20, here, List.of(), cores);
			packages.add(new MachineObject(Type.PACKAGE, "Package", p, p, 0, here,
					List.of(new MachineObject(Type.NODE, "NUMA node", p, p, 1L << 30, here, List.of(), List.of())), List.of(cache)));
		}
		return new MachineTopology(new MachineObject(Type.MACHINE, "Machine", -1, 0, 0, all, List.of(), packages), "this machine", recorded);
	}

	private MachineMonitors read(String... files) throws Exception {
		List<Path> paths = new ArrayList<>();
		for (String text : files) {
			paths.add(Files.writeString(directory.resolve("f" + paths.size() + ".txt"), text));
		}
		try (TraceCatalogue catalogue = Stores.inMemory()) {
			var report = new ImportOperation(paths, System.in, catalogue::create).call(Progress.NONE);
			try (TraceStore store = catalogue.open(report.trace().id())) {
				assertTrue(MachineMonitors.hasPlaces(store.producers()));
				return MachineMonitors.of(machine(true), EventTable.load(store, Progress.NONE));
			}
		}
	}

	private static final String PUS = """
			# scale a - - 1
			# scale b 0 100 0
			Obj Nanoseconds a b
			PU:0 1000 1 50
			PU:2 1000 100 nan
			PU:0 2000 10 60
			PU:1 2000 1000 10
			PU:3 3000 0 10
			PU:0 3000 100 150
			PU:9 3000 1 1
			""";
	private static final String LEVELS = "Obj Nanoseconds n\nL3Cache:0 1000 4\nSocket:1 1000 5\nNode:1 1000 6\nSystem:0 1000 7\nL3:0 3000 8\n";

	private static MachineObject pu(MachineMonitors m, int logical) {
		return m.topology().pus().stream().filter(o -> o.logicalIndex() == logical).findFirst().orElseThrow();
	}

	private static double value(MonitorFrame f, MachineObject o) {
		return f.cells().get(o).value();
	}

	@Test
	void valuesBelongToTheSampleBeforeTheirTime() throws Exception {
		MachineMonitors m = read(PUS);
		assertEquals(List.of("a", "b"), m.variables());
		assertEquals(Set.of("PU:9"), m.elsewhere());
		long t = m.info().startNs();
		assertEquals(0, t);
		MonitorFrame f = m.frame(Show.DEFAULT, 0, 1000);
		assertEquals(1, value(f, pu(m, 0)));
		assertEquals(2, pu(m, 1).osIndex(), "places are by the index of hwloc");
		assertTrue(Double.isNaN(value(f, pu(m, 1))), "its value is of the second sample only");
		assertEquals(100, value(f, pu(m, 2)));
		assertEquals(1, value(m.frame(Show.DEFAULT, 0, 0), pu(m, 0)), "the beginning");
		f = m.frame(Show.DEFAULT, 0, 1001);
		assertEquals(10, value(f, pu(m, 0)));
		assertEquals(1, f.cells().get(pu(m, 0)).before());
		assertEquals(1000, value(f, pu(m, 1)));
		assertTrue(Double.isNaN(value(f, pu(m, 2))), "not active any more");
		f = m.frame(new Show("b", Mode.AT, Law.AUTO, Bounds.AUTO, 0, 0), 0, 1000);
		assertFalse(f.cells().containsKey(pu(m, 2)), "it never has this value");
		assertEquals(50, value(f, pu(m, 0)));
		assertEquals("b of CPU (3), at 1 µs; 1 of 3 places active", f.summary());
		assertEquals(List.of("1 place of the trace that this machine does not have, such as PU:9."), f.notes());
	}

	@Test
	void meansCountSamplesByTheirLength() throws Exception {
		MachineMonitors m = read(PUS);
		Show mean = new Show("a", Mode.MEAN, Law.AUTO, Bounds.AUTO, 0, 0);
		MonitorFrame f = m.frame(mean, 0, 3000);
		assertEquals(37, value(f, pu(m, 0)), 1e-9);
		assertEquals(1000, value(f, pu(m, 1)), 1e-9, "the mean of the time in which it was active");
		f = m.frame(mean, 500, 2000);
		assertEquals((0.5 * 1 + 1 * 10) / 1.5, value(f, pu(m, 0)), 1e-9);
		assertTrue(Double.isNaN(value(f, pu(m, 3))));
		assertTrue(f.when().startsWith("mean from 500 ns to 2"), f.when());
	}

	@Test
	void scalesFollowTheDefinitionOrTheChoice() throws Exception {
		MachineMonitors m = read(PUS);
		MonitorFrame.Scale a = m.frame(Show.DEFAULT, 0, 3000).scales().get(0);
		assertTrue(a.log());
		assertEquals(1, a.min());
		assertEquals(1000, a.max());
		assertEquals(0, a.share(0));
		assertEquals(0, a.share(-5));
		assertEquals(1.0 / 3, a.share(10), 1e-12);
		assertEquals(1, a.share(1e9));
		MonitorFrame.Scale b = m.frame(new Show("b", Mode.AT, Law.AUTO, Bounds.AUTO, 0, 0), 0, 3000).scales().get(0);
		assertFalse(b.log());
		assertEquals(100, b.max(), "as MAX says, not 150");
		assertEquals(0.5, b.share(50));
		assertEquals(150, m.frame(new Show("b", Mode.AT, Law.AUTO, Bounds.OBSERVED, 0, 0), 0, 3000).scales().get(0).max());
		MonitorFrame.Scale fixed = m.frame(new Show("b", Mode.AT, Law.LOG, Bounds.FIXED, 0, 1e4), 0, 3000).scales().get(0);
		assertTrue(fixed.log());
		assertEquals(10, fixed.min(), "0 has no logarithm: the smallest value above it");
		assertEquals(1.0 / 3, fixed.share(100), 1e-12);
		MonitorFrame.Scale zero = new MonitorFrame.Scale("z", "CPU", 0, 0, false);
		assertEquals(0, zero.share(0));
		assertEquals(1, zero.share(1));
		assertTrue(Double.isNaN(zero.share(Double.NaN)));
		MonitorFrame.Scale negative = read("Obj Nanoseconds n\nPU:0 10 -4\nPU:0 20 -2\n").frame(Show.DEFAULT, 0, 20).scales().get(0);
		assertEquals(-4, negative.min());
		assertEquals(1, negative.share(-2));
	}

	@Test
	void everyLevelHasItsValues() throws Exception {
		MachineMonitors m = read(LEVELS, PUS);
		MonitorFrame f = m.frame(Show.DEFAULT, 0, 1000);
		assertEquals("[Machine 7.0, L3 0 4.0, CPU 0 1.0, Package 1 5.0, NUMA node 1 6.0, CPU 1 100.0]", m.topology().objects().stream()
				.filter(o -> f.cells().containsKey(o) && f.cells().get(o).isActive())
				.map(o -> o.shortLabel() + " " + value(f, o)).toList().toString());
		assertEquals(List.of("n", "a", "b"), m.variables());
		assertTrue(Double.isNaN(value(m.frame(Show.DEFAULT, 0, 1500), m.topology().nodes().get(1))), "its last sample has ended");
		String csv = f.toCsv();
		assertTrue(csv.contains("CPU 2,CPU,1,2,a,,\n") && csv.contains("NUMA node 1 (1.0 GiB),NUMA node,1,1,n,6,\n"), csv);
		assertTrue(f.text().contains("n of Machine; n of Package; n of NUMA node; n of L3; a of CPU (4), at 1 µs; 6 of 8 places active"), f.text());
		assertEquals("CPU 0\na: 1", f.describe(List.of(pu(m, 0))));
		assertEquals("Core 1\nCPU 2\na: not active", f.describe(List.of(m.topology().objects().stream()
				.filter(o -> o.type() == Type.CORE).skip(1).findFirst().orElseThrow(), pu(m, 1))));
		assertEquals(6, JsonCount.of(f));
	}

	/** Objects in JSON that have an index. */
	private static final class JsonCount {
		static int of(MonitorFrame f) {
			var list = f.addTo(new com.google.gson.JsonObject()).getAsJsonArray("objects");
			int n = 0;
			for (var o : list) {
				n += o.getAsJsonObject().get("os_index").isJsonNull() ? 0 : 1;
			}
			return n;
		}
	}

	/** Places of the tool of 2016 have times of their own: none of them is thought to sleep between its samples. */
	@Test
	void placesWithTimesOfTheirOwnAreActiveBetweenThem() throws Exception {
		StringBuilder text = new StringBuilder();
		for (int i = 1; i <= 5; i++) {
			for (int pu = 0; pu < 4; pu++) {
				text.append("PU:").append(pu).append(' ').append(1000 * i + 10 * pu).append(' ').append(i).append('\n');
			}
		}
		MachineMonitors m = read(text.toString());
		for (long ns : new long[] {1, 500, 1000, 1005, 2995, 3015, 5000, 5025, 5030}) {
			MonitorFrame f = m.frame(Show.DEFAULT, 0, ns);
			assertTrue(f.cells().values().stream().allMatch(MonitorFrame.Cell::isActive), ns + ": " + f.text());
		}
	}

	private static MachinePicture draw(MonitorFrame f) {
		return MachinePicture.of(f, new MachinePicture.Options());
	}

	private static int fill(MachinePicture p, MachineObject o) {
		Box box = p.boxes().stream().filter(b -> b.objects().contains(o)).findFirst().orElseThrow();
		return p.scene().shapes().stream()
				.filter(s -> s instanceof Shape.Rect r && r.fill() != 0 && r.x() >= box.x() && r.x() <= box.x() + 1 && r.y() >= box.y()
						&& r.y() <= box.y() + 1 && r.height() <= box.height())
				.mapToInt(s -> ((Shape.Rect) s).fill()).reduce((a, b) -> b).orElseThrow();
	}

	@Test
	void colours() throws Exception {
		MachineMonitors m = read(LEVELS, PUS);
		Palette light = Palette.LIGHT;
		MachinePicture p = draw(m.frame(new Show("a", Mode.AT, Law.AUTO, Bounds.AUTO, 0, 0), 0, 2000));
		assertEquals(light.heat(1), fill(p, pu(m, 1)));
		assertEquals(light.heat(1.0 / 3), fill(p, pu(m, 0)));
		int washed = fill(p, pu(m, 2));
		assertEquals(washed, fill(p, pu(m, 3)), "neither is active");
		assertTrue(washed != light.plotBackground() && washed != light.heat(0), "it is watched");
		assertEquals(light.plotBackground(), fill(p, m.topology().nodes().get(0)), "it is not watched");
		List<String> texts = p.scene().shapes().stream().filter(Shape.Text.class::isInstance).map(s -> ((Shape.Text) s).text()).toList();
		assertTrue(texts.containsAll(List.of("a of CPU (4), at 2 µs; 2 of 4 places active", "1", "1000 (log) a", "not active", "10", "1000")),
				texts.toString());
		// one tick, of the only CPU with a value before; it rose by a third of the scale
		List<Shape.Line> ticks = p.scene().shapes().stream().filter(Shape.Line.class::isInstance).map(Shape.Line.class::cast).toList();
		assertEquals(1, ticks.size());
		Box box = p.boxes().stream().filter(b -> b.objects().contains(pu(m, 0))).findFirst().orElseThrow();
		assertEquals(box.y() + box.height() / 2 - (box.height() / 2 - 2) / 3, ticks.get(0).y1(), 1e-9);
		// where there is little room a core shares the box of its CPU, a machine with one package that of the package
		MachinePicture.Options small = new MachinePicture.Options();
		small.width = 200;
		small.height = 130;
		MonitorFrame f = m.frame(new Show("a", Mode.AT, Law.AUTO, Bounds.AUTO, 0, 0), 0, 2000);
		assertEquals(light.heat(1), fill(MachinePicture.of(f, small), pu(m, 1)));
	}

	@Test
	void otherTracesHaveNoPlaces() throws Exception {
		try (TraceCatalogue catalogue = Stores.inMemory()) {
			Path csv = Files.writeString(directory.resolve("e.csv"), "type,category,producer,start_us,end_us\na,state,node:1/rank:0,1,2\n");
			var report = new ImportOperation(List.of(csv), System.in, catalogue::create).call(Progress.NONE);
			try (TraceStore store = catalogue.open(report.trace().id())) {
				boolean node = store.producers().name(0).equals("node:1");
				assertEquals(node, MachineMonitors.hasPlaces(store.producers()), "only names of hwloc");
				MachineMonitors m = MachineMonitors.of(machine(false), EventTable.load(store, Progress.NONE));
				assertEquals(List.of(), m.variables());
				MonitorFrame f = m.frame(Show.DEFAULT, 0, 1);
				assertEquals("no values of places", f.summary());
				assertEquals("The trace does not say on which machine it was recorded: this is this machine.", f.notes().get(0));
				assertFalse(draw(f).boxes().isEmpty());
				assertEquals(5, m.next(5, 1));
				assertNull(f.cells().get(m.topology().root()));
			}
		}
	}

	@Test
	void replay() throws Exception {
		MachineMonitors m = read(PUS);
		assertEquals(List.of(1000L, 2000L, 3000L), java.util.Arrays.stream(m.samples()).boxed().toList());
		MonitorReplay r = new MonitorReplay(m, 0, 3000);
		assertEquals(3000, r.atNs());
		assertEquals(MonitorReplay.SPEEDS.get(0), r.speed(), "the shortest replay there is");
		assertEquals(1, new MonitorReplay(m, 0, 6_000_000_000L).speed());
		assertEquals(10, new MonitorReplay(m, 0, 600_000_000_000L).speed());
		assertEquals(0.1, new MonitorReplay(m, 0, 600_000_000L).speed());
		r.step(-1);
		assertEquals(2000, r.atNs());
		r.at(1500);
		r.step(1);
		assertEquals(2000, r.atNs());
		r.at(1500);
		r.step(-1);
		r.step(-1);
		assertEquals(1000, r.atNs(), "there is none before");
		r.at(3000);
		r.step(1);
		assertEquals(3000, r.atNs());
		r.passed(5);
		assertEquals(3000, r.atNs(), "it does not play");
		r.toggle();
		assertEquals(0, r.atNs(), "from the end it begins again");
		r.speed(2);
		r.passed(700);
		assertEquals(1400, r.atNs(), "2 is twice as fast");
		assertEquals(1400.0 / 3000, r.share(), 1e-9);
		r.window(2000, 3000);
		assertEquals(2000, r.atNs());
		assertTrue(r.isPlaying());
		r.passed(10_000);
		assertEquals(3000, r.atNs());
		assertFalse(r.isPlaying());
		r.share(0.25);
		assertEquals(2250, r.atNs());
		r.toggle();
		r.step(1);
		assertFalse(r.isPlaying());
		r.window(500, 500);
		assertEquals(1, r.share());
		assertEquals(List.of("1/1000×", "1/4×", "1×", "10×"), List.of(0.001, 0.25, 1.0, 10.0).stream().map(MonitorReplay::label).toList());
	}

	/** Random samples against a search through the lines. */
	@Test
	void randomSamplesAsInTheFile() throws Exception {
		long seed = 20261123;
		System.out.println("seed " + seed);
		Random random = new Random(seed);
		for (int round = 0; round < 10; round++) {
			int samples = 2 + random.nextInt(20);
			double[][] value = new double[samples][4];
			StringBuilder text = new StringBuilder("Obj Nanoseconds v\n");
			for (int i = 0; i < samples; i++) {
				for (int pu = 0; pu < 4; pu++) {
					value[i][pu] = random.nextInt(4) == 0 && pu > 0 ? Double.NaN : random.nextInt(100) << random.nextInt(20);
					if (!Double.isNaN(value[i][pu])) { // PU 0 is always active, so each sample has a time
						text.append("PU:").append(pu).append(' ').append(64 * (i + 1)).append(' ').append(value[i][pu]).append('\n');
					}
				}
			}
			MachineMonitors m = read(text.toString());
			for (int k = 0; k < 40; k++) {
				int ns = 1 + random.nextInt(64 * samples);
				MonitorFrame f = m.frame(Show.DEFAULT, 0, ns);
				for (int pu = 0; pu < 4; pu++) {
					MonitorFrame.Cell c = f.cells().get(pu(m, pu));
					assertEquals(value[(ns - 1) / 64][pu], c == null ? Double.NaN : c.value(), "PU " + pu + " at " + ns + "\n" + text);
				}
			}
		}
	}

	@Test
	void valuesThatAreBeingWritten() {
		MachineTopology t = MachineTest.machine(1, 1, true);
		LiveValues live = new LiveValues(null, Map.of("monitor_scale load", "0 100 0"), List.of( //
				new LiveValues.Series("PU:0", "load", new long[] {0, 10}, new long[] {10, 20}, new double[] {25, 50}),
				new LiveValues.Series("PU:1", "load", new long[] {0}, new long[] {10}, new double[] {75}),
				new LiveValues.Series("PU:9", "load", new long[] {0}, new long[] {10}, new double[] {1}),
				new LiveValues.Series("Machine:0", "sum", new long[] {10}, new long[] {20}, new double[] {7})), 20, 2, 0, "");
		MachineMonitors m = MachineMonitors.of(t, live, "now");
		assertEquals(List.of("sum", "load"), m.variables());
		MonitorFrame frame = m.frame(MachineMonitors.Show.DEFAULT, 0, m.info().endNs());
		MonitorFrame.Cell first = frame.cells().get(t.pus().get(0));
		assertEquals(50, first.value());
		assertEquals(0.25, first.variation(), 1e-9);
		assertEquals(false, frame.cells().get(t.pus().get(1)).isActive(), "it had no value in the last sample");
		assertEquals(7, frame.cells().get(t.root()).value());
		assertEquals("1 place of the trace that this machine does not have, such as PU:9.", frame.notes().get(0));
		assertEquals(100, frame.scales().get(1).max());
	}
}
