// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.placement;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.MadeTrace;
import org.memtrace.analysis.machine.MachineTopology;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology.Type;
import org.memtrace.analysis.placement.Placement.Figures;
import org.memtrace.analysis.placement.Placement.Part;
import org.memtrace.analysis.placement.PlacementMachine.Binding;
import org.memtrace.analysis.placement.Policy.Kind;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.store.TraceStore;

/** Laws of predicted placements, and answers that are known. */
class PlacementTest {
	private static final int SEEDS = 30;

	/** Nodes with so many CPUs each. */
	private static PlacementMachine machine(int nodes, int cpus, Binding binding) throws MemtraceException {
		List<MachineObject> packages = new ArrayList<>();
		BitSet all = new BitSet();
		for (int n = 0; n < nodes; n++) {
			BitSet here = new BitSet();
			List<MachineObject> pus = new ArrayList<>();
			for (int c = n * cpus; c < (n + 1) * cpus; c++) {
				BitSet one = new BitSet();
				one.set(c);
				pus.add(new MachineObject(Type.PU, "CPU", c, c, 0, one, List.of(), List.of()));
				here.set(c);
			}
			MachineObject node = new MachineObject(Type.NODE, "NUMA node", n, n, 1L << 34, here, List.of(), List.of());
			packages.add(new MachineObject(Type.PACKAGE, "Package", n, n, 0, here, List.of(node), pus));
			all.or(here);
		}
		MachineTopology topology = new MachineTopology(new MachineObject(Type.MACHINE, "Machine", -1, 0, 0, all, List.of(), packages), "made",
				true);
		return new PlacementMachine(topology, null, "assumed", binding);
	}

	private static Placement place(MadeTrace trace, PlacementMachine machine, double tolerance) throws MemtraceException {
		try (TraceStore store = trace.open()) {
			return Placement.of(AccessTable.load(store, Progress.NONE), machine, 4, tolerance, Progress.NONE);
		}
	}

	private static Placement place(MadeTrace trace, int nodes, int cpus) throws MemtraceException {
		return place(trace, machine(nodes, cpus, Binding.SPREAD), Placement.TOLERANCE);
	}

	private static Figures figures(Part part, Kind kind) {
		Figures f = part.of(kind);
		assertNotNull(f, () -> part.name() + " has no " + kind);
		return f;
	}

	private static Part part(Placement p, String name) {
		return p.parts().stream().filter(x -> x.name().equals(name)).findFirst().orElseThrow();
	}

	/** An access of a random trace. */
	private record Row(int interval, int structure, int page, int thread, int reads, int writes) {
	}

	/** Pages of each structure, and accesses in the order of time. */
	private record Made(int threads, int intervals, int[] pages, List<Row> rows) {
		static Made of(Random random) {
			int[] sizes = {1, 1, 2, 3, 4, 7, 8, 16};
			int threads = sizes[random.nextInt(sizes.length)];
			int intervals = 1 + random.nextInt(9);
			int[] pages = new int[1 + random.nextInt(4)];
			List<Row> rows = new ArrayList<>();
			for (int s = 0; s < pages.length; s++) {
				pages[s] = sizes[random.nextInt(sizes.length)];
				boolean readOnly = random.nextInt(3) == 0;
				for (int p = 0; p < pages[s]; p++) {
					rows.add(new Row(0, s, p, random.nextInt(threads), 0, 1));
				}
				int n = random.nextInt(60);
				for (int i = 0; i < n; i++) {
					int interval = random.nextInt(intervals);
					boolean write = random.nextBoolean() && (!readOnly || interval == 0);
					int huge = random.nextInt(20) == 0 ? 1_000_000_000 : random.nextInt(5);
					rows.add(new Row(interval, s, random.nextInt(pages[s]), random.nextInt(threads), write ? huge : huge + 1, write ? 1 : 0));
				}
			}
			rows.sort((a, b) -> Integer.compare(a.interval, b.interval));
			return new Made(threads, intervals, pages, rows);
		}

		MadeTrace trace(boolean exact) {
			MadeTrace t = new MadeTrace(threads, intervals, 1_000_000);
			for (int s = 0; s < pages.length; s++) {
				t.structure("s" + s, pages[s]);
			}
			rows.forEach(r -> t.access(r.interval, r.structure, r.page, r.thread, r.reads, r.writes));
			if (exact) {
				t.property("guarantee_counts", "exact");
			}
			return t;
		}

