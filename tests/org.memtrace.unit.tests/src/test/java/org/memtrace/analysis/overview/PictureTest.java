// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.awt.image.BufferedImage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.converter.ConvertWith;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.engine.SignificantLevels;
import org.memtrace.aggregation.engine.SpatiotemporalAggregator;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.findings.Advisor;
import org.memtrace.analysis.findings.Finding;
import org.memtrace.analysis.findings.TraceSummary;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.analysis.scene.PngWriter;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.table.StructureTable;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;

/** Pictures of a made-up matrix multiplication: what is where, and nothing on top of something else. */
class PictureTest {
	private static TraceStore store;
	private static AccessTable table;

	@BeforeAll
	static void load() throws Exception {
		store = SyntheticTrace.matrixMultiplication(64, 60);
		table = AccessTable.load(store, Progress.NONE);
	}

	private record Made(Picture picture, NodeNames names, SignificantLevels levels) {
	}

	private static Made make(Dimension viewpoint, double p, PictureOptions o) throws Exception {
		AccessModels models = new AccessModels(table);
		MicroscopicModel m = models.model(models.wholeRequest().withViewpoint(viewpoint).withSlices(30), Progress.NONE);
		NodeNames names = new NodeNames(m.hierarchy(), table.producers(), store.structures());
		RowLayout layout = RowLayout.of(m, names);
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(m, layout.aggregation(30, 600, 2), Progress.NONE);
		o.originNs = store.info().startNs();
		o.title = "matmul";
		return new Made(PictureBuilder.build(a.partition(p), names, layout, o), names,
				SignificantLevels.compute(a, Progress.NONE));
	}

