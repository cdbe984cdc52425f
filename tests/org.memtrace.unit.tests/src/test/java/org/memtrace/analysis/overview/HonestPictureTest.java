// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.engine.InitialLevel;
import org.memtrace.aggregation.engine.PartLosses;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.engine.SignificantLevels;
import org.memtrace.aggregation.engine.SpatiotemporalAggregator;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.time.Slicing;
import org.memtrace.analysis.MadeTrace;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;

/** Pictures that told a wrong story once, each as a made trace: what they must show now. */
class HonestPictureTest {
	private static final int QUARTER = 64;

	private record Made(Picture picture, MicroscopicModel model, RowLayout layout, PartLosses losses, Partition partition,
			PictureOptions options) {
		/** First page of a structure. */
		int leaf(AccessTable table, String name) {
			for (int id = 0; id < table.producers().size(); id++) {
				if (table.producers().name(id).equals(name)) {
					return model.hierarchy().leafFrom(model.hierarchy().nodeOf(id));
				}
			}
			throw new AssertionError(name);
		}

		List<String> texts() {
			return picture.scene().shapes().stream().filter(s -> s instanceof Shape.Text).map(s -> ((Shape.Text) s).text()).toList();
		}
	}

	/** The default picture of a table, as render and the workbench make it. */
	private static Made picture(TraceStore store, AccessTable table, Dimension viewpoint, Slicing slicing, double p, boolean proportional,
			PictureOptions o) throws Exception {
		AccessModels models = new AccessModels(table);
		MicroscopicModel m = models.model(models.wholeRequest().withViewpoint(viewpoint).withSlicing(slicing), Progress.NONE);
		NodeNames names = new NodeNames(m.hierarchy(), table.producers(), store.structures());
		RowLayout layout = proportional ? RowLayout.proportional(m.hierarchy(), names) : RowLayout.of(m, names);
		PartLosses losses = PartLosses.of(m, layout.largeSections(), false);
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(m, layout.aggregation(m.sliceCount(), o.height * 0.86, 2), Progress.NONE);
		Partition partition = p >= 0 ? a.partition(p) : SignificantLevels.balanced(a, losses, Progress.NONE).partition();
		o.originNs = store.info().startNs();
		o.title = "made";
		o.losses = losses;
		o.firstTouch = FirstTouchLayer.Shown.AUTO.in(viewpoint) ? FirstTouchLayer.of(table, Progress.NONE) : null;
		return new Made(PictureBuilder.build(partition, names, layout, o), m, layout, losses, partition, o);
	}

	private static Made picture(TraceStore store, Dimension viewpoint, Slicing slicing) throws Exception {
		return picture(store, AccessTable.load(store, Progress.NONE), viewpoint, slicing, -1, false, new PictureOptions());
	}

	/** The serial stencil: the main thread touches all in 1 % of the run, then each quarter belongs to a thread of its own. */
	private static TraceStore serialStencil() throws Exception {
		MadeTrace t = new MadeTrace(4, 500, 20_000_000);
		int grid = t.structure("grid", 4 * QUARTER);
		for (int i = 0; i < 500; i++) {
			for (int page = 0; page < 4 * QUARTER; page++) {
				if (i < 5) {
					if (page * 5 / (4 * QUARTER) == i) {
						t.access(i, grid, page, 0, 0, 1);
					}
				} else {
					t.access(i, grid, page, page / QUARTER, 1, 1);
				}
			}
		}
		return t.open();
	}

	/** Pages of the quarters of others on which the main thread is the strongest in what is drawn before a time. */
	private static int serialPages(Made made, long untilNs) {
		Set<Integer> pages = new HashSet<>();
		for (Picture.Drawn d : made.picture.drawn()) {
			double[] sums = made.model.sums(d.leafFrom(), d.leafTo(), d.firstSlice(), d.endSlice());
			if (made.model.slices().boundNs(d.firstSlice()) < untilNs && sums[0] > sums[1] && sums[0] > sums[2] && sums[0] > sums[3]) {
				for (int leaf = d.leafFrom(); leaf < d.leafTo(); leaf++) {
					if (leaf >= QUARTER) {
						pages.add(leaf);
					}
				}
			}
		}
		return pages.size();
	}