		/** Node of each thread, as the rule of spreading says it. */
		int[] nodes(int count, int cpus) {
			int[] at = new int[threads];
			int[] active = rows.stream().mapToInt(Row::thread).distinct().sorted().toArray();
			for (int i = 0; i < active.length; i++) {
				at[active[i]] = i * count * cpus / active.length / cpus;
			}
			return at;
		}
	}

	@Test
	void withOneNodeAllIsLocal() throws MemtraceException {
		for (int seed = 1; seed <= SEEDS; seed++) {
			String law = "seed " + seed;
			Placement p = place(Made.of(new Random(seed)).trace(seed % 2 == 0), 1, 4);
			for (Figures f : p.policies()) {
				assertEquals(0, f.remote().most(), law + " " + f.policy());
				assertEquals(1, f.cost(), 1e-12, law);
				assertEquals(1, f.imbalance(), 1e-12, law);
			}
			assertTrue(p.verdict().startsWith("Nothing to choose"), law);
			assertTrue(PlacementText.text(p, 5).contains("--topology 'pack:2 [numa] core:4 pu:1'"), law);
		}
	}

	@ParameterizedTest
	@ValueSource(ints = {2, 3, 4, 8, 64})
	void interleavingUniformUse(int nodes) throws MemtraceException {
		MadeTrace t = new MadeTrace(nodes, 6, 1000);
		int s = t.structure("field", 128);
		for (int i = 0; i < 6; i++) {
			for (int page = 0; page < 128; page++) {
				t.access(i, s, page, page % nodes, 1, 1);
			}
		}
		Figures f = place(t, nodes, 2).of(Kind.INTERLEAVE);
		double expected = (nodes - 1.0) / nodes;
		assertEquals(expected, f.remote().remote(), 1e-9);
		assertTrue(f.remote().least() < expected && expected < Math.min(1, f.remote().most() + 1e-9), f.remote().toString());
		assertEquals(Placement.Basis.PAGES, f.remote().basis());
		assertEquals(1, f.imbalance(), 1e-9);
		assertEquals(1 + expected, f.cost(), 1e-9);
	}

	/** What pages in turn really give is in the interval that is told for interleaving. */
	@Test
	void pagesInTurnAreInTheInterval() throws MemtraceException {
		int inside = 0;
		int cases = 0;
		for (int seed = 1; seed <= SEEDS; seed++) {
			Random random = new Random(seed);
			int nodes = 2 + random.nextInt(3);
			int pages = 64 + random.nextInt(64);
			MadeTrace t = new MadeTrace(nodes, 4, 1000);
			int s = t.structure("field", pages);
			double remote = 0;
			double all = 0;
			for (int i = 0; i < 4; i++) {
				for (int page = 0; page < pages; page++) {
					int user = i == 0 ? 0 : new Random(seed * 1000L + page).nextInt(nodes);
					int n = 1 + random.nextInt(4);
					t.access(i, s, page, user, n - 1, 1);
					all += n;
					remote += page % nodes == user ? 0 : n;
				}
			}
			Figures f = place(t, nodes, 1).of(Kind.INTERLEAVE);
			cases++;
			inside += remote / all >= f.remote().least() && remote / all <= f.remote().most() ? 1 : 0;
		}
		assertTrue(inside >= 0.9 * cases, inside + " of " + cases);
	}

	@Test
	void theMixtureIsNotWorseThanItsParts() throws MemtraceException {
		for (int seed = 1; seed <= SEEDS; seed++) {
			Random random = new Random(seed);
			Made made = Made.of(random);
			int nodes = 1 << random.nextInt(4);
			for (double tolerance : new double[] {0, Placement.TOLERANCE}) {
				Placement p = place(made.trace(false), machine(nodes, 2, Binding.SPREAD), tolerance);
				for (Figures f : p.policies()) {
					if (f.policy().kind() != Kind.RECORDED) {
						assertTrue(p.of(Kind.MIXTURE).cost() <= f.cost() * (1 + tolerance) + 1e-9,
								"seed " + seed + ": " + p.of(Kind.MIXTURE).cost() + " > " + f);
					}
				}
			}
		}
	}

