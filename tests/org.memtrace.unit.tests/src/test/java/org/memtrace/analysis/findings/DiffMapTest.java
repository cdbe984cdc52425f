// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.diff.DiffMap.Choice;
import org.memtrace.analysis.diff.DiffMap.Field;
import org.memtrace.analysis.diff.DiffMap.Quantity;
import org.memtrace.analysis.diff.DiffMap.Values;
import org.memtrace.analysis.diff.DiffMap;
import org.memtrace.analysis.diff.DiffPicture;
import org.memtrace.analysis.diff.DiffTable;
import org.memtrace.analysis.diff.DiffText;
import org.memtrace.analysis.diff.PlaceTimes;
import org.memtrace.analysis.diff.Run;
import org.memtrace.analysis.diff.StructureDiff;
import org.memtrace.analysis.diff.TraceDiff;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.StructureKind;

/** Where and when two made recordings differ. */
class DiffMapTest {
	private static final int INTERVALS = 10;
	private static final double EXACT = 1e-12;

	/** All runs of a comparison, each with its trace. */
	private static DiffMap map(List<PlantedTrace> before, List<PlantedTrace> after) throws MemtraceException {
		List<Run> a = runs("a", before);
		List<Run> b = runs("b", after);
		TraceDiff d = new TraceDiff(a, b, Thresholds.STANDARD);
		return new DiffMap(d, times(d, a, before), times(d, b, after));
	}

	private static List<Run> runs(String label, List<PlantedTrace> traces) throws MemtraceException {
		List<Run> runs = new ArrayList<>();
		for (PlantedTrace t : traces) {
			runs.add(new Run(label + runs.size(), t.advise()));
		}
		return runs;
	}

	private static List<PlaceTimes> times(TraceDiff d, List<Run> runs, List<PlantedTrace> traces) throws MemtraceException {
		List<PlaceTimes> times = new ArrayList<>();
		for (int i = 0; i < runs.size(); i++) {
			times.add(traces.get(i).placeTimes(d, runs.get(i)));
		}
		return times;
	}

	private static DiffMap map(PlantedTrace before, PlantedTrace after) throws MemtraceException {
		return map(List.of(before), List.of(after));
	}

	/** A field, touched first by thread 0 or by its users, in the first of the intervals. */
	private static PlantedTrace field(boolean serial) {
		return field(serial, INTERVALS);
	}

	private static PlantedTrace field(boolean serial, int intervals) {
		PlantedTrace t = new PlantedTrace(4, intervals);
		int s = t.structure("field", StructureKind.HEAP, 64);
		for (int i = 0; i < intervals; i++) {
			for (int p = 0; p < 64; p++) {
				t.write(s, p, i, i == 0 && serial ? 0 : t.owner(p, 64));
			}
		}
		return t;
	}

	private static Values whole(DiffMap m, Quantity q) {
		return m.values(new Choice(q, 0, false, false));
	}

	private static Field of(Values v, String name) {
		return v.fields().stream().filter(f -> f.structure().name().equals(name)).findFirst().orElseThrow();
	}

	private static double sum(double[] cells) {
		return Arrays.stream(cells).sum();
	}

	private static DiffPicture draw(DiffMap m, Values v, int width, int height) {
		return DiffPicture.build(m, v, null, width, height, Palette.LIGHT, TextMeter.DEFAULT, 12);
	}

	private static String texts(DiffPicture p) {
		return p.scene().shapes().stream().filter(Shape.Text.class::isInstance).map(s -> ((Shape.Text) s).text())
				.collect(Collectors.joining("\n"));
	}

	@Test
	void equalTracesDifferNowhere() throws MemtraceException {
		DiffMap m = map(field(true), field(true));
		for (Quantity q : Quantity.values()) {
			for (boolean sinceStart : new boolean[] {false, true}) {
				for (boolean beginning : new boolean[] {false, true}) {
					Values v = m.values(new Choice(q, 0, sinceStart, beginning));
					Field f = of(v, "field");
					assertTrue(sum(f.before()) > 0);
					assertEquals(0, v.limit());
					assertEquals(0, v.differing());
					for (int i = 0; i < f.before().length; i++) {
						assertEquals(f.before()[i], f.after()[i]);
					}
				}
			}
		}
		assertEquals(Quantity.ACCESSES, m.usual().quantity());
		assertTrue(texts(draw(m, whole(m, Quantity.ACCESSES), 800, 400)).contains("nothing differs"));
	}

