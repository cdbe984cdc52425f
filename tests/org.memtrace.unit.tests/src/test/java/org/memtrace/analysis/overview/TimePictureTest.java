// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.InflaterInputStream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.converter.ConvertWith;
import org.junit.jupiter.params.provider.CsvSource;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.MicroscopicModel;
import org.memtrace.aggregation.Partition;
import org.memtrace.aggregation.TemporalAggregator;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.analysis.scene.PdfWriter;
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
		MicroscopicModel m = table.model(table.wholeRequest().withViewpoint(viewpoint).withSlices(30), Progress.NONE);
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

	private static byte[] pdf(Scene scene, String title) throws Exception {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		PdfWriter.write(scene, title, out);
		return out.toByteArray();
	}

	private static String content(byte[] pdf) throws Exception {
		String s = new String(pdf, StandardCharsets.ISO_8859_1);
		Matcher m = Pattern.compile("/Length (\\d+) /Filter /FlateDecode>>\nstream\n").matcher(s);
		assertTrue(m.find());
		int length = Integer.parseInt(m.group(1));
		assertTrue(s.startsWith("\nendstream\nendobj\n", m.end() + length), "the length is right");
		return new String(new InflaterInputStream(new ByteArrayInputStream(pdf, m.end(), length)).readAllBytes(),
				StandardCharsets.ISO_8859_1);
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

	@Test
	void pdfObjectsAreWhereTheTableSays() throws Exception {
		byte[] file = pdf(TimePicture.build(partition(BasicDimensions.THREAD, 0.2), TimePicture.Kind.PROFILE, options(900, 500)), "über");
		String s = new String(file, StandardCharsets.ISO_8859_1);
		assertTrue(s.startsWith("%PDF-1.4\n") && s.endsWith("%%EOF\n"));
		Matcher start = Pattern.compile("startxref\n(\\d+)\n").matcher(s);
		assertTrue(start.find());
		int table = Integer.parseInt(start.group(1));
		assertTrue(s.startsWith("xref\n0 8\n0000000000 65535 f \n", table));
		for (int i = 1; i < 8; i++) {
			int at = Integer.parseInt(s.substring(table + 9 + 20 * i, table + 19 + 20 * i));
			assertTrue(s.startsWith(i + " 0 obj\n", at), "object " + i);
		}
		assertTrue(s.contains("/MediaBox [0 0 675 375]"));
		assertTrue(s.contains("/Title <feff00fc006200650072>"));
		assertArrayEquals(file, pdf(TimePicture.build(partition(BasicDimensions.THREAD, 0.2), TimePicture.Kind.PROFILE,
				options(900, 500)), "über"), "the same bytes for the same scene");
	}

	/** Names are UTF-8: what Helvetica does not have is drawn as outlines and can still be searched for. */
	@Test
	void pdfTextsBeyondLatin() throws Exception {
		Scene scene = new Scene(200, 100, 0xffffffff, List.of(
				new Shape.Text(100, 60, "\u03a9\u03bcega_\u0159", 10, false, 0xff123456, Shape.Anchor.MIDDLE, false),
				new Shape.Text(10, 90, "\u0416", 10, true, 0xff000000, Shape.Anchor.START, true)));
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		String missing = PdfWriter.write(scene, "\u03a9", out);
		String c = content(out.toByteArray());
		if (missing.isEmpty()) {
			assertTrue(c.contains("/Span <</ActualText <feff03a903bc006500670061005f0159>>> BDC\n"), c);
			assertTrue(c.matches("(?s).* c .* h .*f\nEMC\n.*/Span <</ActualText <feff0416>>> BDC\n.*EMC\n"), c);
			assertFalse(c.contains(" Tj"), c);
		} else {
			assertTrue("\u03a9\u03bc\u0159\u0416".contains(missing), "characters that no font has are told: " + missing);
		}
	}

	@Test
	void pdfShapes() throws Exception {
		Scene scene = new Scene(200, 100, 0xff102030, List.of(new Shape.Rect(10, 20, 30, 40.5, 0xffff0000, 0xff00ff00),
				new Shape.Rect(1, 2, 3, 4, 0x80ff0000, 0), new Shape.Line(1, 2, 3, 4.25, 0xff0000ff, 2, true),
				new Shape.Hatch(0, 0, 16, 8, Shape.HatchStyle.IN_SPACE, 0xb0ffffff),
				new Shape.Text(50, 60, "µ…()", 10, true, 0xff000000, Shape.Anchor.START, false),
				new Shape.Text(100, 60, "AA", 10, false, 0xff000000, Shape.Anchor.END, false),
				new Shape.Text(7, 50, "AA", 10, false, 0xff000000, Shape.Anchor.MIDDLE, true)));
		byte[] file = pdf(scene, "t");
		String c = content(file);
		assertTrue(c.startsWith("0.75 0 0 -0.75 0 75 cm\n0.063 0.125 0.188 rg\n0 0 200 100 re f\n"), c);
		assertTrue(c.contains("1 0 0 rg\n10 20 30 40.5 re f\n0 1 0 RG\n1 w\n10.5 20.5 29 39.5 re S\n"), c);
		assertTrue(c.contains("/A128 gs\n1 2 3 4 re f\n"), c);
		assertTrue(new String(file, StandardCharsets.ISO_8859_1).contains("/A128 <</ca 0.502 /CA 0.502>>"));
		assertTrue(c.contains("/A255 gs\n0 0 1 RG\n2 w\n[3 3] 0 d\n1 2 m 3 4.25 l S\n"), c);
		assertTrue(c.contains("q 0 0 16 8 re W n\n0 -16 m 24 8 l 0 -8 m 24 16 l 0 0 m 24 24 l 0 8 m 24 32 l S Q\n"), c);
		assertTrue(c.contains("BT /B 10 Tf 1 0 0 -1 50 60 Tm <b5852829> Tj ET\n"), c);
		assertTrue(c.contains("BT /F 10 Tf 1 0 0 -1 86.66 60 Tm <4141> Tj ET\n"), c);
		assertTrue(c.contains("BT /F 10 Tf 0 -1 -1 0 7 56.67 Tm <4141> Tj ET\n"), c);
	}
}