	@Test
	void copiesOnlyOfWhatNobodyWrites() throws MemtraceException {
		int offered = 0;
		for (int seed = 1; seed <= 4 * SEEDS; seed++) {
			Made made = Made.of(new Random(seed));
			Placement p = place(made.trace(false), 2, 4);
			for (int s = 0; s < made.pages.length; s++) {
				int structure = s;
				Figures copies = part(p, "s" + s).of(Kind.REPLICATE);
				int last = made.rows.stream().filter(r -> r.structure == structure && r.writes > 0).mapToInt(Row::interval).max().orElse(-1);
				double all = made.rows.stream().filter(r -> r.structure == structure).mapToDouble(r -> (double) r.reads + r.writes).sum();
				double after = made.rows.stream().filter(r -> r.structure == structure && r.interval > last)
						.mapToDouble(r -> (double) r.reads + r.writes).sum();
				assertEquals(after >= all / 2, copies != null, "seed " + seed + " s" + s);
				if (copies != null) {
					offered++;
					assertTrue(copies.remote().remote() <= 1 - after / all + 1e-9, "seed " + seed);
					assertEquals(made.pages[s] * 4096L, copies.extraBytes(), "seed " + seed);
				}
			}
		}
		assertTrue(offered > 20, "only " + offered + " copies");
	}

	/** Memory of two processes: the longer interval begins first, but the first access of all is in the other one; and one not known. */
	@Test
	void theFirstAccessIsNotThatOfTheFirstInterval() throws MemtraceException {
		for (boolean earlier : new boolean[] {true, false}) {
			MadeTrace t = new MadeTrace(2, 8, 1000);
			int s = t.structure("segment", 16);
			for (int page = 0; page < 16; page++) {
				t.access(0, s, page, 0, 0, 1);
				t.first(earlier ? 1500 : 50, 2);
				t.access(1, s, page, 1, 0, 1);
				t.first(100, 1);
				for (int i = 2; i < 8; i++) {
					t.access(i, s, page, 1, 1, 0);
				}
			}
			Figures first = part(place(t, 2, 2), "segment").of(Kind.FIRST_TOUCH);
			assertEquals(earlier ? 1 / 8.0 : 7 / 8.0, first.remote().remote(), 1e-9);
		}
	}

	/** Counted accesses decide everything: each policy by the simplest way to compute it. */
	@Test
	void countedAccessesAreDecided() throws MemtraceException {
		for (int seed = 1; seed <= SEEDS; seed++) {
			Random random = new Random(seed);
			Made made = Made.of(random);
			int nodes = 2 + random.nextInt(3);
			int[] at = made.nodes(nodes, 2);
			Placement p = place(made.trace(true), nodes, 2);
			Map<String, Integer> first = new HashMap<>();
			Map<String, Integer> firstInterval = new HashMap<>();
			Map<String, double[]> late = new HashMap<>();
			for (Row r : made.rows) {
				String page = r.structure + "/" + r.page;
				firstInterval.putIfAbsent(page, r.interval);
				if (r.writes > 0) {
					first.putIfAbsent(page, at[r.thread]);
				}
				if (r.interval > firstInterval.get(page)) {
					late.computeIfAbsent(page, k -> new double[nodes])[at[r.thread]] += (double) r.reads + r.writes;
				}
			}
			double all = 0;
			double touched = 0;
			double repaired = 0;
			double[] bound = new double[nodes];
			double[] load = new double[nodes];
			for (Row r : made.rows) {
				String page = r.structure + "/" + r.page;
				double n = (double) r.reads + r.writes;
				int home = first.get(page);
				int main = home;
				double[] l = late.get(page);
				for (int k = 0; l != null && k < nodes; k++) {
					main = l[k] > l[main] ? k : main;
				}
				int user = r.interval == firstInterval.get(page) && at[r.thread] == home ? main : at[r.thread];
				all += n;
				touched += home == at[r.thread] ? 0 : n;
				repaired += main == user ? 0 : n;
				load[home] += n;
				for (int k = 0; k < nodes; k++) {
					bound[k] += k == at[r.thread] ? 0 : n;
				}
			}
			String law = "seed " + seed;
			assertEquals(touched / all, p.of(Kind.FIRST_TOUCH).remote().remote(), 1e-9, law);
			assertEquals(1 + touched / all, p.of(Kind.FIRST_TOUCH).cost(), 1e-9, law);
			assertArrayEquals(load, p.of(Kind.FIRST_TOUCH).load(), 1e-3, law);
			assertEquals(repaired / all, p.of(Kind.REPAIRED).remote().remote(), 1e-9, law);
			for (Figures f : p.policies()) {
				if (f.policy().kind() == Kind.BIND) {
					assertEquals(bound[f.policy().node()] / all, f.remote().remote(), 1e-9, law);
				}
				assertEquals(f.costLeast(), f.costMost(), 1e-6, law + " " + f.policy());
			}
		}
	}

