// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.answer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.colour.Colours;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/** Cells, order, chart and places of an answer. */
class AnswerTest {
	private static final BigInteger HIGH = BigInteger.ONE.shiftLeft(63);

	/** @param columns name and type, with a space between */
	private static AnswerTable table(String[] columns, Object[]... rows) {
		Set<String> addresses = Set.of("page_start", "address");
		return new AnswerTable(Arrays.stream(columns).map(c -> c.split(" ")).map(c -> AnswerColumn.of(c[0], c[1], addresses)).toList(),
				List.of(rows), false);
	}

	private static String[] head(String... columns) {
		return columns;
	}

	private static Object[] row(Object... values) {
		return values;
	}

	@Test
	void cellsAreThoseOfTheCommandLine() {
		AnswerTable t = table(head("page_start UBIGINT", "reads BIGINT", "n BIGINT", "share DOUBLE", "text VARCHAR", "page_start_2 UBIGINT"),
				row(0x7f00L, 1234567L, 1234567L, 1 / 3.0, "a\nb", 16L), row(HIGH, null, -1L, Double.NaN, "", HIGH));
		assertEquals(List.of("7f00", "1,234,567", "1234567", "0.333333", "a?b", "16"), cells(t, 0));
		assertEquals(List.of("8000000000000000", "NULL", "-1", "", "", HIGH.toString()), cells(t, 1), "NULL is no empty text");
		assertEquals("page_start,reads,n,share,text,page_start_2\n8000000000000000,,-1,,,9223372036854775808\n", t.toCsv(1));
		assertTrue(t.columns().get(0).isAddress());
		assertFalse(table(head("page_start BIGINT"), row(1L)).columns().get(0).isAddress(), "what is computed is no address");
	}

	private static List<String> cells(AnswerTable t, int row) {
		List<String> cells = new ArrayList<>();
		for (int c = 0; c < t.columns().size(); c++) {
			cells.add(t.text(c, row));
		}
		return cells;
	}

	@Test
	void order() {
		AnswerTable t = table(head("n UBIGINT", "x DOUBLE", "s VARCHAR"), row(HIGH, 0.5, "b10"), row(3L, null, "b9"), row(null, Double.NaN, "a"),
				row(Long.MAX_VALUE, -1.0, null), row(Long.MAX_VALUE - 1, 0.5, "b9"));
		assertArrayEquals(new int[] {1, 4, 3, 0, 2}, t.order(0, false), "exact to the last digit");
		assertArrayEquals(new int[] {0, 3, 4, 1, 2}, t.order(0, true), "NULL is last, too");
		assertArrayEquals(new int[] {3, 0, 4, 2, 1}, t.order(1, false));
		assertArrayEquals(new int[] {2, 1, 4, 0, 3}, t.order(2, false));
	}

	@Test
	void theChartThatIsChosen() {
		AnswerTable bars = table(head("structure VARCHAR", "structure_id BIGINT", "reads HUGEINT"), row("a", 1L, 2L));
		assertEquals(new AnswerChart(bars, 0, 2), AnswerChart.of(bars), "a number that names something is no length");
		assertEquals(AnswerChart.Kind.BARS, AnswerChart.of(bars).kind());
		AnswerTable line = table(head("time_ns BIGINT", "id BIGINT", "reads BIGINT"), row(1L, 1L, 2L));
		assertEquals(new AnswerChart(line, 0, 2), AnswerChart.of(line));
		assertEquals(AnswerChart.Kind.LINE, AnswerChart.of(line).kind());
		AnswerTable addresses = table(head("records BIGINT", "page_start UBIGINT"), row(1L, 2L));
		assertEquals(new AnswerChart(addresses, 1, 0), AnswerChart.of(addresses), "an address is a label");
		AnswerTable ids = table(head("name VARCHAR", "id BIGINT"), row("a", 1L));
		assertEquals(new AnswerChart(ids, 0, 1), AnswerChart.of(ids), "better than nothing");
		for (AnswerTable none : List.of(table(head("name VARCHAR"), row("a")), table(head("n BIGINT"), row(1L)),
				table(head("name VARCHAR", "n BIGINT")), table(head("page_start UBIGINT", "address UBIGINT"), row(1L, 2L)))) {
			assertNull(AnswerChart.of(none), none.columns()::toString);
		}
	}

