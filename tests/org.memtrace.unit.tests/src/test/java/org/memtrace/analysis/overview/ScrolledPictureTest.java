// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.engine.SpatiotemporalAggregator;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.analysis.MadeTrace;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;

/** Rows that are at least as high as a line, and a picture that shows a part of them. */
class ScrolledPictureTest {
	private static final int SMALL = 70;
	private static final int LARGE_PAGES = 600;
	private static final double FONT = 12;
	private static TraceStore store;
	private static AccessTable table;

	@BeforeAll
	static void make() throws Exception {
		MadeTrace t = new MadeTrace(3, 20, 1_000_000);
		int[] small = new int[SMALL];
		for (int s = 0; s < SMALL; s++) {
			small[s] = t.structure("small" + s, 1 + s % 3);
		}
		int large = t.structure("large", LARGE_PAGES);
		for (int i = 0; i < 20; i++) {
			for (int s = 0; s < SMALL; s++) {
				t.access(i, small[s], s % (1 + s % 3), s % 3, 1, i % 2);
			}
			for (int page = 0; page < LARGE_PAGES; page++) {
				t.access(i, large, page, (i + page / 50) % 3, 1, 0);
			}
		}
		store = t.open();
		table = AccessTable.load(store, Progress.NONE);
	}

	@AfterAll
	static void close() throws Exception {
		store.close();
	}

	private record Made(MicroscopicModel model, NodeNames names, RowLayout layout, Partition partition) {
		Picture part(double rowsTop) {
			return part(rowsTop, null);
		}

		Picture part(double rowsTop, FirstTouchLayer touches) {
			PictureOptions o = options();
			o.scrolled = true;
			o.rowsTop = rowsTop;
			o.firstTouch = touches;
			return PictureBuilder.build(partition, names, layout, o);
		}

		Picture whole() {
			return PictureBuilder.whole(partition, names, layout, options());
		}
	}

	private static PictureOptions options() {
		PictureOptions o = new PictureOptions();
		o.width = 900;
		o.height = 500;
		o.fontSize = FONT;
		o.originNs = store.info().startNs();
		return o;
	}

	private static Made made(Dimension viewpoint, double scale) throws Exception {
		AccessModels models = new AccessModels(table);
		MicroscopicModel m = models.model(models.wholeRequest().withViewpoint(viewpoint).withSlices(20), Progress.NONE);
		NodeNames names = new NodeNames(m.hierarchy(), table.producers(), store.structures());
		RowLayout layout = RowHeights.LINES.layout(m.hierarchy(), names, scale);
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(m, layout.aggregation(20, layout.height(FONT), 2), Progress.NONE);
		return new Made(m, names, layout, a.partition(0.1));
	}

	@Test
	void noStructureIsLowerThanALineAndTheOthersAreToScale() throws Exception {
		for (double scale : new double[] {0.1, 1, 7}) {
			Made made = made(BasicDimensions.TYPE, scale);
			Hierarchy h = made.model().hierarchy();
			double all = made.layout().height(FONT);
			double page = 0;
			for (int n : made.layout().sectionNodes()) {
				double height = all * made.layout().height(h.leafFrom(n), h.leafTo(n));
				assertTrue(height >= 1.8 * FONT - 1e-6, made.names().name(n) + ": " + height);
				page = Math.max(page, made.names().name(n).startsWith("large") ? height / LARGE_PAGES : 0);
			}
			// 60 lines of a font for all pages together
			assertEquals(60 * FONT * scale / h.weight(0), page, 1e-6, "scale " + scale);
		}
		assertEquals(0, RowLayout.of(made(BasicDimensions.TYPE, 1).model().hierarchy(), made(BasicDimensions.TYPE, 1).names()).height(FONT));
	}