	@Test
	void serialInitialisationIsSeenInTheDefaultPicture() throws Exception {
		try (TraceStore store = serialStencil()) {
			long phase = MadeTrace.START_NS + 100_000_000;
			assertEquals(0, serialPages(picture(store, BasicDimensions.THREAD, Slicing.UNIFORM), phase), "what uniform slices hide");
			Made made = picture(store, BasicDimensions.THREAD, Slicing.ADAPTIVE);
			assertTrue(serialPages(made, phase) >= 0.9 * 3 * QUARTER, serialPages(made, phase) + " pages of " + 3 * QUARTER);
			// the column of first touches is the main thread's from top to bottom
			int main = Palette.LIGHT.color(made.model.types().get(0));
			double covered = 0;
			for (Shape s : made.picture.scene().shapes()) {
				if (s instanceof Shape.Rect r && r.x() < made.picture.plotX() && r.x() + r.width() > made.picture.plotX() - 5
						&& r.y() >= made.picture.plotY() && r.fill() == main) {
					covered += r.height();
				}
			}
			assertEquals(made.picture.plotHeight(), covered, 1);
			assertTrue(made.texts().stream().anyMatch(x -> x.startsWith("first touch")), made.texts().toString());
		}
	}

	/** A phase of 1 % of the run with a fifth of the first touches, in the middle of steady use. */
	@Test
	void aShortPhaseWithManyFirstTouchesIsSeen() throws Exception {
		MadeTrace t = new MadeTrace(4, 400, 1_000_000);
		int used = t.structure("used", 160);
		int late = t.structure("late", 40);
		for (int i = 0; i < 400; i++) {
			for (int page = 0; page < 160; page++) {
				t.access(i, used, page, page % 3 + 1, 2, 0);
			}
			for (int page = 0; page < 40; page++) {
				if (i >= 200 && i < 204) {
					t.access(i, late, page, 0, 0, 1);
				} else if (i >= 204) {
					t.access(i, late, page, 1, 1, 0);
				}
			}
		}
		try (TraceStore store = t.open()) {
			AccessTable table = AccessTable.load(store, Progress.NONE);
			for (Slicing slicing : Slicing.values()) {
				Made made = picture(store, table, BasicDimensions.THREAD, slicing, -1, false, new PictureOptions());
				int leaf = made.leaf(table, "late");
				boolean seen = false;
				for (Picture.Drawn d : made.picture.drawn()) {
					double[] sums = made.model.sums(d.leafFrom(), d.leafTo(), d.firstSlice(), d.endSlice());
					seen |= d.leafFrom() >= leaf && d.leafTo() <= leaf + 40 && sums[0] > sums[1]
							&& made.model.slices().boundNs(d.firstSlice()) >= MadeTrace.START_NS + 200_000_000
							&& made.model.slices().boundNs(d.endSlice()) <= MadeTrace.START_NS + 204_000_000;
				}
				assertEquals(slicing == Slicing.ADAPTIVE, seen, slicing.id());
			}
		}
	}

	/** All threads use all pages alike: no block may look like a part of its own, however low it is. */
	@ParameterizedTest
	@CsvSource({"1200,800", "640,400", "500,240", "300,200", "230,360", "1000,150"})
	void mixturesAreNoBands(int width, int height) throws Exception {
		MadeTrace t = new MadeTrace(4, 50, 1_000_000);
		int all = t.structure("all", 64);
		int[] rows = new int[30];
		for (int s = 0; s < rows.length; s++) {
			rows[s] = t.structure("small " + s, 1);
		}
		for (int i = 0; i < 50; i++) {
			for (int thread = 0; thread < 4; thread++) {
				for (int page = 0; page < 64; page++) {
					t.access(i, all, page, thread, 4, 0);
				}
				for (int s : rows) {
					t.access(i, s, 0, thread, thread == s % 4 ? 7 : 4, 0);
				}
			}
		}
		try (TraceStore store = t.open()) {
			PictureOptions o = new PictureOptions();
			o.width = width;
			o.height = height;
			Made made = picture(store, AccessTable.load(store, Progress.NONE), BasicDimensions.THREAD, Slicing.ADAPTIVE, -1, false, o);
			Set<Integer> plain = new HashSet<>();
			for (ModelType type : made.model.types()) {
				for (int i = 0; i <= 1000; i++) {
					plain.add(o.palette.shade(type, i / 1000.0));
				}
			}
			int mosaics = 0;
			for (Shape s : made.picture.scene().shapes()) {
				boolean inPlot = s instanceof Shape.Rect r && r.x() >= made.picture.plotX() && r.y() < made.picture.plotY() + made.picture.plotHeight()
						&& r.width() > 10;
				assertFalse(inPlot && plain.contains(((Shape.Rect) s).fill()), "a plain block: " + s);
				if (s instanceof Shape.Mosaic m && m.y() < made.picture.plotY() + made.picture.plotHeight()) {
					mosaics++;
					assertEquals(4, new HashSet<>(m.colors()).size());
					for (int x = 0; x < 8; x++) {
						Set<Integer> row = new HashSet<>();
						Set<Integer> column = new HashSet<>();
						for (int y = 0; y < 8; y++) {
							row.add(m.color(y, x));
							column.add(m.color(x, y));
						}
						assertEquals(4, row.size(), "a row of squares has all types");
						assertEquals(4, column.size(), "and so has a column");
					}
				}
			}
			assertTrue(mosaics > 0);
			assertTrue(made.texts().stream().anyMatch(x -> x.startsWith("mixture")), "the legend says what it is: " + made.texts());
		}
	}

