// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.scene.PdfWriter;
import org.memtrace.analysis.scene.PngWriter;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.SvgWriter;

/** Polygons, in all writers. */
class PolygonTest {
	private static final Shape.Polygon TRIANGLE = new Shape.Polygon(new double[] {10, 10, 90, 10, 50, 70.5}, 0xff2a6db8,
			0x80ffffff);

	@Test
	void knowsWhatIsInside() {
		assertTrue(TRIANGLE.contains(50, 30));
		assertFalse(TRIANGLE.contains(12, 60));
		assertFalse(TRIANGLE.contains(50, 5));
		assertFalse(TRIANGLE.contains(50, 71));
		assertThrows(IllegalArgumentException.class, () -> new Shape.Polygon(new double[] {0, 0, 1, 1}, 1, 0));
	}

	@Test
	void isWrittenByAll() throws Exception {
		Scene scene = new Scene(100, 80, 0xffffffff, List.of(TRIANGLE));
		StringBuilder svg = new StringBuilder();
		SvgWriter.write(scene, "triangle", svg);
		assertTrue(svg.toString().contains("<polygon points=\"10,10 90,10 50,70.5\" fill=\"#2a6db8\" stroke=\"#ffffff\""
				+ " stroke-opacity=\"0.5\" stroke-linejoin=\"round\"/>"), svg.toString());
		BufferedImage image = PngWriter.paint(scene, 1);
		assertEquals(0xff2a6db8, image.getRGB(50, 30));
		assertEquals(0xffffffff, image.getRGB(12, 60));
		ByteArrayOutputStream pdf = new ByteArrayOutputStream();
		PdfWriter.write(scene, "triangle", pdf);
		assertTrue(pdf.toString(StandardCharsets.ISO_8859_1).startsWith("%PDF-1."));
	}
}