	@ParameterizedTest
	@CsvSource({"1200,800,type", "600,400,thread", "2400,1600,cpu", "300,200,type", "800,300,node", "640,900,rw"})
	void textsDoNotOverlapAndStayInside(int width, int height, @ConvertWith(ToDimension.class) Dimension viewpoint) throws Exception {
		PictureOptions o = new PictureOptions();
		o.width = width;
		o.height = height;
		o.warning = "the recorder lost 12 accesses";
		List<double[]> boxes = new ArrayList<>();
		List<String> texts = new ArrayList<>();
		for (Shape s : make(viewpoint, 0.3, o).picture().scene().shapes()) {
			if (s instanceof Shape.Text t && !t.text().isEmpty()) {
				double w = TextMeter.DEFAULT.width(t.text(), t.size(), t.bold());
				double x = t.anchor() == Shape.Anchor.START ? t.x() : t.anchor() == Shape.Anchor.END ? t.x() - w : t.x() - w / 2;
				double[] box = {x, t.y() - 0.72 * t.size(), x + w, t.y() + 0.1 * t.size()};
				assertTrue(box[0] >= -0.5 && box[2] <= width + 0.5 && box[1] >= 0 && box[3] <= height,
						"outside: " + t.text() + " at " + box[0] + ".." + box[2]);
				for (int i = 0; i < boxes.size(); i++) {
					double[] other = boxes.get(i);
					assertFalse(box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3],
							"'" + t.text() + "' over '" + texts.get(i) + "'");
				}
				boxes.add(box);
				texts.add(t.text());
			}
		}
		assertTrue(texts.stream().anyMatch(t -> t.contains("information loss")) || width < 400, texts.toString());
	}

	@Test
	void everyCellIsDrawnOnce() throws Exception {
		for (double p : new double[] {0, 0.05, 0.3, 0.9}) {
			Made made = make(BasicDimensions.TYPE, p, new PictureOptions());
			MicroscopicModel m = made.picture().model();
			int[][] count = new int[m.hierarchy().leafCount()][m.sliceCount()];
			for (Picture.Drawn d : made.picture().drawn()) {
				for (int l = d.leafFrom(); l < d.leafTo(); l++) {
					for (int t = d.firstSlice(); t < d.endSlice(); t++) {
						count[l][t]++;
					}
				}
			}
			for (int[] row : count) {
				for (int c : row) {
					assertEquals(1, c, "p = " + p);
				}
			}
		}
	}

	/** What is hatched holds several blocks; lines say whether one of them begins or ends inside of what is drawn. */
	@Test
	void hatchingTellsWhatIsInside() throws Exception {
		int seen = 0;
		for (int height : new int[] {120, 200, 300}) {
			PictureOptions o = new PictureOptions();
			o.width = 260;
			o.height = height;
			Picture picture = make(BasicDimensions.THREAD, 0.05, o).picture();
			Partition partition = picture.partition();
			for (Shape s : picture.scene().shapes()) {
				if (!(s instanceof Shape.Hatch h) || h.y() > picture.plotY() + picture.plotHeight()) {
					continue;
				}
				Picture.Hit hit = picture.hit(h.x() + h.width() / 2, h.y() + h.height() / 2);
				int inside = 0;
				boolean cut = false;
				for (int b = 0; b < partition.blockCount(); b++) {
					if (partition.leafFrom(b) < hit.leafTo() && partition.leafTo(b) > hit.leafFrom()
							&& partition.firstSlice(b) < hit.endSlice() && partition.endSlice(b) > hit.firstSlice()) {
						inside++;
						cut |= partition.firstSlice(b) > hit.firstSlice() || partition.endSlice(b) < hit.endSlice();
					}
				}
				assertTrue(inside > 1, "hatched, but one block");
				assertEquals(h.style() == Shape.HatchStyle.IN_TIME_TOO, cut, "cut in time at slice " + hit.firstSlice());
				seen++;
			}
		}
		assertTrue(seen > 3, seen + " hatched areas");
	}

	/** As one of two pictures beside each other in a small window. */
	@ParameterizedTest
	@CsvSource({"230,360,type", "320,400,type", "230,360,rw", "400,400,thread"})
	void narrowPictureNamesAllTypes(int width, int height, @ConvertWith(ToDimension.class) Dimension viewpoint) throws Exception {
		PictureOptions o = new PictureOptions();
		o.width = width;
		o.height = height;
		Picture picture = make(viewpoint, 0.3, o).picture();
		double[] totals = picture.model().totals();
		for (int k = 0; k < totals.length; k++) {
			int type = k;
			assertTrue(totals[k] == 0 || picture.legend().stream().anyMatch(i -> i.type() == type), "type " + k);
		}
		for (Picture.LegendItem i : picture.legend()) {
			assertEquals(i.type(), picture.legendAt(i.x() + i.width() / 2, i.y() + i.height() / 2));
			assertTrue(i.y() > picture.plotY() + picture.plotHeight() && i.x() + i.width() <= width, "legend item at " + i.x());
		}
	}

	@Test
	void legendTellsWhereItsTypesAre() throws Exception {
		PictureOptions o = new PictureOptions();
		o.hiddenTypes.set(1);
		Picture picture = make(BasicDimensions.TYPE, 0.3, o).picture();
		assertEquals(4, picture.legend().size());
		for (Picture.LegendItem item : picture.legend()) {
			assertEquals(item.type(), picture.legendAt(item.x() + item.width() / 2, item.y() + item.height() / 2));
		}
		assertEquals(-1, picture.legendAt(picture.plotX(), picture.plotY()));
		int hidden = o.palette.color(picture.model().types().get(1));
		assertFalse(picture.scene().shapes().stream().anyMatch(s -> s instanceof Shape.Rect r && r.fill() == hidden));
	}

	/** Small blocks drawn together must not hide where they begin and end: the diagonal of C stays a diagonal. */
	@Test
	void diagonalsSurviveSmallPictures() throws Exception {
		PictureOptions o = new PictureOptions();
		o.width = 500;
		o.height = 220;
		o.minBlockHeight = 6;
		AccessModels models = new AccessModels(table);
		MicroscopicModel m = models.model(models.wholeRequest().withSlices(30), Progress.NONE);
		NodeNames names = new NodeNames(m.hierarchy(), table.producers(), store.structures());
		RowLayout layout = RowLayout.proportional(m.hierarchy(), names);
		Picture picture = PictureBuilder.build(SpatiotemporalAggregator.prepare(m).partition(0.2), names, layout, o);
		// first thread's rows of C: early pages are drawn early, not over the whole time
		int c = m.hierarchy().leafFrom(m.hierarchy().nodeOf(structure("C")));
		for (Picture.Drawn d : picture.drawn()) {
			if (d.leafFrom() >= c && d.leafTo() <= c + 16 && d.endSlice() - d.firstSlice() > 15) {
				double[] sums = m.sums(d.leafFrom(), d.leafTo(), d.firstSlice(), d.endSlice());
				assertEquals(0, sums[0] + sums[1], 1e-9, "a long piece with accesses: " + d);
			}
		}
	}

	private static int structure(String name) {
		for (int id = 0; id < table.producers().size(); id++) {
			if (table.producers().name(id).equals(name)) {
				return id;
			}
		}
		throw new AssertionError(name);
	}

	@Test
	void hitTesting() throws Exception {
		Made made = make(BasicDimensions.TYPE, 0.3, new PictureOptions());
		Picture picture = made.picture();
		MicroscopicModel m = picture.model();
		int b = m.hierarchy().nodeOf(structure("B"));
		double y = (picture.yOf(m.hierarchy().leafFrom(b)) + picture.yOf(m.hierarchy().leafTo(b))) / 2;
		Picture.Hit hit = picture.hit(picture.plotX() + picture.plotWidth() * 0.8, y);
		assertEquals(Picture.Area.PLOT, hit.area());
		assertEquals(b, hit.node());
		BlockInfo info = BlockInfo.of(picture, hit, made.names());
		assertEquals(ModelType.Role.SHARED_READ, info.shares().get(0).type().role());
		assertEquals(64, info.pages());
		List<String> lines = info.lines(store.info(), BlockInfo.details(table, picture, hit, Progress.NONE), table.threads());
		assertTrue(lines.get(0).startsWith("B [heap 256"), lines.toString());
		assertTrue(lines.stream().anyMatch(l -> l.startsWith("4 threads: worker #1")), lines.toString());
		assertTrue(lines.stream().anyMatch(l -> l.contains("matmul.c:49")), lines.toString());
		assertEquals(Picture.Area.OUTSIDE, picture.hit(2, 2).area());
		assertEquals(Picture.Area.HIERARCHY, picture.hit(picture.plotX() - 8, y).area());
		for (int leaf = 0; leaf < m.hierarchy().leafCount(); leaf++) {
			assertEquals(leaf, picture.leafAt((picture.yOf(leaf) + picture.yOf(leaf + 1)) / 2));
		}
		assertEquals(m.slices().startNs(), picture.timeAt(picture.plotX()));
		assertEquals(m.slices().endNs(), picture.timeAt(1e9));
	}

	@Test
	void smallStructuresAreSeen() throws Exception {
		Made made = make(BasicDimensions.TYPE, 0.3, new PictureOptions());
		Picture picture = made.picture();
		int stack = picture.model().hierarchy().nodeOf(structure("stack of worker 1"));
		double height = picture.yOf(picture.model().hierarchy().leafTo(stack))
				- picture.yOf(picture.model().hierarchy().leafFrom(stack));
		assertTrue(height >= 12, "height " + height);
		assertTrue(picture.scene().shapes().stream()
				.anyMatch(s -> s instanceof Shape.Text t && t.text().equals("stack of worker 1")));
	}

	/** B belongs to four threads alike: a picture that shows one of them would be wrong. */
	@Test
	void mixturesAreMosaics() throws Exception {
		Made made = make(BasicDimensions.THREAD, 0.9, new PictureOptions());
		Picture picture = made.picture();
		int b = picture.model().hierarchy().nodeOf(structure("B"));
		double top = picture.yOf(picture.model().hierarchy().leafFrom(b));
		double bottom = picture.yOf(picture.model().hierarchy().leafTo(b));
		Set<Integer> colors = new HashSet<>();
		for (Shape s : picture.scene().shapes()) {
			if (s instanceof Shape.Mosaic m && m.x() > picture.plotX() && m.y() + m.height() > top + 1 && m.y() < bottom - 1) {
				colors.addAll(m.colors());
			}
		}
		assertTrue(colors.size() >= 4, "colours in B: " + colors.size());
	}

	@Test
	void pngHasTheColoursOfTheLegend() throws Exception {
		Made made = make(BasicDimensions.TYPE, 0.3, new PictureOptions());
		BufferedImage image = PngWriter.paint(made.picture().scene(), 1);
		assertEquals(1200, image.getWidth());
		Set<Integer> colors = new HashSet<>();
		for (int y = 0; y < image.getHeight(); y++) {
			for (int x = 0; x < image.getWidth(); x++) {
				colors.add(image.getRGB(x, y));
			}
		}
		for (ModelType type : made.picture().model().types()) {
			assertTrue(colors.contains(Palette.LIGHT.color(type)), type.name());
		}
	}

	@ParameterizedTest
	@EnumSource(CurvePicture.Direction.class)
	void curves(CurvePicture.Direction direction) throws Exception {
		Made made = make(BasicDimensions.TYPE, 0.3, new PictureOptions());
		CurvePicture curves = CurvePicture.build(made.levels(), 0.25, direction, 500, 260, Palette.DARK, TextMeter.DEFAULT, 12);
		assertEquals(0.25, curves.pAt(curves.xOf(0.25)), 1e-12);
		assertEquals(0, curves.pAt(-5));
		assertEquals(1, curves.pAt(5000));
		assertTrue(curves.scene().shapes().size() > 2 * made.levels().levels().size());
	}

	/** While levels are looked for, a curve says nothing of what is between two places that are known. */
	@Test
	void curvesThatAreNotComputedAreNotDrawn() throws Exception {
		Made made = make(BasicDimensions.TYPE, 0.3, new PictureOptions());
		SignificantLevels some = SignificantLevels.first(made.levels().aggregator(), Progress.NONE).levels();
		Palette palette = Palette.LIGHT;
		CurvePicture curves = CurvePicture.partial(some, 0.25, CurvePicture.Direction.RISING, 500, 260, palette, TextMeter.DEFAULT, 12,
				"computing… 40 %");
		List<Shape> shapes = curves.scene().shapes();
		for (int colour : new int[] {palette.gainCurve(), palette.lossCurve()}) {
			long lines = shapes.stream().filter(s -> s instanceof Shape.Line l && l.color() == colour).count();
			assertEquals(1, lines, "a line of the key only");
			assertEquals(some.levels().size(), shapes.stream().filter(s -> s instanceof Shape.Rect r && r.fill() == colour).count());
		}
		assertTrue(shapes.stream().anyMatch(s -> s instanceof Shape.Text t && t.text().equals("computing… 40 %")));
	}

	/** How far the search for levels is goes up to what was announced, and never back. */
	@Test
	void searchForLevelsTellsHowFarItIs() throws Exception {
		Made made = make(BasicDimensions.TYPE, 0.3, new PictureOptions());
		List<Long> units = new ArrayList<>();
		long[] total = new long[1];
		SignificantLevels.compute(made.levels().aggregator(), new Progress() {
			@Override
			public void begin(String step, long all) {
				total[0] = all;
			}

			@Override
			public void worked(long more) {
				units.add(more);
			}

			@Override
			public boolean isCancelled() {
				return false;
			}
		});
		assertTrue(total[0] > 0, "no total");
		assertEquals(total[0], units.stream().mapToLong(Long::longValue).sum());
		assertTrue(units.stream().allMatch(u -> u >= 0), units.toString());
	}

	@Test
	void partitionAndTitleTellTheLoss() throws Exception {
		Made made = make(BasicDimensions.TYPE, 0.3, new PictureOptions());
		Partition e = made.picture().partition();
		String figures = PictureBuilder.figures(e);
		assertTrue(figures.contains("p = 0.3 ") && figures.contains(Units.percent(e.lossPercent())), figures);
		assertNotEquals("", figures);
	}

	/** Lightness (CIE L*) of the four sharing colours is distinct, so that they differ in grey; both palettes. */
	@Test
	void sharingColoursDifferInGrey() {
		for (Palette palette : List.of(Palette.LIGHT, Palette.DARK)) {
			List<Double> lightness = new ArrayList<>();
			for (ModelType.Role role : List.of(ModelType.Role.PRIVATE_READ, ModelType.Role.SHARED_READ, ModelType.Role.PRIVATE_WRITE,
					ModelType.Role.SHARED_WRITE)) {
				int c = palette.color(new ModelType("", role, 0));
				double y = 0.2126 * linear(c >> 16) + 0.7152 * linear(c >> 8) + 0.0722 * linear(c);
				lightness.add(116 * Math.cbrt(y) - 16);
			}
			lightness.sort(null);
			for (int i = 1; i < 4; i++) {
				assertTrue(lightness.get(i) - lightness.get(i - 1) >= (palette.isDark() ? 2 : 6), "lightness " + lightness);
			}
		}
	}

	private static double linear(int channel) {
		double v = (channel & 0xff) / 255.0;
		return v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4);
	}

	@Test
	void summaryNamesWhatStandsOut() throws Exception {
		StructureTable structures = StructureTable.of(table, store.structures(), Progress.NONE);
		TraceSummary summary = new TraceSummary(structures);
		List<Finding> findings = Advisor.of(store, store.accessSource(Progress.NONE), Thresholds.STANDARD, Progress.NONE).findings();
		assertEquals("replicate", findings.stream().filter(f -> f.name().equals("B")).findAny().orElseThrow().rule(), findings.toString());
		assertTrue(findings.stream().anyMatch(f -> f.name().equals("C") && f.rule().equals("first-touch")
				&& f.advice().contains("initialise it in parallel")), findings.toString());
		assertTrue(findings.stream().noneMatch(f -> f.name().startsWith("stack")));
		assertEquals(1, structures.rows().stream().mapToDouble(StructureTable.Row::accesses).sum()
				/ summary.all().accesses(), 1e-9);
		assertNotNull(structures.toCsv());
		assertEquals(structures.rows().size() + 1, structures.toCsv().split("\n").length);
	}
}