	@Test
	void accessesAreSharesOfTheRunByPlaceAndTime() throws MemtraceException {
		PlantedTrace b = new PlantedTrace(4, INTERVALS);
		int s = b.structure("field", StructureKind.HEAP, 64);
		// only the first half, in the last interval, once for each page
		for (int p = 0; p < 32; p++) {
			b.access(s, p, INTERVALS - 1, 0, 3, 1, 0, 0);
		}
		DiffMap m = map(field(true), b);
		Field all = of(whole(m, Quantity.ACCESSES), "field");
		assertEquals(PlaceTimes.PLACES, all.places());
		assertEquals(1, sum(all.before()), EXACT);
		assertEquals(1, sum(all.after()), EXACT);
		// a tenth of the time has all accesses of b, evenly over ten columns and half of the places
		assertEquals(1.0 / (DiffMap.COLUMNS / 10) / (PlaceTimes.PLACES / 2), all.after()[DiffMap.COLUMNS - 1], EXACT);
		assertEquals(0, all.after()[DiffMap.COLUMNS / 10 * 9 - 1]);
		assertEquals(0, all.after()[PlaceTimes.PLACES / 2 * DiffMap.COLUMNS + DiffMap.COLUMNS - 1]);
		assertEquals(1.0 / DiffMap.COLUMNS / PlaceTimes.PLACES, all.before()[0], EXACT);
		assertEquals(1, sum(of(whole(m, Quantity.WRITES), "field").after()), EXACT);
		assertEquals(1, sum(of(whole(m, Quantity.READS), "field").after()), EXACT);
		assertEquals(all.after()[DiffMap.COLUMNS - 1] - all.before()[DiffMap.COLUMNS - 1], all.difference(0, 1, DiffMap.COLUMNS - 1));
	}

	@Test
	void readsAndWritesAreToldApart() throws MemtraceException {
		PlantedTrace b = new PlantedTrace(1, INTERVALS);
		int s = b.structure("field", StructureKind.HEAP, 64);
		b.access(s, 0, 0, 0, 6, 0, 0, -1);
		b.access(s, 63, 9, 0, 0, 2, -1, 0);
		Values reads = whole(map(field(true), b), Quantity.READS);
		Values writes = whole(map(field(true), b), Quantity.WRITES);
		Field r = of(reads, "field");
		Field w = of(writes, "field");
		assertEquals(1, sum(Arrays.copyOf(r.after(), 10)), EXACT);
		assertEquals(0, w.after()[0]);
		assertEquals(1, sum(Arrays.copyOfRange(w.after(), w.after().length - 10, w.after().length)), EXACT);
		StructureDiff d = r.structure();
		assertEquals(0.75, d.after().reads(), EXACT);
		assertEquals(0.25, d.after().writes(), EXACT);
		assertEquals(0.5, d.before().reads(), EXACT);
	}