	private static Scene scene(AnswerChart chart, int height) {
		return chart.scene(600, height, new Colours().palette(false), TextMeter.DEFAULT, 12);
	}

	private static List<String> texts(Scene scene) {
		return scene.shapes().stream().filter(Shape.Text.class::isInstance).map(s -> ((Shape.Text) s).text()).toList();
	}

	@Test
	void bars() {
		AnswerTable t = table(head("name VARCHAR", "n BIGINT"), row("one", 10L), row("none", null), row("less", -5L), row(null, 20L));
		AnswerChart chart = AnswerChart.of(t);
		assertEquals("n by name, without 1 row that has no number", chart.title());
		Scene scene = scene(chart, 300);
		Palette palette = new Colours().palette(false);
		List<Shape.Rect> bars = scene.shapes().stream().filter(Shape.Rect.class::isInstance).map(Shape.Rect.class::cast)
				.filter(r -> r.fill() == palette.local()).toList();
		assertEquals(3, bars.size());
		assertEquals(2.0, bars.get(0).width() / bars.get(1).width(), 1e-6, "lengths are the numbers");
		assertEquals(4.0, bars.get(2).width() / bars.get(1).width(), 1e-6);
		assertEquals(bars.get(0).x(), bars.get(1).x() + bars.get(1).width(), 1e-6, "a negative one goes to the left of 0");
		assertTrue(texts(scene).containsAll(List.of("one", "less", "NULL", "10", "-5", "20")), texts(scene)::toString);
		Object[][] many = new Object[100][];
		for (int i = 0; i < many.length; i++) {
			many[i] = row("row " + i, (long) i);
		}
		List<String> shown = texts(scene(AnswerChart.of(table(head("name VARCHAR", "n BIGINT"), many)), 200));
		long labels = shown.stream().filter(s -> s.startsWith("row ")).count();
		assertTrue(labels > 2 && labels < 100, shown::toString);
		assertTrue(shown.contains("+ " + (100 - labels) + " rows below"), shown::toString);
	}

	@Test
	void line() {
		AnswerTable t = table(head("x BIGINT", "y DOUBLE"), row(30L, 5.0), row(0L, 0.0), row(null, 3.0), row(10L, 10.0));
		AnswerChart chart = AnswerChart.of(t);
		assertArrayEquals(new int[] {1, 3, 0}, chart.drawn(), "from left to right");
		Palette palette = new Colours().palette(false);
		List<Shape.Line> lines = scene(chart, 300).shapes().stream().filter(Shape.Line.class::isInstance).map(Shape.Line.class::cast)
				.filter(l -> l.color() == palette.local()).toList();
		assertEquals(2, lines.size());
		assertEquals(2.0, (lines.get(1).x2() - lines.get(1).x1()) / (lines.get(0).x2() - lines.get(0).x1()), 1e-6);
		assertEquals(-2.0, (lines.get(0).y2() - lines.get(0).y1()) / (lines.get(1).y2() - lines.get(1).y1()), 1e-6);
		assertTrue(lines.get(0).y2() < lines.get(0).y1(), "more is higher");
		assertFalse(scene(AnswerChart.of(table(head("x BIGINT", "y BIGINT"), row(5L, 5L))), 50).shapes().isEmpty(), "a point in a low picture");
		AnswerTable long10 = table(head("x BIGINT", "y BIGINT"), row(0L, 0L), row(10_000L, 1L));
		assertTrue(texts(AnswerChart.of(long10).scene(200, 200, palette, TextMeter.DEFAULT, 12)).containsAll(List.of("0", "10,000")),
				"both ends");
		assertTrue(texts(scene(new AnswerChart(t, 0, 1), 300)).contains("y by x, without 1 row that has no number"));
	}

