// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.engine.SpatiotemporalAggregator;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.time.Slicing;
import org.memtrace.analysis.MadeTrace;
import org.memtrace.analysis.colour.Palette;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.SvgWriter;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;

/**
 * The SVG of random pictures is read again as text: each block of the partition has the rectangle of its pages and times, in colours and
 * areas that follow from a sum over its cells, and nothing else is drawn in the plot. Seeds are 1 to 6 for each kind of values.
 */
class SvgReadBackTest {
	/** What values are like. */
	enum Values {
		SMALL, POWERS, EQUAL, FEW, NOTHING_BUT_ONE, HUGE
	}

	private record Rectangle(double x, double y, double width, double height, String fill) {
	}

	private static final Pattern RECT = Pattern.compile(
			"<rect x=\"([^\"]*)\" y=\"([^\"]*)\" width=\"([^\"]*)\" height=\"([^\"]*)\" fill=\"([^\"]*)\"(?: transform=\"translate\\(([^ ]*) ([^)]*)\\)\")?/>");
	private static final Pattern PATTERN = Pattern.compile("<pattern id=\"(m\\d+)\" width=\"(\\d+)\"[^>]*>(.*?)</pattern>");
	private static final Pattern PATH = Pattern.compile("<path fill=\"([^\"]*)\" d=\"([^\"]*)\"/>");

	private static TraceStore trace(Random random, Values kind, int threads, int intervals, int pages) throws Exception {
		MadeTrace t = new MadeTrace(threads, intervals, 1_000_000);
		int[] structures = {t.structure("A", pages), t.structure("B", 1 + pages / 2)};
		for (int i = 0; i < intervals; i++) {
			for (int s = 0; s < 2; s++) {
				for (int page = 0; page < (s == 0 ? pages : 1 + pages / 2); page++) {
					for (int thread = 0; thread < threads; thread++) {
						int n = switch (kind) {
						case SMALL -> random.nextInt(4);
						case POWERS -> random.nextBoolean() ? 0 : 1 << random.nextInt(20);
						case EQUAL -> 4;
						case FEW -> random.nextInt(30) == 0 || i + s + page + thread == 0 ? 32 : 0;
						case NOTHING_BUT_ONE -> i == 0 && s == 0 && page == 0 && thread == 0 ? 1 : 0;
						case HUGE -> random.nextInt(3) == 0 ? Integer.MAX_VALUE - random.nextInt(3) : random.nextInt(2);
						};
						if (n > 0) {
							t.access(i, structures[s], page, thread, n, 0);
						}
					}
				}
			}
		}
		return t.open();
	}

	@ParameterizedTest
	@EnumSource(Values.class)
	void rectanglesAreTheNumbers(Values kind) throws Exception {
		int seen = 0;
		for (int seed = 1; seed <= 6; seed++) {
			Random random = new Random(seed);
			int intervals = 1 << random.nextInt(5);
			try (TraceStore store = trace(random, kind, 1 + random.nextInt(4), intervals, 1 + random.nextInt(20))) {
				AccessTable table = AccessTable.load(store, Progress.NONE);
				ModelRequest request = new AccessModels(table).wholeRequest().withViewpoint(BasicDimensions.THREAD).withSlices(1
						+ random.nextInt(intervals + 3))
						.withSlicing(random.nextBoolean() ? Slicing.ADAPTIVE : Slicing.UNIFORM);
				MicroscopicModel m = new AccessModels(table).model(request, Progress.NONE);
				NodeNames names = new NodeNames(m.hierarchy(), table.producers(), store.structures());
				RowLayout layout = random.nextBoolean() ? RowLayout.of(m, names) : RowLayout.proportional(m.hierarchy(), names);
				SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(m);
				for (double p : new double[] {0, 0.2, 0.5, 1}) {
					PictureOptions o = new PictureOptions();
					o.minBlockHeight = 0;
					Picture picture = PictureBuilder.build(a.partition(p), names, layout, o);
					StringBuilder svg = new StringBuilder();
					SvgWriter.write(picture.scene(), "t", svg);
					seen += check(picture, svg.toString(), kind + " seed " + seed + " p " + p);
				}
			}
		}
		assertTrue(seen >= 24, seen + " rectangles");
	}