	@Test
	void firstTouchIsTheShareOfThePagesUntilThen() throws MemtraceException {
		DiffMap m = map(field(true), field(false));
		Choice usual = m.usual();
		assertEquals(new Choice(Quantity.FIRST_TOUCH, 0, false, true), usual);
		Field main = of(whole(m, Quantity.FIRST_TOUCH), "field");
		int last = DiffMap.COLUMNS - 1;
		int firstOfOthers = PlaceTimes.PLACES / 4 * DiffMap.COLUMNS;
		assertEquals(1, main.before()[firstOfOthers + last], EXACT);
		assertEquals(0, main.after()[firstOfOthers + last]);
		assertEquals(-1, main.difference(PlaceTimes.PLACES / 4, PlaceTimes.PLACES, last), EXACT);
		assertEquals(0, main.difference(0, PlaceTimes.PLACES / 4, last), EXACT);
		// the first interval is a tenth of the run: touches are spread over it, and stay after it
		assertEquals(0.5, main.before()[4], EXACT);
		assertEquals(1, main.before()[9], EXACT);
		Field second = of(m.values(new Choice(Quantity.FIRST_TOUCH, 1, false, false)), "field");
		assertEquals(1, second.difference(PlaceTimes.PLACES / 4, PlaceTimes.PLACES / 2, last), EXACT);
		Values beginning = m.values(usual);
		assertEquals(0.125, beginning.until(), 0.01, "what is touched in a tenth of the run, with a margin");
		assertEquals(1, beginning.limit());
		assertEquals(-1, of(beginning, "field").difference(PlaceTimes.PLACES / 4, PlaceTimes.PLACES, last), EXACT);
		assertTrue(DiffText.sentences(m.diff()).stream().anyMatch(s -> s.equals("field: first touched by main 100 % before, by main 25.0 %, "
				+ "thread 1 25.0 %, thread 2 25.0 %, thread 3 25.0 % now.")), DiffText.sentences(m.diff()).toString());
		assertTrue(DiffText.sentences(m.diff()).stream().anyMatch(s -> s.startsWith("gone: field: first touch. The advice worked")));
	}

	@Test
	void timeIsAlignedByShareOrByStart() throws MemtraceException {
		DiffMap m = map(field(true, 20), field(true, 10));
		Field share = of(whole(m, Quantity.ACCESSES), "field");
		assertEquals(share.before()[DiffMap.COLUMNS - 1], share.after()[DiffMap.COLUMNS - 1], EXACT);
		Values v = m.values(new Choice(Quantity.ACCESSES, 0, true, false));
		Field start = of(v, "field");
		assertEquals(20 * PlantedTrace.INTERVAL, v.until());
		assertEquals(1, sum(start.after()), EXACT);
		assertEquals(0, start.after()[DiffMap.COLUMNS / 2], "the shorter run is over");
		assertEquals(2 * start.before()[0], start.after()[0], EXACT);
		Values touch = m.values(new Choice(Quantity.FIRST_TOUCH, 0, true, false));
		assertEquals(1, of(touch, "field").after()[DiffMap.COLUMNS - 1], EXACT, "what was touched stays so after the end");
		assertTrue(texts(draw(m, v, 900, 400)).contains("20 µs"), texts(draw(m, v, 900, 400)));
	}