	/** However the accesses of a page in an interval are divided among those who used it there, the share is in the interval. */
	@Test
	void intervalsHoldWhateverIsUndecided() throws MemtraceException {
		for (int seed = 1; seed <= SEEDS; seed++) {
			Random random = new Random(seed);
			Made made = Made.of(random);
			int nodes = 2 + random.nextInt(3);
			int[] at = made.nodes(nodes, 1);
			Placement p = place(made.trace(false), nodes, 1);
			Map<String, List<Row>> cells = new HashMap<>();
			made.rows.forEach(r -> cells.computeIfAbsent(r.interval + "/" + r.structure + "/" + r.page, k -> new ArrayList<>()).add(r));
			for (int again = 0; again < 10; again++) {
				double all = 0;
				double[] remote = new double[nodes];
				for (List<Row> cell : cells.values()) {
					double n = cell.stream().mapToDouble(r -> (double) r.reads + r.writes).sum();
					// all of them by one of its users: the extremes
					int user = at[cell.get(random.nextInt(cell.size())).thread];
					all += n;
					for (int k = 0; k < nodes; k++) {
						remote[k] += k == user ? 0 : n;
					}
				}
				for (Figures f : p.policies()) {
					if (f.policy().kind() == Kind.BIND) {
						double share = remote[f.policy().node()] / all;
						assertTrue(share >= f.remote().least() - 1e-9 && share <= f.remote().most() + 1e-9,
								"seed " + seed + ": " + share + " " + f.remote());
						assertTrue(1 + share >= f.costLeast() - 1e-9 && 1 + share <= f.costMost() + 1e-9, "seed " + seed);
					}
				}
			}
			for (Figures f : p.policies()) {
				assertTrue(f.remote().least() <= f.remote().remote() && f.remote().remote() <= f.remote().most(), "seed " + seed + f);
			}
		}
	}

	/** The planted example of the design: private parts that one thread initialises, a table that all read, pages of two nodes. */
	@Test
	void plantedStructures() throws MemtraceException {
		int threads = 8;
		MadeTrace t = new MadeTrace(threads, 50, 1_000_000);
		int a = t.structure("private", 64);
		int b = t.structure("table", 64);
		int c = t.structure("shared", 64);
		for (int page = 0; page < 64; page++) {
			t.access(0, a, page, 0, 0, 1);
			t.access(0, b, page, 0, 0, 1);
			t.access(0, c, page, 0, 0, 1);
			for (int i = 1; i < 50; i++) {
				t.access(i, a, page, page * threads / 64, 0, 1);
				t.access(i, b, page, 1, 1, 0);
				t.access(i, b, page, 6, 1, 0);
				t.access(i, c, page, page % 4, 0, 1);
				t.access(i, c, page, 4 + page % 4, 0, 1);
			}
		}
		Placement p = place(t, 2, 4);
		Part first = part(p, "private");
		assertEquals(0.49, figures(first, Kind.FIRST_TOUCH).remote().remote(), 1e-9);
		assertTrue(figures(first, Kind.FIRST_TOUCH).remote().most() < 0.55);
		assertEquals(0, figures(first, Kind.REPAIRED).remote().most(), 1e-9);
		assertEquals(2, figures(first, Kind.FIRST_TOUCH).imbalance(), 1e-9);
		assertEquals(1, figures(first, Kind.REPAIRED).imbalance(), 1e-9);
		assertEquals(Kind.REPAIRED, first.best().policy().kind());
		assertFalse(first.undecided());
		Part table = part(p, "table");
		assertEquals(Kind.REPLICATE, table.best().policy().kind());
		assertTrue(figures(table, Kind.FIRST_TOUCH).remote().most() > 0.95 && figures(table, Kind.FIRST_TOUCH).remote().least() < 0.05);
		assertEquals(64 * 4096, table.best().extraBytes());
		Part shared = part(p, "shared");
		assertTrue(shared.undecided());
		assertEquals(Kind.INTERLEAVE, shared.best().policy().kind(), "as dear as the others, but even");
		assertNull(shared.of(Kind.REPLICATE));
		String text = PlacementText.text(p, 10);
		for (String part : new String[] {"make a copy of table", "MPOL_INTERLEAVE", "undecided", "OMP_PROC_BIND=spread", "memtrace cc"}) {
			assertTrue(text.contains(part), part + "\n" + text);
		}
		assertFalse(text.contains("private[i] = 0"), "no code that writes into the memory");
		String csv = PlacementText.csv(p);
		int columns = csv.lines().findFirst().orElseThrow().split(",", -1).length;
		assertTrue(csv.lines().allMatch(l -> l.split(",", -1).length == columns), csv);
		assertEquals(3, PlacementJson.json(p).getAsJsonArray("structures").size());
	}