	/** Number of blocks that were compared. */
	private static int check(Picture picture, String svg, String what) {
		Map<String, Map<String, Double>> patterns = new HashMap<>();
		for (Matcher p = PATTERN.matcher(svg); p.find();) {
			double size = Double.parseDouble(p.group(2));
			Map<String, Double> share = new TreeMap<>();
			Matcher ground = Pattern.compile("<rect [^>]*fill=\"([^\"]*)\"/>").matcher(p.group(3));
			assertTrue(ground.find(), p.group());
			share.put(ground.group(1), 1.0);
			for (Matcher path = PATH.matcher(p.group(3)); path.find();) {
				double area = 0;
				for (Matcher square = Pattern.compile("h(\\d+)v(\\d+)").matcher(path.group(2)); square.find();) {
					area += Double.parseDouble(square.group(1)) * Double.parseDouble(square.group(2)) / size / size;
				}
				share.put(path.group(1), area);
				share.merge(ground.group(1), -area, Double::sum);
			}
			patterns.put(p.group(1), share);
		}
		MicroscopicModel m = picture.model();
		Partition e = picture.partition();
		List<Rectangle> drawn = new ArrayList<>();
		for (Matcher r = RECT.matcher(svg); r.find();) {
			double dx = r.group(6) == null ? 0 : Double.parseDouble(r.group(6));
			double dy = r.group(7) == null ? 0 : Double.parseDouble(r.group(7));
			Rectangle rect = new Rectangle(dx + Double.parseDouble(r.group(1)), dy + Double.parseDouble(r.group(2)),
					Double.parseDouble(r.group(3)), Double.parseDouble(r.group(4)), r.group(5));
			if (rect.x >= picture.plotX() - 0.01 && rect.y >= picture.plotY() - 0.01 && rect.y < picture.plotY() + picture.plotHeight()) {
				drawn.add(rect);
			}
		}
		drawn.remove(0); // the background
		int at = 0;
		double reference = m.referenceDensity();
		for (Picture.Drawn d : picture.drawn()) {
			double[] sums = new double[m.typeCount()];
			double total = 0;
			for (int leaf = d.leafFrom(); leaf < d.leafTo(); leaf++) {
				for (int t = d.firstSlice(); t < d.endSlice(); t++) {
					for (int k = 0; k < sums.length; k++) {
						sums[k] += m.value(leaf, t, k);
						total += m.value(leaf, t, k);
					}
				}
			}
			if (total == 0) {
				continue;
			}
			assertTrue(at < drawn.size(), what + ": a block is missing");
			Rectangle r = drawn.get(at++);
			double x0 = picture.plotX() + picture.plotWidth() * (m.slices().boundNs(d.firstSlice()) - m.slices().startNs())
					/ (m.slices().endNs() - m.slices().startNs());
			double x1 = picture.plotX() + picture.plotWidth() * (m.slices().boundNs(d.endSlice()) - m.slices().startNs())
					/ (m.slices().endNs() - m.slices().startNs());
			double y0 = picture.plotY() + picture.plotHeight() * picture.layout().top(d.leafFrom());
			double y1 = picture.plotY() + picture.plotHeight() * picture.layout().top(d.leafTo());
			assertEquals(x0, r.x, 0.011, what);
			assertEquals(y0, r.y, 0.011, what);
			assertEquals(x1 - x0 - (x1 - x0 >= 7 ? 1 : 0), r.width, 0.011, what);
			assertEquals(y1 - y0 - (y1 - y0 >= 7 ? 1 : 0), r.height, 0.011, what);
			double ns = m.slices().boundNs(d.endSlice()) - m.slices().boundNs(d.firstSlice());
			double strength = Math.min(1, Math.sqrt(total / ns / (d.leafTo() - d.leafFrom()) / reference));
			Map<String, Double> shares = patterns.getOrDefault(r.fill.replaceAll("url\\(#(.*)\\)", "$1"), Map.of(r.fill, 1.0));
			if (shares.size() > 1 || r.fill.startsWith("url")) {
				strength = Math.rint(12 * strength) / 12;
			}
			double told = 0;
			for (int k = 0; k < sums.length; k++) {
				double share = shares.getOrDefault(color(m, k, strength), 0.0);
				assertEquals(sums[k] / total, share, 0.125 + 1e-9, what + ": share of " + m.types().get(k).name());
				told += share;
			}
			assertEquals(1, told, 1e-9, what + ": colours of nobody in " + shares);
		}
		// what follows are marks of loss, drawn over the blocks
		for (Rectangle r : drawn.subList(at, drawn.size())) {
			assertTrue(r.fill.equals("#ffffff") || r.height < 20, what + ": drawn, but of no block: " + r);
		}
		assertTrue(e.blockCount() >= picture.drawn().size());
		return at;
	}

	/** Colour of a type from the definition: from the background, 35 % at least, to the full colour. */
	private static String color(MicroscopicModel m, int type, double strength) {
		int back = 0xfff3f4f6;
		int full = Palette.LIGHT.color(m.types().get(type));
		int rgb = 0;
		for (int shift = 16; shift >= 0; shift -= 8) {
			int a = back >> shift & 0xff;
			int b = full >> shift & 0xff;
			rgb = rgb << 8 | (int) Math.round(a + (b - a) * (0.35 + 0.65 * strength));
		}
		return String.format("#%06x", rgb);
	}

	/** The squares of a mosaic begin at whole pixels at its corner, as where SWT paints it, not at the corner of the picture. */
	@Test
	void mosaicsBeginWhereTheirRectanglesDo() throws Exception {
		Shape.Mosaic m = new Shape.Mosaic(10.25, 20.5, 30, 40, Collections.nCopies(Shape.Mosaic.EIGHTHS, 0xff112233));
		StringBuilder svg = new StringBuilder();
		SvgWriter.write(new Scene(100, 100, 0xffffffff, List.of(m)), "t", svg);
		Matcher rect = Pattern.compile("<rect x=\"([^\"]*)\" y=\"([^\"]*)\" width=\"30\" height=\"40\" fill=\"url\\(#m0\\)\" "
				+ "transform=\"translate\\((\\S+) (\\S+)\\)\"/>").matcher(svg);
		assertTrue(rect.find(), svg.toString());
		assertEquals("0.25 0.5 10 20", rect.group(1) + " " + rect.group(2) + " " + rect.group(3) + " " + rect.group(4));
	}
}