	/**
	 * Rows of several pixels have room for two or three rows of squares only. There, too, a type with at most half of the accesses has no
	 * lines from top to bottom, which would look like parts of time; and in no direction has it a line of more than three squares.
	 */
	@Test
	void lowMosaicsAreNoPartsOfTime() {
		for (List<Integer> colors : List.of(List.of(1, 1, 1, 1, 2, 2, 2, 2), List.of(1, 1, 1, 1, 2, 2, 2, 3), List.of(1, 1, 2, 2, 3, 3, 4, 4),
				List.of(1, 1, 1, 1, 1, 2, 2, 2), List.of(1, 1, 1, 2, 2, 2, 3, 3))) {
			Shape.Mosaic m = new Shape.Mosaic(0, 0, 64, 4, colors);
			for (int row = 0; row < 32; row++) {
				for (int column = 0; column < 8; column++) {
					int color = m.color(column, row);
					if (colors.stream().filter(c -> c == color).count() > 4) {
						continue;
					}
					for (int by = -1; by <= 1; by++) {
						boolean line = true;
						for (int i = 1; i <= 3; i++) {
							line &= m.color(column + by * i + 32, row + i) == color;
						}
						assertFalse(line, colors + ": a line of four from column " + column + ", row " + row + " by " + by);
					}
				}
			}
		}
		Shape.Mosaic halves = new Shape.Mosaic(0, 0, 64, 4, List.of(1, 1, 1, 1, 2, 2, 2, 2));
		for (int row = 0; row < 2; row++) {
			for (int column = 0; column < 8; column++) {
				assertTrue(halves.color(column, row) != halves.color(column, row + 1), "a line in time: column " + column + ", rows " + row + " and "
						+ (row + 1));
			}
		}
	}

	/** Areas of a mosaic are the shares, rounded to eighths, in any rectangle that has room for them. */
	@Test
	void areasOfAMosaicAreShares() {
		List<Integer> colors = List.of(1, 1, 1, 1, 1, 2, 2, 3);
		for (double[] size : new double[][] {{160, 80}, {17.5, 64}, {64, 3}, {3, 64}, {16, 16}}) {
			Shape.Mosaic m = new Shape.Mosaic(10, 20, size[0], size[1], colors);
			double[] area = new double[4];
			m.squares((x0, y0, x1, y1, c) -> {
				assertTrue(x0 >= 10 && y0 >= 20 && x1 <= 10 + size[0] && y1 <= 20 + size[1] && x1 > x0 && y1 > y0);
				area[c] += (x1 - x0) * (y1 - y0);
			});
			double all = size[0] * size[1];
			assertEquals(0.25, area[2] / all, 0.04, size[0] + " x " + size[1]);
			assertEquals(0.125, area[3] / all, 0.04, size[0] + " x " + size[1]);
			assertEquals(0, area[1]);
		}
	}

