// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.place.AccessPlaces;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.machine.MachinePicture.Arrangement;
import org.memtrace.analysis.machine.MachinePicture.Box;
import org.memtrace.analysis.machine.MachinePicture.Colouring;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology.Type;
import org.memtrace.analysis.machine.MachineUse.Figures;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.storage.Stores;

/** What accesses did to a machine, as numbers and as boxes. */
class MachineTest {
	static BitSet cpus(int... numbers) {
		BitSet set = new BitSet();
		for (int n : numbers) {
			set.set(n);
		}
		return set;
	}

	/** {@code packages} packages with a NUMA node and {@code cores} cores of two CPUs each. */
	static MachineTopology machine(int packages, int cores, boolean recorded) {
		List<MachineObject> children = new ArrayList<>();
		BitSet all = new BitSet();
		for (int p = 0; p < packages; p++) {
			BitSet here = new BitSet();
			List<MachineObject> list = new ArrayList<>();
			for (int c = 0; c < cores; c++) {
				int first = 2 * (p * cores + c);
				MachineObject a = new MachineObject(Type.PU, "CPU", first, first, 0, cpus(first), List.of(), List.of());
				MachineObject b = new MachineObject(Type.PU, "CPU", first + 1, first + 1, 0, cpus(first + 1), List.of(), List.of());
				list.add(new MachineObject(Type.CORE, "Core", p * cores + c, c, 0, cpus(first, first + 1), List.of(), List.of(a, b)));
				here.set(first, first + 2);
			}
			MachineObject node = new MachineObject(Type.NODE, "NUMA node", p, p, 1L << 34, here, List.of(), List.of());
			MachineObject cache = new MachineObject(Type.CACHE, "L3", -1, p, 32 << 20, here, List.of(), list);
			children.add(new MachineObject(Type.PACKAGE, "Package", p, p, 0, here, List.of(node), List.of(cache)));
			all.or(here);
		}
		return new MachineTopology(new MachineObject(Type.MACHINE, "Machine", -1, 0, 0, all, List.of(), children), "this machine",
				recorded);
	}

	/** A row: start of its interval of 100, page, set of CPUs, node, reads, writes. */
	record Row(long start, int page, int set, int node, int reads, int writes) {
	}

	private static AccessPlaces places(int pages, List<BitSet> sets, long fromNs, long toNs, int producer, List<Row> rows)
			throws Exception {
		return ask(pages, sets, rows, table -> AccessPlaces.of(table, producer, fromNs, toNs, Progress.NONE));
	}

	/** What is asked about a trace. */
	interface Question<T> {
		T of(AccessTable table) throws Exception;
	}

	/** A trace of 1000 ns with a root and pages below it. */
	static <T> T ask(int pages, List<BitSet> sets, List<Row> rows, Question<T> question) throws Exception {
		try (TraceCatalogue catalogue = Stores.inMemory()) {
			TraceInfo info;
			try (TraceWriter w = catalogue.create("t")) {
				w.threads(List.of(new ThreadInfo(0, 0, 1, "main", 0, Long.MAX_VALUE, "", true)));
				ProducerTreeBuilder tree = new ProducerTreeBuilder(4096);
				tree.begin(ProducerKind.ROOT, "root", 0, 0, -1);
				for (int i = 0; i < pages; i++) {
					tree.leaf(ProducerKind.PAGE, "page " + i, i * 4096L, (i + 1) * 4096L, -1);
				}
				tree.end();
				var producers = tree.build();
				w.producers(producers);
				w.cpuSets(sets);
				AccessBatch batch = new AccessBatch(rows.size());
				for (Row r : rows) {
					batch.add(r.start, r.start + 100, 1 + r.page, 0, r.set, r.reads, r.writes, 1, r.node, 0, 0);
				}
				w.accesses(batch);
				info = w.commit(new TraceInfo(-1, "t", "t", TraceInfo.TYPE_MEMTRACE, "", "", "", 1, 0, producers.size(), 0, 1000,
						Instant.EPOCH, 4096, "", Map.of()), "{}", Progress.NONE);
			}
			try (TraceStore store = catalogue.open(info.id())) {
				return question.of(AccessTable.load(store, Progress.NONE));
			}
		}
	}

	private static final List<BitSet> SETS = List.of(cpus(0), cpus(3), cpus(0, 1), cpus(1, 3), cpus(9));