	@Test
	void aStructureOfOneSideIsOnlyThere() throws MemtraceException {
		PlantedTrace a = field(true);
		int more = a.structure("gone", StructureKind.STATIC, 8);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 8; p++) {
				a.write(more, p, i, 1);
			}
		}
		DiffMap m = map(a, field(true));
		Values v = whole(m, Quantity.ACCESSES);
		Field f = of(v, "gone");
		assertEquals(8, f.places(), "a place for each page");
		assertNull(f.structure().after());
		assertEquals(8.0 / 72, sum(f.before()), EXACT);
		assertEquals(0, sum(f.after()));
		assertEquals(0, m.role(), "a structure that is gone has not changed its first touch");
		DiffPicture p = draw(m, v, 900, 500);
		assertTrue(texts(p).contains("gone (only A)"));
		String row = DiffTable.csv(m.diff().structures()).lines().filter(l -> l.startsWith("gone,")).findFirst().orElseThrow();
		assertTrue(row.endsWith(",only before"), row);
		assertEquals(DiffTable.COLUMNS.size(), row.split(",").length);
	}

	@Test
	void aRunWithoutWritesHasNoShareOfThem() throws MemtraceException {
		PlantedTrace idle = new PlantedTrace(1, INTERVALS);
		int s = idle.structure("field", StructureKind.HEAP, 64);
		idle.read(s, 0, 0, 0);
		Field f = of(whole(map(field(true), idle), Quantity.WRITES), "field");
		assertEquals(0, sum(f.after()));
		assertTrue(Arrays.stream(f.after()).allMatch(Double::isFinite));
	}

	@Test
	void oneCell() throws MemtraceException {
		PlantedTrace a = new PlantedTrace(1, 1);
		a.write(a.structure("flag", StructureKind.STATIC, 1), 0, 0, 0);
		PlantedTrace b = new PlantedTrace(1, 1);
		b.read(b.structure("flag", StructureKind.STATIC, 1), 0, 0, 0);
		DiffMap m = map(a, b);
		Field f = of(whole(m, Quantity.WRITES), "flag");
		assertEquals(1, f.places());
		assertEquals(1, sum(f.before()), EXACT);
		assertEquals(0, sum(f.after()));
		assertEquals(1, m.values(new Choice(Quantity.FIRST_TOUCH, 0, false, true)).until(), "no beginning that is not all of it");
		DiffPicture p = draw(m, whole(m, Quantity.WRITES), 300, 150);
		assertFalse(p.textAt(250, 20).isEmpty());
		assertEquals("", p.textAt(250, 149));
	}

	@Test
	void withoutThreadsNobodyTouchesFirst() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(0, INTERVALS);
		int s = t.structure("field", StructureKind.HEAP, 4);
		t.write(s, 0, 0, -1);
		DiffMap m = map(t, t);
		Values v = whole(m, Quantity.FIRST_TOUCH);
		assertEquals(0, sum(of(v, "field").after()));
		assertTrue(texts(draw(m, v, 900, 400)).contains("nobody that is known"));
		assertEquals(Quantity.ACCESSES, m.usual().quantity());
	}

	@Test
	void hugeCountsDoNotOverflow() throws MemtraceException {
		long huge = Long.MAX_VALUE / 128; // the most that a trace may have
		PlantedTrace a = new PlantedTrace(1, INTERVALS);
		int s = a.structure("field", StructureKind.HEAP, 64);
		PlantedTrace b = new PlantedTrace(1, INTERVALS);
		b.structure("field", StructureKind.HEAP, 64);
		for (int p = 0; p < 64; p++) {
			a.access(s, p, 0, 0, huge, huge, 0, 0);
			b.access(s, p, 5, 0, huge, huge, 0, 0);
		}
		Values v = whole(map(a, b), Quantity.ACCESSES);
		Field f = of(v, "field");
		assertEquals(1, sum(f.before()), 1e-9);
		assertEquals(1, sum(f.after()), 1e-9);
		assertEquals(1.0 / 10 / PlaceTimes.PLACES, v.largest(), 1e-9);
	}

	@Test
	void severalRunsAreTheirMean() throws MemtraceException {
		DiffMap m = map(List.of(field(true), field(false)), List.of(field(false)));
		Field f = of(whole(m, Quantity.FIRST_TOUCH), "field");
		assertEquals(0.5, f.before()[(PlaceTimes.PLACES - 1) * DiffMap.COLUMNS + DiffMap.COLUMNS - 1], EXACT);
		assertEquals(0, f.after()[(PlaceTimes.PLACES - 1) * DiffMap.COLUMNS + DiffMap.COLUMNS - 1]);
		Field all = of(whole(m, Quantity.ACCESSES), "field");
		assertEquals(1, sum(all.before()), EXACT);
		assertThrows(IllegalArgumentException.class, () -> new DiffMap(m.diff(), List.of(), List.of()));
	}

	/** A few cells far above the others do not make these pale; that they are cut is told. */
	@Test
	void theScaleIsCutAndSaysSo() throws MemtraceException {
		PlantedTrace b = new PlantedTrace(4, INTERVALS);
		int s = b.structure("field", StructureKind.HEAP, 64);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 64; p++) {
				b.access(s, p, i, 0, p == 0 && i == 3 ? 1000 : 1 + p % 2, 1, 0, 0);
			}
		}
		DiffMap m = map(field(true), b);
		Values v = whole(m, Quantity.ACCESSES);
		assertEquals(10, v.beyond());
		assertTrue(v.limit() < v.largest() / 10, v.limit() + " " + v.largest());
		DiffPicture p = draw(m, v, 1000, 400);
		assertTrue(texts(p).contains("cut: 10 cells of "), texts(p));
		assertTrue(texts(p).contains("≥ +"), texts(p));
		assertFalse(texts(draw(m, whole(m, Quantity.FIRST_TOUCH), 1000, 400)).contains("cut: "));
	}

	@Test
	void thePictureHasTheColoursOfTheScale() throws MemtraceException {
		DiffMap m = map(field(true), field(false));
		Values v = m.values(m.usual());
		DiffPicture p = draw(m, v, 1000, 400);
		List<Integer> fills = p.scene().shapes().stream().filter(Shape.Rect.class::isInstance).map(s -> ((Shape.Rect) s).fill()).toList();
		assertTrue(fills.contains(Palette.LIGHT.diverging(-1)) && fills.contains(Palette.LIGHT.diverging(0)));
		String at = p.textAt(950, 250);
		assertTrue(at.contains("main has touched first until then") && at.contains("A 100 %, B 0 %, difference -100.0 points"), at);
		assertEquals("field", p.structureAt(500, 100).name());
		List<String> along = IntStream.range(0, 1000).mapToObj(x -> p.textAt(x + 0.5, 100)).filter(t -> t.contains(" of the run")).toList();
		assertTrue(along.size() > 500 && along.getFirst().contains("\n0 % to ") && along.getLast().contains("to 12.5 % of the run"),
				along.getFirst() + " | " + along.getLast());
		assertEquals(0.125, v.until(), EXACT);
		String texts = texts(p);
		assertTrue(texts.contains("B − A in percentage points") && texts.contains("−100") && texts.contains("+100"), texts);
		assertTrue(texts.contains("thread 3"), texts);
		assertTrue(p.scene().shapes().stream().filter(Shape.Rect.class::isInstance).map(Shape.Rect.class::cast)
				.allMatch(r -> r.width() >= 0 && r.height() >= 0 && r.x() >= 0 && r.x() + r.width() <= 1000 && r.y() + r.height() <= 400));
	}

	@Test
	void theScaleIsSeenWithEveryColourVision() {
		for (Palette palette : List.of(Palette.LIGHT, Palette.DARK)) {
			for (double v = 0.1; v <= 1; v += 0.1) {
				assertTrue(Palette.difference(palette.diverging(v), palette.diverging(v - 0.1)) > 2.3);
				assertTrue(Palette.difference(palette.diverging(-v), palette.diverging(0.1 - v)) > 2.3);
			}
			// blue to yellow is seen by all but very few: the ends differ in it
			int less = palette.diverging(-1);
			int more = palette.diverging(1);
			assertTrue((less & 0xff) - (less >> 8 & 0xff) > 40 && (more >> 8 & 0xff) - (more & 0xff) > 40);
			assertEquals(palette.diverging(1), palette.diverging(7));
			assertNotEquals(palette.diverging(0), palette.background());
		}
	}

	@Test
	void theTableIsSortedWithWhatIsNotKnownAtTheEnd() throws MemtraceException {
		PlantedTrace a = field(true);
		int more = a.structure("gone", StructureKind.STATIC, 64);
		for (int p = 0; p < 64; p++) {
			a.write(more, p, 0, 0);
		}
		TraceDiff d = map(a, field(false)).diff();
		DiffTable.Column moved = DiffTable.COLUMNS.stream().filter(c -> c.id().equals("first-touch_difference")).findFirst().orElseThrow();
		for (boolean descending : new boolean[] {false, true}) {
			List<StructureDiff> rows = DiffTable.sorted(d.structures(), moved, descending);
			assertEquals(List.of("field", "gone"), rows.stream().map(StructureDiff::name).toList());
		}
		StructureDiff field = DiffTable.sorted(d.structures(), DiffTable.NAME, false).get(0);
		assertEquals("-75.0 points", DiffTable.text(moved, field));
		assertEquals("", DiffTable.text(moved, DiffTable.sorted(d.structures(), DiffTable.NAME, true).get(0)));
		DiffTable.Column pages = DiffTable.COLUMNS.stream().filter(c -> c.id().equals("pages_difference")).findFirst().orElseThrow();
		assertEquals("0", DiffTable.text(pages, field));
		assertEquals(0, field.before().structures().get(0));
	}
}