	/** 3,840 accesses on as many cells as a dense block: the strength of the colour tells them apart, and the scale says what it cuts. */
	@Test
	void sparseIsNotDense() throws Exception {
		MadeTrace t = new MadeTrace(1, 100, 10_000_000);
		int sparse = t.structure("sparse", 128);
		int dense = t.structure("dense", 128);
		int hot = t.structure("hot", 4);
		for (int i = 0; i < 100; i++) {
			for (int page = 0; page < 128; page++) {
				if ((page * 37 + i * 61) % 25 == 0) {
					t.access(i, sparse, page, 0, 1, 0);
				}
				t.access(i, dense, page, 0, 10, 0);
			}
			for (int page = 0; page < 4; page++) {
				t.access(i, hot, page, 0, 99, 0);
			}
		}
		try (TraceStore store = t.open()) {
			AccessTable table = AccessTable.load(store, Progress.NONE);
			Made made = picture(store, table, BasicDimensions.READ_WRITE, Slicing.ADAPTIVE, 0.9, false, new PictureOptions());
			MicroscopicModel.Densities d = made.model.densities();
			assertEquals(10.0 / 10_000_000, d.reference(), 1e-12);
			assertEquals(99.0 / 10_000_000, d.most(), 1e-12);
			assertTrue(d.above() > 0 && d.above() < 0.05, "above " + d.above());
			int none = Palette.LIGHT.plotBackground();
			ModelType read = made.model.types().get(0);
			int pale = Palette.LIGHT.shade(read, Palette.intensity(0.04, 10));
			int full = Palette.LIGHT.shade(read, 1);
			assertTrue(Palette.contrast(none, pale) > 1.05, "seen: " + Palette.contrast(none, pale));
			assertTrue(Palette.difference(full, pale) >= 10, "plain at a glance: " + Palette.difference(full, pale));
			List<String> texts = made.texts();
			assertTrue(texts.contains("0") && texts.contains("≥ 1"), "ticks: " + texts);
			assertTrue(texts.stream().anyMatch(x -> x.contains("records per page and ms; ") && x.contains(" have more, up to 9.9")),
					texts.toString());
		}
	}

	/** B has 95 % of the accesses; A is a diagonal. One number for all says little of A. */
	@Test
	void lossOfEachStructureIsToldAndBounded() throws Exception {
		MadeTrace t = new MadeTrace(2, 48, 10_000_000);
		int a = t.structure("A", 48);
		int b = t.structure("B", 48);
		for (int i = 0; i < 48; i++) {
			t.access(i, a, i, 0, 40, 0);
			for (int page = 0; page < 48; page++) {
				t.access(i, b, page, 1, 20 + (page * 7 + i * 5) % 3, 0);
			}
		}
		try (TraceStore store = t.open()) {
			AccessTable table = AccessTable.load(store, Progress.NONE);
			Made coarse = picture(store, table, BasicDimensions.READ_WRITE, Slicing.ADAPTIVE, 0.97, false, new PictureOptions());
			int[] parts = coarse.layout.largeSections();
			int first = parts[0] == coarse.model.hierarchy().nodeOf(1) ? 0 : 1;
			assertTrue(coarse.losses.percent(coarse.partition, first) > 90, "A lost its diagonal: "
					+ coarse.losses.percent(coarse.partition, first));
			assertTrue(coarse.texts().stream().anyMatch(x -> x.matches(".*loss (9\\d|100) %")), "it is written beside A: " + coarse.texts());
			PictureOptions narrow = new PictureOptions();
			narrow.width = 300;
			Made little = picture(store, table, BasicDimensions.READ_WRITE, Slicing.ADAPTIVE, 0.97, false, narrow);
			assertTrue(little.texts().stream().anyMatch(x -> x.matches("loss (9\\d|100) %")), "also where there is little room: " + little.texts());
			// where A is a block of its own, the block is marked
			boolean own = false;
			for (double p = 0.05; p < 0.97; p += 0.05) {
				Made m = picture(store, table, BasicDimensions.READ_WRITE, Slicing.ADAPTIVE, p, false, new PictureOptions());
				for (int block = 0; block < m.partition.blockCount(); block++) {
					if (m.partition.node(block) == 1 && m.partition.endSlice(block) - m.partition.firstSlice(block) == m.model.sliceCount()) {
						own = true;
						double x = m.picture.plotX() + m.picture.plotWidth() - 1;
						double y = m.picture.yOf(m.partition.leafFrom(block));
						assertTrue(m.picture.scene().shapes().stream().anyMatch(s -> s instanceof Shape.Polygon c && Math.abs(c.points()[2] - x) < 0.5
								&& Math.abs(c.points()[1] - y) < 0.5), "no mark at p = " + p);
						assertTrue(m.texts().stream().anyMatch(said -> said.matches("[45]\\d(\\.\\d)? %")), m.texts().toString());
					}
				}
			}
			assertTrue(own, "A is one block at no p");
			Made made = picture(store, BasicDimensions.READ_WRITE, Slicing.ADAPTIVE);
			for (int part = 0; part < made.losses.count(); part++) {
				assertTrue(made.losses.percent(made.partition, part) <= 100 * InitialLevel.MOST_LOSS_OF_PART, "part " + part);
			}
		}
	}