	private static MachineUse example(long fromNs, long toNs, int producer, boolean recorded) throws Exception {
		return MachineUse.of(machine(2, 1, recorded), places(6, SETS, fromNs, toNs, producer, List.of( //
				new Row(0, 0, 0, 0, 10, 0), // CPU 0, near
				new Row(0, 1, 1, 0, 0, 20), // CPU 3, page on the other node
				new Row(0, 2, 2, 1, 4, 4), // CPUs 0 and 1, both far: remote, spread
				new Row(100, 2, 3, 1, 6, 0), // CPUs 1 and 3: one far, one near: unknown, spread
				new Row(100, 3, -1, 0, 5, 0), // no CPU
				new Row(100, 4, 0, -1, 0, 7), // no node
				new Row(200, 1, 0, 1, 1, 0), // page 1 moved to node 1; remote
				new Row(200, 5, 4, 7, 3, 0)))); // a CPU and a node that the machine does not have
	}

	private static Figures of(MachineUse use, String label) {
		return use.figures(use.topology().objects().stream().filter(o -> o.label().equals(label)).findFirst().orElseThrow());
	}

	@Test
	void everyAccessIsCountedOnceInEachRespect() throws Exception {
		MachineUse use = example(Long.MIN_VALUE, Long.MAX_VALUE, ModelRequest.WHOLE_TREE, true);
		assertEquals(new Figures(60, 14, 10, 29, 21, 6), use.whole());
		assertEquals(new Figures(22, 4, 10, 5, 7, -1), of(use, "CPU 0"), "10 + half of 8 + 7 without node + 1 moved");
		assertEquals(new Figures(7, 7, 0, 4, 3, -1), of(use, "CPU 1"));
		assertEquals(new Figures(29, 11, 10, 9, 10, -1), of(use, "Core 0"));
		assertEquals(of(use, "Core 0"), of(use, "Package 0"));
		assertEquals(of(use, "Core 0"), of(use, "L3 0 (32.0 MiB)"));
		assertEquals(new Figures(0, 0, 0, 0, 0, -1), of(use, "CPU 2"));
		assertEquals(new Figures(23, 3, 0, 20, 3, -1), of(use, "CPU 3"));
		assertEquals(new Figures(52, 14, 10, 29, 13, -1), of(use, "Machine"));
		assertEquals(new Figures(35, 0, 10, 20, 5, 2), of(use, "NUMA node 0 (16.0 GiB)"));
		assertEquals(new Figures(15, 14, 0, 9, 6, 2), of(use, "NUMA node 1 (16.0 GiB)"));
		assertEquals(23, use.mostPerCpu());
		assertEquals(2, use.mostPages());
		assertEquals(List.of("23.3 % of the records are in rows of several CPUs and are divided equally among them.",
				"8.3 % of the records have no CPU: the kernel made them for the program, or their event was lost.",
				"5.0 % of the records were on CPUs that this machine does not have.",
				"Of 16.7 % of 6 pages the NUMA node is not known.", "1 page on nodes that this machine does not have.",
				"1 page moved between nodes and count for the last one."), use.notes());
		assertEquals("16.7 % local, 48.3 % remote, 35.0 % unknown of 60 records", use.locality(use.whole()));
	}

	@Test
	void windowAndSubtree() throws Exception {
		MachineUse half = example(50, 150, ModelRequest.WHOLE_TREE, true);
		assertEquals(0.5 * (10 + 20 + 8) + 0.5 * (6 + 5 + 7), half.whole().accesses());
		assertEquals(5, half.pages());
		MachineUse page = example(Long.MIN_VALUE, Long.MAX_VALUE, 1 + 2, true);
		assertEquals(new Figures(14, 14, 0, 8, 6, 1), page.whole());
		MachineUse nothing = example(500, 600, ModelRequest.WHOLE_TREE, true);
		assertEquals("no records", nothing.locality(nothing.whole()));
		assertEquals(List.of(), nothing.notes());
		assertFalse(MachinePicture.of(nothing, new MachinePicture.Options()).boxes().isEmpty());
	}

	@Test
	void anotherMachineIsTold() throws Exception {
		MachineUse use = example(0, 50, ModelRequest.WHOLE_TREE, false);
		assertEquals("The trace does not say on which machine it was recorded: this is this machine.", use.notes().get(0));
	}

