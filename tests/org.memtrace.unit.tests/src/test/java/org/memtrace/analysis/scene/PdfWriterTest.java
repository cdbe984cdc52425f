// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.scene;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.awt.Rectangle;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

import org.apache.pdfbox.Loader;
import org.apache.pdfbox.cos.COSName;
import org.apache.pdfbox.pdmodel.PDDocument;
import org.apache.pdfbox.pdmodel.PDPage;
import org.apache.pdfbox.pdmodel.font.PDFont;
import org.apache.pdfbox.rendering.PDFRenderer;
import org.apache.pdfbox.text.PDFTextStripper;
import org.junit.jupiter.api.Test;

/** Files are read back by a reader: text, fonts, and the picture that it draws, pixel by pixel. */
class PdfWriterTest {
	private static final int WHITE = 0xffffffff;
	private static final int BLACK = 0xff000000;

	private static byte[] pdf(Scene scene, String title) throws Exception {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		assertEquals("", PdfWriter.write(scene, title, out));
		return out.toByteArray();
	}

	private static BufferedImage drawn(Shape... shapes) throws Exception {
		try (PDDocument document = Loader.loadPDF(pdf(new Scene(200, 100, WHITE, List.of(shapes)), "t"))) {
			return new PDFRenderer(document).renderImage(0, 4 / 3f);
		}
	}

	private static void assertColor(int expected, BufferedImage image, int x, int y) {
		int got = image.getRGB(x, y);
		for (int shift = 0; shift < 24; shift += 8) {
			assertEquals(expected >> shift & 0xff, got >> shift & 0xff, 2, () -> String.format("%08x at %d, %d", got, x, y));
		}
	}

	/** Where the image is not white; null when it is. */
	private static Rectangle ink(BufferedImage image) {
		Rectangle all = null;
		for (int y = 0; y < image.getHeight(); y++) {
			for (int x = 0; x < image.getWidth(); x++) {
				if ((image.getRGB(x, y) & 0xff) < 128) {
					Rectangle one = new Rectangle(x, y, 1, 1);
					all = all == null ? one : all.union(one);
				}
			}
		}
		return all;
	}

	private static Shape.Text text(double x, double y, String text, boolean bold, Shape.Anchor anchor, boolean vertical) {
		return new Shape.Text(x, y, text, 20, bold, BLACK, anchor, vertical);
	}

	@Test
	void isOnePageWithItsTitle() throws Exception {
		byte[] file = pdf(new Scene(900, 500, WHITE, List.of()), "\u00fcber \u03a9");
		assertTrue(new String(file, StandardCharsets.ISO_8859_1).startsWith("%PDF-1."));
		try (PDDocument document = Loader.loadPDF(file)) {
			assertEquals(1, document.getNumberOfPages());
			assertEquals(675, document.getPage(0).getMediaBox().getWidth());
			assertEquals(375, document.getPage(0).getMediaBox().getHeight());
			assertEquals("\u00fcber \u03a9", document.getDocumentInformation().getTitle());
		}
	}

	@Test
	void sameSceneSameBytes() throws Exception {
		Scene scene = new Scene(200, 100, WHITE, List.of(text(10, 50, "abc \u03a9", false, Shape.Anchor.START, false),
				new Shape.Rect(1, 2, 3, 4, 0x80ff0000, 0xff000000), text(10, 90, "Bold", true, Shape.Anchor.START, false)));
		byte[] first = pdf(scene, "t");
		Thread.sleep(5);	// a time in it would be another one
		assertArrayEquals(first, pdf(scene, "t"));
	}

