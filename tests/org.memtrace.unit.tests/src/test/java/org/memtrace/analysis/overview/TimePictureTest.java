// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.converter.ConvertWith;
import org.junit.jupiter.params.provider.CsvSource;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.engine.TemporalAggregator;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;

/** Profiles and modes over time, and the PDF of any scene. */
class TimePictureTest {
	private static TraceStore store;
	private static AccessTable table;

	@BeforeAll
	static void load() throws Exception {
		store = SyntheticTrace.matrixMultiplication(64, 60);
		table = AccessTable.load(store, Progress.NONE);
	}

	private static Partition partition(Dimension viewpoint, double p) throws Exception {
		AccessModels models = new AccessModels(table);
		MicroscopicModel m = models.model(models.wholeRequest().withViewpoint(viewpoint).withSlices(30), Progress.NONE);
		return TemporalAggregator.prepare(m, Progress.NONE).partition(p, Progress.NONE);
	}

	private static PictureOptions options(int width, int height) {
		PictureOptions o = new PictureOptions();
		o.width = width;
		o.height = height;
		o.title = "matmul";
		o.originNs = store.info().startNs();
		return o;
	}

	@ParameterizedTest
	@CsvSource({"1200,800,type,PROFILE", "600,300,thread,PROFILE", "1200,400,type,MODE", "300,200,node,MODE",
		"2000,1500,cpu,PROFILE"})
	void textsStayInsideAndApart(int width, int height, @ConvertWith(ToDimension.class) Dimension viewpoint, TimePicture.Kind kind)
	throws Exception {
		PictureOptions o = options(width, height);
		o.warning = "the recorder lost 12 accesses";
		List<double[]> boxes = new ArrayList<>();
		for (Shape s : TimePicture.build(partition(viewpoint, 0.3), kind, o).shapes()) {
			if (s instanceof Shape.Text t && !t.text().isEmpty()) {
				double w = TextMeter.DEFAULT.width(t.text(), t.size(), t.bold());
				double shift = t.anchor() == Shape.Anchor.START ? 0 : t.anchor() == Shape.Anchor.END ? w : w / 2;
				double[] box = t.vertical()
						? new double[] {t.x() - 0.72 * t.size(), t.y() + shift - w, t.x() + 0.1 * t.size(), t.y() + shift}
						: new double[] {t.x() - shift, t.y() - 0.72 * t.size(), t.x() - shift + w, t.y() + 0.1 * t.size()};
				assertTrue(box[0] >= -0.5 && box[2] <= width + 0.5 && box[1] >= -0.5 && box[3] <= height + 0.5,
						"outside: " + t.text());
				for (double[] other : boxes) {
					assertFalse(box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3],
							t.text() + " overlaps something");
				}
				boxes.add(box);
			}
		}
		assertTrue(boxes.size() > 4);
	}

	/** The areas of a profile are the values: for each type, area divided by area of all = share of the accesses. */
	@ParameterizedTest
	@CsvSource({"0.01", "0.3", "1"})
	void areasAreTheTotals(double p) throws Exception {
		Partition partition = partition(BasicDimensions.TYPE, p);
		MicroscopicModel m = partition.model();
		Map<Integer, Double> area = new HashMap<>();
		PictureOptions o = options(1200, 800);
		o.legend = false;
		o.title = null;
		double all = 0;
		for (Shape s : TimePicture.build(partition, TimePicture.Kind.PROFILE, o).shapes()) {
			if (s instanceof Shape.Rect r && r.fill() != o.palette.plotBackground()) {
				// with the gap between bars
				area.merge(r.fill(), (r.width() + (r.width() >= 5 ? 1 : 0)) * r.height(), Double::sum);
			}
		}
		for (double a : area.values()) {
			all += a;
		}
		double[] totals = m.totals();
		double sum = 0;
		for (double t : totals) {
			sum += t;
		}
		for (int k = 0; k < totals.length; k++) {
			assertEquals(totals[k] / sum, area.getOrDefault(o.palette.color(m.types().get(k)), 0.0) / all, 1e-6,
					m.types().get(k).name());
		}
	}

	@Test
	void aModeShowsTheStrongestTypeAndItsShare() throws Exception {
		Partition partition = partition(BasicDimensions.TYPE, 1);
		assertEquals(1, partition.blockCount());
		double[] totals = partition.model().totals();
		double sum = 0;
		int main = 0;
		for (int k = 0; k < totals.length; k++) {
			sum += totals[k];
			main = totals[k] > totals[main] ? k : main;
		}
		PictureOptions o = options(1200, 800);
		o.legend = false;
		Shape.Rect plot = null;
		Shape.Rect bar = null;
		for (Shape s : TimePicture.build(partition, TimePicture.Kind.MODE, o).shapes()) {
			if (s instanceof Shape.Rect r) {
				bar = plot == null ? null : r;
				plot = plot == null ? r : plot;
			}
		}
		assertEquals(totals[main] / sum, bar.height() / plot.height(), 1e-9);
		assertEquals(o.palette.color(partition.model().types().get(main)), bar.fill());
		String texts = TimePicture.build(partition, TimePicture.Kind.MODE, o).toString();
		assertTrue(texts.contains("information loss 100 %") && texts.contains("1 part of 30 slices"), texts);
	}

	@Test
	void stepsAreRound() {
		assertEquals(20, Units.roundStep(100, 6), 1e-9);
		assertEquals(0.05, Units.roundStep(0.37, 10), 1e-9);
		assertEquals(1e6, Units.roundStep(3.9e6, 4), 1e-3);
		assertEquals(100, Units.roundStep(100, 1), 1e-9);
	}

	@Test
	void partsAreOneBarEachAndNumbered() throws Exception {
		Partition partition = partition(BasicDimensions.TYPE, 0.3);
		Scene scene = TimePicture.build(partition, TimePicture.Kind.PARTS, options(1500, 400));
		List<Shape.Rect> bars = scene.shapes().stream().filter(Shape.Rect.class::isInstance).map(Shape.Rect.class::cast).skip(1)
				.toList();
		assertEquals(partition.blockCount(), bars.size());
		assertTrue(bars.stream().allMatch(b -> b.height() == bars.get(0).height()));
		List<String> texts = scene.shapes().stream().filter(Shape.Text.class::isInstance).map(t -> ((Shape.Text) t).text()).toList();
		assertTrue(texts.contains("1"), texts.toString());
	}
}