	@Test
	void aMachineThatWasAskedAboutIsTold() throws Exception {
		MachineTopology asked = machine(2, 1, true).given();
		MachineUse use = MachineUse.of(asked, places(1, SETS, 0, 50, -1, List.of(new Row(0, 0, 0, 0, 1, 0))));
		assertEquals(List.of("The machine is not that of the recording: it is this machine."), use.notes());
		assertTrue(asked.isGiven() && asked.isRecorded() && !machine(1, 1, true).isGiven());
	}

	@Test
	void figuresAsText() throws Exception {
		MachineUse use = example(Long.MIN_VALUE, Long.MAX_VALUE, ModelRequest.WHOLE_TREE, true);
		List<String> csv = use.toCsv().lines().toList();
		assertEquals("object,type,os_index,cpus,accesses,of_several_cpus,local,remote,unknown,pages", csv.get(0));
		assertTrue(csv.contains("Package 1,Package,1,2-3,23,3,0,20,3,"), csv::toString);
		assertTrue(csv.contains("NUMA node 0 (16.0 GiB),NUMA node,0,0-1,35,0,10,20,5,2"), csv::toString);
		assertEquals("selection,,,,60,14,10,29,21,6", csv.get(csv.size() - 1));
		assertTrue(use.text().contains("\n      Core 0                     29  48.3 %  34.5 %  31.0 %   34.5 %\n"), use::text);
	}

