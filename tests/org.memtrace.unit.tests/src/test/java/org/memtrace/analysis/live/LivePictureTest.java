// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.model.LivePages;
import org.memtrace.model.LivePages.Cell;
import org.memtrace.model.LivePages.Left;
import org.memtrace.model.LivePages.Row;

class LivePictureTest {
	private static final int WIDTH = 800;

	/** Row i has i + 1 pages in each of ten intervals, none of them shared in the first half of them, all in the second. */
	private static LivePages pages(int rows) {
		List<Row> all = new ArrayList<>();
		for (int i = 0; i < rows; i++) {
			List<Cell> cells = new ArrayList<>();
			for (int t = 0; t < 10; t++) {
				cells.add(new Cell(1000 + t * 1000L, 2000 + t * 1000L, i + 1, t < 5 ? 0 : i + 1, 1, 2));
			}
			all.add(new Row("s" + i, "heap", "a.c:" + i, 0, cells, cells.get(9)));
		}
		return new LivePages(LivePages.State.RUNNING, 1000, 1000, 11000, 10, 1, all, List.of(), true, new Left(0, 0, 0, ""));
	}

	private static LivePicture picture(int rows, LivePicture.Colour colour, int height) {
		return new LivePicture(pages(rows), false, colour, WIDTH, height, 12, Palette.LIGHT);
	}

	private static boolean has(LivePicture picture, String text) {
		return picture.scene().shapes().stream().anyMatch(s -> s instanceof Shape.Text t && t.text().equals(text));
	}

	/** Colours of the cells of a row, from the left. */
	private static List<Integer> cells(LivePicture picture, int row) {
		double[] tops = picture.scene().shapes().stream().filter(s -> s instanceof Shape.Rect r && r.height() == 18 && r.width() < WIDTH / 2)
				.mapToDouble(s -> ((Shape.Rect) s).y()).distinct().toArray();
		return picture.scene().shapes().stream().filter(s -> s instanceof Shape.Rect r && r.height() == 18 && r.y() == tops[row])
				.map(s -> ((Shape.Rect) s).fill()).toList();
	}

	@Test
	void aCellForEachInterval() {
		LivePicture p = picture(3, LivePicture.Colour.PAGES, 300);
		assertEquals(List.of("s0", "s1", "s2"), p.rows().stream().map(Row::name).toList());
		for (int row = 0; row < 3; row++) {
			assertEquals(10, cells(p, row).size());
			assertEquals(1, cells(p, row).stream().distinct().count(), "as many pages all the time");
		}
		assertTrue(Palette.luminance(cells(p, 0).get(0)) > Palette.luminance(cells(p, 2).get(0)), "more pages are darker");
		assertEquals(Palette.LIGHT.heat(1), cells(p, 2).get(0));
		assertTrue(has(p, "100 %") && has(p, "3") && has(p, "3 pages"));
	}

	@Test
	void sharedPagesHaveAnotherColour() {
		List<Integer> colours = cells(picture(2, LivePicture.Colour.SHARED, 300), 0);
		assertEquals(1, colours.subList(0, 5).stream().distinct().count());
		assertEquals(1, colours.subList(5, 10).stream().distinct().count());
		assertNotEquals(colours.get(4), colours.get(5));
	}

	@Test
	void whereThereIsNoRoomTheBusiestStayInTheirOrder() {
		LivePicture p = picture(40, LivePicture.Colour.PAGES, 200);
		int n = p.rows().size();
		assertTrue(n > 2 && n < 12, n + " rows in 200 pixels");
		for (int i = 0; i < n; i++) {
			assertEquals("s" + (40 - n + i), p.rows().get(i).name());
		}
		assertTrue(has(p, "and " + (40 - n) + " more"));
		p.scene().shapes().forEach(s -> assertTrue(!(s instanceof Shape.Text t) || t.y() <= 200, s.toString()));
	}

	@Test
	void whatIsAtAPoint() {
		LivePicture p = picture(3, LivePicture.Colour.PAGES, 300);
		Shape.Rect last = (Shape.Rect) p.scene().shapes().stream().filter(s -> s instanceof Shape.Rect r && r.height() == 18)
				.reduce((a, b) -> b).orElseThrow();
		assertEquals("s2 (heap)\na.c:2\n9 µs + 1 µs\n3 pages, 3 shared, 1 written\nby 2 threads",
				p.textAt(last.x() + 1, last.y() + 1));
		assertEquals("s2 (heap)\na.c:2", p.textAt(2, last.y() + 1), "the name");
		assertEquals("", p.textAt(last.x(), 2));
		assertEquals("Most pages: s2 3 now, s1 2 now, s0 1 now", p.description());
	}

	@Test
	void beforeTheFirstInterval() {
		LivePicture p = new LivePicture(LivePages.none(), false, LivePicture.Colour.PAGES, 300, 100, 12, Palette.DARK);
		assertTrue(has(p, "pages of the last intervals, as soon as there are some"));
		assertEquals("", p.textAt(10, 50));
		new LivePicture(pages(3), true, LivePicture.Colour.PAGES, 1, 1, 12, Palette.DARK);
		new LivePicture(pages(3), false, LivePicture.Colour.SHARED, 1, 1, 12, Palette.DARK);
	}
}