	/** Whatever is above the rows that are shown, each point of the part is what it is in the whole picture. */
	@Test
	void partsAreThoseOfTheWholePicture() throws Exception {
		Made made = made(BasicDimensions.THREAD, 1);
		Picture whole = made.whole();
		assertFalse(whole.isPart());
		assertTrue(whole.scene().height() > 1500, "" + whole.scene().height());
		assertEquals(whole.plotHeight(), whole.rowsHeight());
		Picture first = made.part(0);
		assertTrue(first.isPart());
		assertEquals(500, first.scene().height());
		assertEquals(made.layout().height(FONT), first.rowsHeight(), 1e-6);
		assertEquals(whole.plotX(), first.plotX(), "names have the same room wherever one is");
		double last = first.rowsHeight() - first.plotHeight();
		Hierarchy h = made.model().hierarchy();
		int seen = 0;
		for (double top : new double[] {0, 1, 333, 900, last, 1e9}) {
			Picture part = made.part(top);
			assertEquals(Math.min(top, last), part.rowsTop(), 0.5);
			for (int leaf = 0; leaf < h.leafCount(); leaf++) {
				double y = (part.yOf(leaf) + part.yOf(leaf + 1)) / 2;
				double inWhole = (whole.yOf(leaf) + whole.yOf(leaf + 1)) / 2;
				assertEquals(part.yOf(leaf + 1) > part.plotY() && part.yOf(leaf) < part.plotY() + part.plotHeight(), part.isSeen(leaf, leaf + 1));
				for (int slice = 0; slice < made.model().sliceCount(); slice += 3) {
					double x = (part.xOfSlice(slice) + part.xOfSlice(slice + 1)) / 2;
					Picture.Hit there = whole.hit(x, inWhole);
					if (y > part.plotY() && y < part.plotY() + part.plotHeight()) {
						assertEquals(there, part.hit(x, y), "leaf " + leaf + " at " + top);
						seen++;
					}
					assertTrue(part.hitCell(leaf, slice).leafFrom() <= leaf && leaf < part.hitCell(leaf, slice).leafTo());
				}
			}
		}
		assertTrue(seen > 1000, "" + seen);
	}

	/** Nothing of other rows lies over title, axis and legend. */
	@Test
	void nothingIsDrawnOutsideOfThePlot() throws Exception {
		Made made = made(BasicDimensions.TYPE, 1);
		FirstTouchLayer touches = FirstTouchLayer.of(table, Progress.NONE);
		Set<String> names = new TreeSet<>();
		double step = made.part(0).plotHeight() * 0.8;
		for (double top = 0; top < made.layout().height(FONT); top += step) {
			Picture part = made.part(top, touches);
			double bottom = part.plotY() + part.plotHeight();
			double strip = part.plotX() + part.plotWidth();
			for (Shape s : part.scene().shapes()) {
				double[] y = switch (s) {
				case Shape.Rect r -> new double[] {r.y(), r.y() + r.height()};
				case Shape.Mosaic m -> new double[] {m.y(), m.y() + m.height()};
				case Shape.Hatch m -> new double[] {m.y(), m.y() + m.height()};
				default -> null;
				};
				if (y != null && y[0] < bottom - 0.01) {
					assertTrue(y[0] >= part.plotY() - 0.01 && y[1] <= bottom + 0.51, top + ": " + s);
				}
			}
			for (Picture.Strip s : part.strips()) {
				assertTrue(s.y() >= part.plotY() && s.y() + s.height() <= bottom + 0.01 && s.x() < strip, s.toString());
			}
			List<String> texts = part.scene().shapes().stream().filter(s -> s instanceof Shape.Text t && t.y() > part.plotY() && t.y() < bottom)
					.map(s -> ((Shape.Text) s).text()).toList();
			names.addAll(texts.stream().filter(t -> t.matches("small\\d+|large")).toList());
		}
		assertEquals(SMALL + 1, names.size(), "each structure has its name at some place: " + names);
	}

	/** Other heights fit in, and are drawn as they were. */
	@Test
	void withoutThatNothingIsScrolled() throws Exception {
		Made lines = made(BasicDimensions.TYPE, 1);
		RowLayout layout = RowLayout.of(lines.model(), lines.names());
		Made made = new Made(lines.model(), lines.names(), layout, lines.partition());
		assertFalse(made.part(100).isPart());
		assertEquals(0, made.part(100).rowsTop());
		assertEquals(shapes(made.part(100)), shapes(PictureBuilder.build(made.partition(), made.names(), layout, options())));
		assertEquals(500, made.whole().scene().height());
	}

	/** Those that can be compared. */
	private static List<Shape> shapes(Picture picture) {
		return picture.scene().shapes().stream().filter(s -> !(s instanceof Shape.Polygon)).toList();
	}

	@Test
	void idsAreFound() {
		for (RowHeights h : RowHeights.values()) {
			assertEquals(h, RowHeights.byId(h.id()));
		}
		assertEquals(null, RowHeights.byId("other"));
	}
}