	/** Sums over all CPUs and over all nodes are the whole, whatever the accesses are. */
	@Test
	void sumsAreConserved() throws Exception {
		long seed = 20261120;
		System.out.println("seed " + seed);
		Random random = new Random(seed);
		List<BitSet> sets = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			sets.add(cpus(random.nextInt(8), random.nextInt(8), random.nextInt(8)));
		}
		List<Row> rows = new ArrayList<>();
		for (int i = 0; i < 2000; i++) {
			rows.add(new Row(random.nextInt(900), random.nextInt(50), random.nextInt(21) - 1, random.nextInt(3) - 1,
					random.nextInt(50), 1 + random.nextInt(50)));
		}
		for (int k = 0; k < 5; k++) {
			long from = random.nextInt(500);
			MachineUse use = MachineUse.of(machine(2, 2, true),
					places(50, sets, from, from + 100 + random.nextInt(400), ModelRequest.WHOLE_TREE, rows));
			Figures all = use.whole();
			double sum = use.unknownCpu() + use.elsewhere();
			for (MachineObject pu : use.topology().pus()) {
				Figures f = use.figures(pu);
				sum += f.accesses();
				assertEquals(f.accesses(), f.local() + f.remote() + f.unknown(), 1e-6);
			}
			assertEquals(all.accesses(), sum, 1e-6);
			assertEquals(all.accesses(), all.local() + all.remote() + all.unknown(), 1e-6);
			long pages = use.unknownPages() + use.otherPages();
			for (MachineObject node : use.topology().nodes()) {
				pages += use.figures(node).pages();
			}
			assertEquals(use.pages(), pages);
		}
	}

	private static MachinePicture picture(MachineUse use, int width, int height, Colouring colouring) {
		MachinePicture.Options o = new MachinePicture.Options();
		o.width = width;
		o.height = height;
		o.colouring = colouring;
		o.arrangement = Arrangement.BOXES;
		return MachinePicture.of(use, o);
	}

	@Test
	void everyObjectHasAPlaceInTheBoxOfItsParent() throws Exception {
		AccessPlaces places = places(1, SETS, 0, 1000, -1, List.of(new Row(0, 0, 0, 0, 1, 1)));
		for (MachineTopology t : List.of(machine(1, 1, true), machine(2, 4, true), machine(8, 16, true))) {
			MachineUse use = MachineUse.of(t, places);
			for (int[] size : new int[][] {{300, 150}, {900, 300}, {500, 900}, {1800, 1200}}) {
				MachinePicture p = picture(use, size[0], size[1], Colouring.ACCESSES);
				String where = t.summary() + " in " + size[0] + "x" + size[1];
				List<Box> boxes = p.boxes();
				assertEquals(t.objects().size(), boxes.stream().mapToInt(b -> b.objects().size()).sum(), where);
				for (Box b : boxes) {
					assertTrue(b.width() > 1 && b.height() > 1, where + ": " + b);
					assertTrue(b.x() >= 0 && b.y() >= 0 && b.x() + b.width() <= size[0] && b.y() + b.height() <= size[1], where + b);
					for (Box other : boxes) {
						boolean disjoint = b.x() + b.width() <= other.x() + 1e-6 || other.x() + other.width() <= b.x() + 1e-6
								|| b.y() + b.height() <= other.y() + 1e-6 || other.y() + other.height() <= b.y() + 1e-6;
						assertTrue(b == other || disjoint || inside(b, other) || inside(other, b), where + ": " + b + " and " + other);
					}
					if (b.object().type() == Type.PU || b.object().type() == Type.NODE) {
						assertSame(b, p.at(b.x() + b.width() / 2, b.y() + b.height() / 2), where);
					}
				}
				assertNull(p.at(1, 1));
				textsAreInside(p, size, where);
			}
		}
	}

	private static void textsAreInside(MachinePicture p, int[] size, String where) {
		for (Shape s : p.scene().shapes()) {
			if (s instanceof Shape.Text t) {
				double x = left(t);
				assertTrue(x >= 0 && x + width(t) <= size[0] + 1 && t.y() <= size[1] && t.y() >= t.size() * 0.7, where + ": " + t);
			}
		}
	}

	private static double width(Shape.Text t) {
		return TextMeter.DEFAULT.width(t.text(), t.size(), t.bold());
	}

	private static double left(Shape.Text t) {
		return t.anchor() == Shape.Anchor.START ? t.x() : t.anchor() == Shape.Anchor.END ? t.x() - width(t) : t.x() - width(t) / 2;
	}

	private static MachinePicture rings(MachineUse use, int width, int height) {
		MachinePicture.Options o = new MachinePicture.Options();
		o.width = width;
		o.height = height;
		o.arrangement = Arrangement.RADIAL;
		return MachinePicture.of(use, o);
	}

	/** In rings, too: none lies over another, CPUs are outside of what they are in, and each is found by its own point. */
	@Test
	void everyObjectHasAPartOfARing() throws Exception {
		AccessPlaces places = places(1, SETS, 0, 1000, -1, List.of(new Row(0, 0, 0, 0, 1, 1)));
		for (MachineTopology t : List.of(machine(1, 1, true), machine(2, 2, true), machine(4, 32, true), machine(8, 64, true))) {
			MachineUse use = MachineUse.of(t, places);
			for (int[] size : new int[][] {{400, 300}, {900, 600}, {500, 900}, {1800, 1200}}) {
				MachinePicture p = rings(use, size[0], size[1]);
				String where = t.summary() + " in " + size[0] + "x" + size[1];
				List<Box> boxes = p.boxes();
				assertEquals(t.objects().size(), boxes.stream().mapToInt(b -> b.objects().size()).sum(), where);
				for (Box b : boxes) {
					Sector s = b.sector();
					assertTrue(s.inner() >= 0 && s.outer() > s.inner() + 2 && s.end() > s.start(), where + ": " + b);
					assertTrue(b.x() >= 0 && b.y() >= 0 && b.x() + b.width() <= size[0] && b.y() + b.height() <= size[1], where + b);
					assertSame(b, p.at(b.middleX(), b.middleY()), where + ": " + b);
					assertTrue(s.middleX() >= b.x() && s.middleX() <= b.x() + b.width() && s.middleY() >= b.y()
							&& s.middleY() <= b.y() + b.height(), where + ": " + b);
				}
				List<Box> cpus = boxes.stream().filter(b -> b.object().type() == Type.PU).toList();
				double each = 2 * Math.PI / cpus.size();
				for (int i = 0; i < cpus.size(); i++) {
					Sector s = cpus.get(i).sector();
					assertEquals(cpus.get(0).sector().outer(), s.outer(), 1e-9, "all end at the same circle");
					assertTrue(s.start() >= (i == 0 ? 0 : cpus.get(i - 1).sector().end() - 1e-9), where + ": in their order");
					assertTrue(s.end() - s.start() > 0.6 * each, where + ": all nearly alike: " + (s.end() - s.start()) / each);
				}
				assertNull(p.at(1, 1));
				textsAreInside(p, size, where);
			}
		}
	}

	@Test
	void textsInRingsAreInTheirSectorsAndDoNotOverlap() throws Exception {
		MachineUse use = example(Long.MIN_VALUE, Long.MAX_VALUE, ModelRequest.WHOLE_TREE, true);
		for (int[] size : new int[][] {{400, 300}, {900, 600}, {1800, 1200}}) {
			List<Shape.Text> texts = rings(use, size[0], size[1]).scene().shapes().stream().filter(s -> s instanceof Shape.Text)
					.map(s -> (Shape.Text) s).toList();
			for (Shape.Text a : texts) {
				for (Shape.Text b : texts) {
					boolean apart = a == b || left(a) + width(a) <= left(b) + 0.5 || left(b) + width(b) <= left(a) + 0.5
							|| Math.abs(a.y() - b.y()) >= 0.95 * Math.min(a.size(), b.size());
					assertTrue(apart, a + " and " + b);
				}
			}
			List<String> names = texts.stream().map(Shape.Text::text).toList();
			assertTrue(size[0] < 900 || names.containsAll(List.of("Machine", "CPU 0", "CPU 1", "CPU 2", "CPU 3")), names::toString);
		}
		MachineUse big = MachineUse.of(machine(8, 64, true), places(1, SETS, 0, 1000, -1, List.of(new Row(0, 0, 0, 0, 1, 1))));
		List<String> names = rings(big, 900, 600).scene().shapes().stream().filter(s -> s instanceof Shape.Text)
				.map(s -> ((Shape.Text) s).text()).toList();
		assertTrue(names.containsAll(List.of("0", "32", "512", "992", "Rings from the inside")), names::toString);
	}

	/** Rings are only taken by themselves when boxes are too small, the machine is big, and rings have room. */
	@Test
	void bigMachinesAreRingsWhereBoxesAreTooSmall() throws Exception {
		AccessPlaces places = places(1, SETS, 0, 1000, -1, List.of(new Row(0, 0, 0, 0, 1, 1)));
		MachinePicture.Options o = new MachinePicture.Options();
		int[][] cases = {{8, 64, 900, 600, 1}, {8, 64, 2400, 1400, 0}, {8, 64, 500, 200, 0}, {4, 16, 300, 200, 0}, {8, 16, 900, 600, 0}};
		for (int[] c : cases) {
			o.width = c[2];
			o.height = c[3];
			MachinePicture p = MachinePicture.of(MachineUse.of(machine(c[0], c[1], true), places), o);
			assertEquals(c[4] == 1, p.boxes().get(0).sector() != null, () -> Arrays.toString(c));
		}
	}

	@Test
	void ringsHaveTheColoursHatchesAndBordersOfBoxes() throws Exception {
		MachineUse use = example(Long.MIN_VALUE, Long.MAX_VALUE, ModelRequest.WHOLE_TREE, true);
		MachinePicture.Options o = new MachinePicture.Options();
		o.arrangement = Arrangement.RADIAL;
		MachinePicture plain = MachinePicture.of(use, o);
		assertEquals(o.palette.heat(1), ringFill(plain, "CPU 3"));
		assertEquals(o.palette.plotBackground(), ringFill(plain, "CPU 2"));
		assertEquals(o.palette.secondHeat(1), ringFill(plain, "NUMA node 1"));
		long lines = plain.scene().shapes().stream().filter(s -> s instanceof Shape.Line l && hatches(plain, l)).count();
		assertTrue(lines > 2, "CPU 1 is hatched: " + lines);
		assertEquals(0, outlines(plain, o.palette.warning()));
		o.filteredCpus.set(1);
		o.filteredNodes.set(0);
		o.focus = use.topology().pus().get(0);
		MachinePicture marked = MachinePicture.of(use, o);
		assertEquals(6, outlines(marked, o.palette.warning()));
		assertEquals(2, outlines(marked, o.palette.highlight()));
		assertTrue(plain.scene().shapes().stream().anyMatch(s -> s instanceof Shape.Text t && t.text().contains("records per CPU")), "legend");
	}

	private static boolean hatches(MachinePicture p, Shape.Line l) {
		Box box = p.at((l.x1() + l.x2()) / 2, (l.y1() + l.y2()) / 2);
		assertEquals(l.y1() - l.x1(), l.y2() - l.x2(), 1e-9, "aligned as other hatches");
		assertTrue(box != null && box.object().label().equals("CPU 1"), () -> l + " in " + box);
		return true;
	}

	private static int ringFill(MachinePicture p, String label) {
		Box box = p.boxes().stream().filter(b -> b.object().shortLabel().equals(label)).findFirst().orElseThrow();
		int fill = 0;
		for (Shape s : p.scene().shapes()) { // what is painted last is seen
			if (s instanceof Shape.Polygon g && g.fill() != 0 && g.contains(box.middleX(), box.middleY())) {
				fill = g.fill();
			}
		}
		return fill;
	}

	private static long outlines(MachinePicture p, int color) {
		return p.scene().shapes().stream().filter(s -> s instanceof Shape.Polygon g && g.fill() == 0 && g.stroke() == color).count();
	}

	private static boolean inside(Box a, Box b) {
		return a.x() >= b.x() - 1e-6 && a.y() >= b.y() - 1e-6 && a.x() + a.width() <= b.x() + b.width() + 1e-6
				&& a.y() + a.height() <= b.y() + b.height() + 1e-6;
	}

	private static int fill(MachinePicture p, String label) {
		Box box = p.boxes().stream().filter(b -> b.object().label().equals(label)).findFirst().orElseThrow();
		return p.scene().shapes().stream().filter(s -> s instanceof Shape.Rect r && r.fill() != 0 && r.x() == box.x() && r.y() == box.y())
				.mapToInt(s -> ((Shape.Rect) s).fill()).findFirst().orElseThrow();
	}

	@Test
	void coloursFollowTheNumbers() throws Exception {
		MachineUse use = example(Long.MIN_VALUE, Long.MAX_VALUE, ModelRequest.WHOLE_TREE, true);
		Palette light = Palette.LIGHT;
		MachinePicture much = picture(use, 900, 600, Colouring.ACCESSES);
		assertEquals(light.heat(1), fill(much, "CPU 3"), "most accesses");
		assertEquals(light.plotBackground(), fill(much, "CPU 2"), "none");
		assertEquals(light.secondHeat(1), fill(much, "NUMA node 1 (16.0 GiB)"));
		MachineUse first = example(0, 100, 1, true); // page 0: all local
		MachinePicture local = picture(first, 900, 600, Colouring.LOCALITY);
		assertEquals(light.local(), fill(local, "CPU 0"));
		assertEquals(light.plotBackground(), fill(local, "CPU 3"));
		MachinePicture remote = picture(example(0, 100, 2, true), 900, 600, Colouring.LOCALITY); // page 1: all remote
		assertEquals(light.remote(), fill(remote, "CPU 3"));
		MachinePicture unknown = picture(example(0, 1000, 5, true), 900, 600, Colouring.LOCALITY); // page 4: no node
		assertEquals(light.unknown(), fill(unknown, "CPU 0"));
		assertTrue(much.scene().shapes().stream().anyMatch(s -> s instanceof Shape.Hatch), "CPU 1: all from rows of several CPUs");
		assertFalse(local.scene().shapes().stream().anyMatch(s -> s instanceof Shape.Hatch));
	}

	@Test
	void filteredAndFocusedBoxesHaveABorder() throws Exception {
		MachineUse use = example(Long.MIN_VALUE, Long.MAX_VALUE, ModelRequest.WHOLE_TREE, true);
		MachinePicture.Options o = new MachinePicture.Options();
		long plain = strokes(MachinePicture.of(use, o), o.palette.warning());
		assertEquals(0, plain);
		o.filteredCpus.set(1);
		o.filteredNodes.set(0);
		o.focus = use.topology().pus().get(0);
		MachinePicture p = MachinePicture.of(use, o);
		assertEquals(6, strokes(p, o.palette.warning()));
		assertEquals(2, strokes(p, o.palette.highlight()));
		Box cpu = p.boxes().stream().filter(b -> b.object() == o.focus).findFirst().orElseThrow();
		assertEquals("CPU 0\n22 records, 36.7 % of 60\n45.5 % local, 22.7 % remote, 31.8 % unknown of 22 records\n"
				+ "18.2 % come from rows of several CPUs", MachinePicture.describe(use, cpu));
		Box node = p.boxes().stream().filter(b -> b.object().type() == Type.NODE).findFirst().orElseThrow();
		assertEquals("NUMA node 0 (16.0 GiB)\nCPUs 0-1 are near to it\n2 pages, 33.3 % of 6 accessed pages\n"
				+ "35 records to its memory, 58.3 % of 60\n28.6 % local, 57.1 % remote, 14.3 % unknown of 35 records",
				MachinePicture.describe(use, node));
	}

	private static long strokes(MachinePicture p, int color) {
		return p.scene().shapes().stream().filter(s -> s instanceof Shape.Rect r && r.fill() == 0 && r.stroke() == color).count();
	}

	/** What filters hide leaves the machine; parts of rows of several CPUs that go with it are told. */
	@Test
	void hiddenCpusLeaveTheMachine() throws Exception {
		MachineTopology t = machine(2, 2, true); // 8 CPUs
		TraceFilter some = TraceFilter.only(Condition.Value.numbers("cpu", List.of(0, 5, 6, 77)));
		TraceFilter without = TraceFilter.hide(Condition.cpu(5));
		MachineTopology shown = MachineFilters.shown(FilterSet.of(some, without), t);
		assertEquals(List.of("CPU 0", "CPU 6"), shown.pus().stream().map(MachineObject::label).toList());
		assertEquals("2 packages, 2 NUMA nodes, 2 cores, 2 CPUs", shown.summary());
		assertEquals(cpus(0, 6), shown.root().cpus());
		assertEquals(cpus(6), shown.root().children().get(1).cpus());
		MachineTopology half = MachineFilters.shown(FilterSet.of(TraceFilter.hide(Condition.Value.numbers("cpu", List.of(0, 1, 2, 3)))), t);
		assertEquals("1 package, 1 NUMA node, 2 cores, 4 CPUs", half.summary());
		assertSame(t, MachineFilters.shown(FilterSet.of(TraceFilter.only(new Condition.Name("A"))), t), "by something else");
		assertSame(t, MachineFilters.shown(FilterSet.of(TraceFilter.only(Condition.cpu(99))), t), "nothing would be left");
		assertSame(t, MachineFilters.shown(FilterSet.NONE, t));

		List<Row> rows = List.of(new Row(0, 0, 0, 0, 10, 0), new Row(0, 1, 2, 0, 0, 20), new Row(0, 1, 4, 0, 0, 10));
		MachineUse use = MachineUse.of(machine(2, 1, true).only(cpus(0)), places(6, SETS, 0, 1000, -1, rows));
		assertEquals(20, use.figures(use.topology().root()).accesses(), "10 of CPU 0 alone, half of 20 with CPU 1");
		assertEquals(List.of("50.0 % of the records are in rows of several CPUs and are divided equally among them.",
				"25.0 % of the records were on CPUs that this machine does not have.",
				"25.0 % of the records were on CPUs that filters hide: parts of rows of several CPUs."), use.cpuNotes());
		assertEquals("50.0 %", use.leftOutShare());
	}

	@Test
	void clicksMakeAndTakeBackFilters() {
		MachineTopology t = machine(2, 2, true);
		MachineObject cpu3 = t.pus().get(3);
		MachineObject core0 = t.objects().stream().filter(o -> o.type() == Type.CORE).findFirst().orElseThrow();
		MachineObject node1 = t.nodes().get(1);
		TraceFilter other = TraceFilter.only(new Condition.Name("A"));
		TraceFilter without = TraceFilter.hide(Condition.cpu(0));
		FilterSet start = FilterSet.of(other, without);
		FilterSet one = MachineFilters.clicked(start, cpu3, false);
		assertEquals("[CPU 3]", one.filters().stream().skip(2).map(f -> f.text(List.of())).toList().toString());
		assertEquals(cpus(3), MachineFilters.cpus(one));
		assertEquals(start, MachineFilters.clicked(one, cpu3, false), "a second click takes it back");
		FilterSet three = MachineFilters.clicked(one, core0, true);
		assertEquals(cpus(0, 1, 3), MachineFilters.cpus(three));
		assertEquals(cpus(0, 1), MachineFilters.cpus(MachineFilters.clicked(three, cpu3, true)));
		assertEquals(cpus(0, 1), MachineFilters.cpus(MachineFilters.clicked(three, core0, false)), "without Ctrl only this");
		assertEquals(start, MachineFilters.clicked(one, cpu3, true));
		FilterSet both = MachineFilters.clicked(one, node1, false);
		assertEquals(cpus(1), MachineFilters.nodes(both));
		assertEquals(cpus(3), MachineFilters.cpus(both));
		assertEquals(one, MachineFilters.clicked(both, node1, false));
		assertEquals(start, MachineFilters.clicked(both, t.root(), false), "the machine takes both back and no other");
	}
}