	/** One page beside a thousand is raised, which is marked; proportional heights are a choice without marks. */
	@Test
	void heightsThatAreNotToScaleAreMarked() throws Exception {
		MadeTrace t = new MadeTrace(1, 20, 1_000_000);
		int large = t.structure("large", 1000);
		int small = t.structure("small", 1);
		for (int i = 0; i < 20; i++) {
			for (int page = 0; page < 1000; page++) {
				t.access(i, large, page, 0, 1, 0);
			}
			t.access(i, small, 0, 0, 500, 0);
		}
		try (TraceStore store = t.open()) {
			AccessTable table = AccessTable.load(store, Progress.NONE);
			Made readable = picture(store, table, BasicDimensions.THREAD, Slicing.ADAPTIVE, -1, false, new PictureOptions());
			Made proportional = picture(store, table, BasicDimensions.THREAD, Slicing.ADAPTIVE, -1, true, new PictureOptions());
			assertTrue(readable.layout.magnification(1) > 10, "" + readable.layout.magnification(1));
			assertEquals(1, readable.layout.magnification(0));
			assertTrue(readable.texts().contains("rows higher than to scale"));
			assertEquals(1, proportional.layout.magnification(1), 1e-9);
			assertFalse(proportional.texts().contains("rows higher than to scale"));
			for (int leaf = 0; leaf < 1001; leaf++) {
				assertEquals(proportional.picture.plotHeight() / 1001, proportional.picture.yOf(leaf + 1) - proportional.picture.yOf(leaf), 1e-6);
			}
		}
	}

	/** What a filter hides is gone: rows, loss and reduction are those of a trace that never had it. */
	@Test
	void filtersRebuildTheTree() throws Exception {
		TraceStore[] stores = new TraceStore[2];
		for (int which = 0; which < 2; which++) {
			MadeTrace t = new MadeTrace(2, 30, 1_000_000);
			int a = which == 0 ? t.structure("A", 200) : -1;
			int c = t.structure("C", 32);
			for (int i = 0; i < 30; i++) {
				for (int page = 0; which == 0 && page < 200; page++) {
					t.access(i, a, page, 1, 3, 1);
				}
				t.access(i, c, i, 0, 0, 9);
			}
			stores[which] = t.open();
		}
		try (TraceStore store = stores[0]; TraceStore alone = stores[1]) {
			AccessTable all = AccessTable.load(store, Progress.NONE);
			AccessTable filtered = FilterSet.parse("{\"by\":\"name\",\"pattern\":\"^C$\"}").apply(all, store.structures(), Progress.NONE);
			AccessTable only = FilterSet.parse("{\"by\":\"thread\",\"threads\":[0]}").apply(AccessTable.load(alone, Progress.NONE),
					alone.structures(), Progress.NONE);
			Made hidden = picture(store, filtered, BasicDimensions.READ_WRITE, Slicing.ADAPTIVE, 0.3, false, new PictureOptions());
			Made never = picture(alone, only, BasicDimensions.READ_WRITE, Slicing.ADAPTIVE, 0.3, false, new PictureOptions());
			assertEquals(30, hidden.model.hierarchy().leafCount(), "pages with accesses that pass");
			assertEquals(never.model.hierarchy().leafCount(), hidden.model.hierarchy().leafCount());
			assertEquals(never.partition.lossPercent(), hidden.partition.lossPercent(), 1e-9);
			assertEquals(never.partition.reductionPercent(), hidden.partition.reductionPercent(), 1e-9);
			assertEquals(232, new AccessModels(all).hierarchy(ModelRequest.WHOLE_TREE, Progress.NONE).leafCount());
			List<Picture.Drawn> blank = new ArrayList<>();
			for (int leaf = 0; leaf < 30; leaf++) {
				double sum = 0;
				for (double s : hidden.model.sums(leaf, leaf + 1, 0, hidden.model.sliceCount())) {
					sum += s;
				}
				if (sum == 0) {
					blank.add(new Picture.Drawn(leaf, leaf + 1, 0, 1, -1));
				}
			}
			assertTrue(blank.isEmpty(), "blank rows: " + blank);
		}
	}
}