	/** In a made trace all accesses are on CPU 0, and all pages on node 0. */
	@Test
	void whatWasRecorded() throws MemtraceException {
		MadeTrace t = new MadeTrace(4, 4, 1000);
		int s = t.structure("field", 8);
		for (int i = 0; i < 4; i++) {
			for (int page = 0; page < 8; page++) {
				t.access(i, s, page, page % 4, 1, 1);
			}
		}
		Placement p = place(t, machine(2, 1, Binding.RECORDED), Placement.TOLERANCE);
		assertEquals(0, p.of(Kind.RECORDED).remote().most(), 1e-9);
		assertEquals(0, p.of(Kind.FIRST_TOUCH).remote().most(), 1e-9);
		assertEquals(1, p.policies().stream().filter(f -> f.policy().id().equals("bind-1")).findFirst().orElseThrow().remote().least(), 1e-9);
		assertTrue(p.verdict().startsWith("Leave it as it is"), p.verdict());
		assertTrue(p.verdict().contains("interleave"), "its load is even: " + p.verdict());
		assertTrue(PlacementText.text(p, 3).indexOf("\n1. ") < 0);
	}

	@Test
	void threadsOnCpus() throws MemtraceException {
		assertArrayEquals(new int[] {0, -1, 0, 1, 1}, machine(2, 2, Binding.SPREAD).place(List.of(0, 2, 3, 4), 5));
		assertArrayEquals(new int[] {0, 1}, machine(2, 4, Binding.SPREAD).place(List.of(0, 1), 2));
		assertArrayEquals(new int[] {0, 0}, machine(2, 4, Binding.CLOSE).place(List.of(0, 1), 2));
		assertArrayEquals(new int[] {0, 1, 0, 1, 0}, machine(2, 1, Binding.CLOSE).place(List.of(0, 1, 2, 3, 4), 5));
		assertArrayEquals(new int[] {0, 0, 0, 1, 1}, machine(2, 1, Binding.SPREAD).place(List.of(0, 1, 2, 3, 4), 5));
	}

	@Test
	void tablesOfDistances() throws MemtraceException {
		double[][] two = {{10, 21}, {20, 10}};
		assertArrayEquals(two, DistanceTable.parse("# ns\n10 21\n\n20, 10\n", 2, "d"));
		assertArrayEquals(two, DistanceTable.parse("""
				available: 2 nodes (0-1)
				node 0 cpus: 0 1
				node 0 size: 974 MB
				node distances:
				node   0   1
				  0:  10  21
				  1:  20  10
				""", 2, "d"));
		for (String[] bad : new String[][] {{"10 21\n", "has 1 lines"}, {"10 21 3\n10 10 3\n", "has 3 numbers"}, {"10 x\n1 2\n", "'x'"},
				{"10 -1\n1 2\n", "'-1'"}, {"10 0\n1 2\n", "'0'"}, {"10 NaN\n1 2\n", "'NaN'"}, {"", "has 0 lines"}}) {
			String message = assertThrows(TraceFormatException.class, () -> DistanceTable.parse(bad[0], 2, "d.txt")).getMessage();
			assertTrue(message.contains(bad[1]) && message.startsWith("d.txt"), message);
		}
		Random random = new Random(7);
		String letters = "0123 .,;:#e-\nnode distances:";
		for (int i = 0; i < 2000; i++) {
			StringBuilder b = new StringBuilder();
			for (int k = random.nextInt(20); k > 0; k--) {
				b.append(letters.charAt(random.nextInt(letters.length())));
			}
			try {
				double[][] d = DistanceTable.parse(b.toString(), 2, "d");
				assertTrue(d.length == 2 && d[1].length == 2 && d[1][1] > 0, "seed 7, number " + i);
			} catch (TraceFormatException e) {
				assertTrue(e.getMessage().startsWith("d"), "seed 7, number " + i);
			}
		}
	}
}