	@Test
	void textsAreFoundAndTheirFontIsInTheFile() throws Exception {
		Scene scene = new Scene(400, 200, WHITE, List.of(text(10, 30, "key_array \u00b5s\u2026()", false, Shape.Anchor.START, false),
				text(390, 80, "\u03a9mega \u0159 \u0416", true, Shape.Anchor.END, false), text(50, 150, "up", false, Shape.Anchor.MIDDLE, true),
				text(200, 180, "a\tb", false, Shape.Anchor.START, false)));
		byte[] file = pdf(scene, "t");
		assertTrue(file.length < 60_000, "only the glyphs that occur: " + file.length + " bytes");
		try (PDDocument document = Loader.loadPDF(file)) {
			String found = new PDFTextStripper().getText(document);
			assertTrue(found.contains("key_array \u00b5s\u2026()") && found.contains("\u03a9mega \u0159 \u0416") && found.contains("a?b"), found);
			int fonts = 0;
			PDPage page = document.getPage(0);
			for (COSName name : page.getResources().getFontNames()) {
				PDFont font = page.getResources().getFont(name);
				assertTrue(font.isEmbedded(), font.getName());
				fonts++;
			}
			assertEquals(1, fonts);
		}
	}

	@Test
	void charactersThatTheFontDoesNotHaveAreOutlines() throws Exception {
		Scene scene = new Scene(200, 100, WHITE, List.of(text(100, 60, "a\u2248\u2b50", false, Shape.Anchor.MIDDLE, false)));
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		String missing = PdfWriter.write(scene, "t", out);
		assertTrue("\u2b50".contains(missing), missing);
		try (PDDocument document = Loader.loadPDF(out.toByteArray())) {
			assertFalse(document.getPage(0).getResources().getFontNames().iterator().hasNext());
			COSName span = document.getPage(0).getResources().getPropertiesNames().iterator().next();
			assertEquals("a\u2248\u2b50", document.getPage(0).getResources().getProperties(span).getCOSObject().getString(COSName.ACTUAL_TEXT));
			assertEquals(100, ink(new PDFRenderer(document).renderImage(0, 4 / 3f)).getCenterX(), 4);
		}
	}

	@Test
	void textsStandWhereTheyShould() throws Exception {
		Rectangle start = ink(drawn(text(50, 60, "HHH", false, Shape.Anchor.START, false)));
		assertEquals(51.5, start.x, 1.5);
		assertEquals(60, start.y + start.height, 1, "the base line");
		assertEquals(14.3, start.height, 1.5, "capitals of Helvetica: 0.716 of the size");
		assertEquals(40, start.width, 2.5);
		Rectangle end = ink(drawn(text(150, 60, "HHH", false, Shape.Anchor.END, false)));
		assertEquals(148.5, end.x + end.width, 1.5);
		assertEquals(100, ink(drawn(text(100, 60, "HHH", false, Shape.Anchor.MIDDLE, false))).getCenterX(), 1);
		Rectangle up = ink(drawn(text(60, 50, "HHH", false, Shape.Anchor.MIDDLE, true)));
		assertEquals(60, up.x + up.width, 1, "the base line is to the right");
		assertEquals(50, up.getCenterY(), 1);
		assertTrue(up.height > 2 * up.width);
		Rectangle upStart = ink(drawn(text(60, 90, "HHH", false, Shape.Anchor.START, true)));
		assertEquals(88.5, upStart.y + upStart.height, 1.5, "it begins below");
		assertTrue(dark(drawn(text(50, 60, "HHH", true, Shape.Anchor.START, false))) > 1.2 * dark(drawn(text(50, 60, "HHH", false,
				Shape.Anchor.START, false))), "bold is darker");
	}

	private static long dark(BufferedImage image) {
		long sum = 0;
		for (int y = 0; y < image.getHeight(); y++) {
			for (int x = 0; x < image.getWidth(); x++) {
				sum += 255 - (image.getRGB(x, y) & 0xff);
			}
		}
		return sum;
	}