	@Test
	void scales() {
		assertEquals(new AnswerChart.Scale(0, 12, 2), AnswerChart.Scale.of(0, 11, 6));
		assertEquals(new AnswerChart.Scale(-10, 20, 10), AnswerChart.Scale.of(-3, 17, 3));
		AnswerChart.Scale one = AnswerChart.Scale.of(0, 0, 5);
		assertTrue(one.high() > one.low());
		assertEquals(0.0, new AnswerChart.Scale(-0.3, 0.3, 0.1).tick(3), "no -0");
	}

	private static final List<Structure> STRUCTURES = List.of(structure(0, "A", 0x1000), structure(1, "B", 0x3000), structure(2, "A", 0x4000));

	private static Structure structure(int id, String name, long start) {
		return new Structure(id, 0, StructureKind.HEAP, name, start, start + 0x1000, 0, Long.MAX_VALUE, 1, -1, "");
	}

	/** Root, A with two pages, B with one, another A with one. */
	private static ProducerTree tree() {
		ProducerTreeBuilder b = new ProducerTreeBuilder(4096);
		b.begin(ProducerKind.ROOT, "root", 0, 0, -1);
		long[][] pages = {{0x1000, 0x2000}, {0x3000}, {0x4000}};
		for (int s = 0; s < pages.length; s++) {
			b.begin(ProducerKind.STRUCTURE, STRUCTURES.get(s).name(), pages[s][0], pages[s][pages[s].length - 1] + 0x1000, s);
			for (long p : pages[s]) {
				b.leaf(ProducerKind.PAGE, "page", p, p + 0x1000, s);
			}
			b.end();
		}
		b.end();
		return b.build();
	}

	private static int[] producers(String[] columns, Object... values) {
		return AnswerPlace.producers(table(columns, values), 0, tree(), STRUCTURES);
	}

	@Test
	void placesOfARow() {
		assertArrayEquals(new int[] {4}, producers(head("structure VARCHAR", "producer BIGINT"), "A", 4L), "the page is more than its structure");
		assertArrayEquals(new int[0], producers(head("producer BIGINT"), 99L));
		assertArrayEquals(new int[0], producers(head("producer BIGINT"), -1L));
		assertArrayEquals(new int[] {3}, producers(head("page_start UBIGINT"), 0x2000L));
		assertArrayEquals(new int[] {2}, producers(head("address UBIGINT", "page_start UBIGINT"), 0x1fffL, 0x2000L));
		assertArrayEquals(new int[0], producers(head("page_start UBIGINT"), HIGH));
		assertArrayEquals(new int[] {4}, producers(head("name VARCHAR", "structure_id BIGINT"), "A", 1L));
		assertArrayEquals(new int[] {1, 6}, producers(head("structure VARCHAR"), "A"), "both of that name");
		assertArrayEquals(new int[] {4}, producers(head("name VARCHAR"), "B"));
		assertArrayEquals(new int[0], producers(head("name VARCHAR"), "C"));
		assertArrayEquals(new int[0], producers(head("structure VARCHAR"), (Object) null));
		assertArrayEquals(new int[0], producers(head("reads BIGINT"), 1L));
	}

	@Test
	void threadOfARow() {
		List<ThreadInfo> threads = List.of(new ThreadInfo(0, 0, 10, "main", 0, 1, "", true), new ThreadInfo(1, 0, 11, "worker", 0, 1, "", false),
				new ThreadInfo(2, 0, 12, "worker", 0, 1, "", false));
		assertEquals(2, AnswerPlace.thread(table(head("thread_index BIGINT"), row(2L)), 0, threads));
		assertEquals(-1, AnswerPlace.thread(table(head("thread_index BIGINT"), row(3L)), 0, threads));
		assertEquals(0, AnswerPlace.thread(table(head("thread VARCHAR"), row("main")), 0, threads));
		assertEquals(-1, AnswerPlace.thread(table(head("thread VARCHAR"), row("worker")), 0, threads), "two have that name");
		assertEquals(-1, AnswerPlace.thread(table(head("reads BIGINT"), row(1L)), 0, threads));
	}
}