	@Test
	void shapesHaveTheirColoursAndPlaces() throws Exception {
		BufferedImage image = drawn(new Shape.Rect(10, 20, 30, 40, 0xffff0000, 0xff00ff00), new Shape.Rect(60, 20, 20, 20, 0x80ff0000, 0),
				new Shape.Line(100, 10, 100, 90, 0xff0000ff, 4, false), new Shape.Line(120, 10, 120, 90, 0xff0000ff, 4, true),
				new Shape.Hatch(130, 10, 30, 30, Shape.HatchStyle.IN_SPACE, BLACK),
				new Shape.Polygon(new double[] {170, 10, 198, 10, 184, 60}, 0xff2a6db8, 0),
				new Shape.Rect(1, 1, 4, 4, BLACK, 0));
		assertColor(WHITE, image, 8, 40);
		assertColor(0xff0000, image, 25, 40);
		assertColor(0x00ff00, image, 10, 40);
		assertColor(0x00ff00, image, 39, 40);
		assertColor(WHITE, image, 41, 40);
		assertColor(0xff7f7f, image, 70, 30);
		assertColor(0x0000ff, image, 100, 50);
		assertColor(0x2a6db8, image, 184, 30);
		assertColor(WHITE, image, 172, 50);
		assertColor(BLACK, image, 2, 2);
		int gaps = 0;
		for (int y = 11; y < 90; y++) {
			gaps += (image.getRGB(120, y) & 0xff0000) > 0x800000 ? 1 : 0;
		}
		assertTrue(gaps > 20 && gaps < 60, "dashed: " + gaps + " of 79 are gaps");
		int lines = 0;
		for (int y = 0; y < 60; y++) {
			for (int x = 126; x < 165; x++) {
				boolean inside = x >= 130 && x < 160 && y >= 10 && y < 40;
				boolean some = (image.getRGB(x, y) & 0xff) < 200;
				assertTrue(inside || !some, "the hatch is clipped");
				lines += some ? 1 : 0;
			}
		}
		assertTrue(lines > 50 && lines < 800, lines + " pixels of 900 are hatched");
	}

	/** Where shapes begin at whole pixels, the PDF and the PNG are the same picture. */
	@Test
	void mosaicsAreAsInPng() throws Exception {
		Shape mosaic = new Shape.Mosaic(20, 10, 90, 70, List.of(0xffff0000, 0xffff0000, 0xffff0000, 0xff00ff00, 0xff00ff00, 0xff0000ff,
				0xff0000ff, 0xff102030));
		BufferedImage png = PngWriter.paint(new Scene(200, 100, WHITE, List.of(mosaic)), 1);
		BufferedImage image = drawn(mosaic);
		for (int y = 0; y < 100; y++) {
			for (int x = 0; x < 200; x++) {
				assertColor(png.getRGB(x, y), image, x, y);
			}
		}
	}

	/** Alpha, colours and the width of lines are kept from shape to shape: none may stay behind. */
	@Test
	void nothingStaysFromTheShapeBefore() throws Exception {
		BufferedImage image = drawn(new Shape.Rect(0, 0, 20, 20, 0x80ff0000, 0), new Shape.Rect(40, 0, 20, 20, 0xffff0000, 0),
				text(100, 20, "H", true, Shape.Anchor.START, false), text(140, 20, "H", false, Shape.Anchor.START, false),
				new Shape.Line(0, 50, 100, 50, 0xff0000ff, 6, true), new Shape.Line(0, 80, 100, 80, 0xff00ff00, 2, false));
		assertColor(0xff7f7f, image, 10, 10);
		assertColor(0xff0000, image, 50, 10);
		for (int x = 5; x < 95; x++) {
			assertColor(0x00ff00, image, x, 80);
		}
		assertColor(WHITE, image, 50, 83);
		Rectangle bold = ink(image.getSubimage(95, 0, 40, 40));
		Rectangle plain = ink(image.getSubimage(135, 0, 40, 40));
		assertTrue(dark(image.getSubimage(95, 0, 40, 40)) > 1.2 * dark(image.getSubimage(135, 0, 40, 40)));
		assertEquals(bold.height, plain.height, 2);
	}
}
