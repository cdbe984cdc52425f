// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Pattern;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each mark that a legend can name is explained on docs/start/pictures.md, in the words of the legend, with a picture that has the mark in
 * it and not in its legend alone. {@link org.memtrace.analysis.MarkPicturesTest} checks that the pictures are those that are drawn today.
 */
class LegendMarksTest {
	private static final Path DOCS = Path.of(System.getProperty("memtrace.root", "../..")).toAbsolutePath().normalize().resolve("docs");

	/** A picture, and how the mark looks there; a legend has it once. No default, so that a new mark is not forgotten. */
	private static String[] picture(Legend.Mark mark) {
		return switch (mark) {
		case MIXTURE -> new String[] {"mixture", "fill=\"url\\(#m\\d+\\)\""};
		case LOSS -> new String[] {"block-loss", "<polygon "};
		case FIRST_TOUCH -> new String[] {"first-touch-late", "width=\"5\" height=\"[\\d.]+\" fill=\"#ffffff\"/>\\s*<rect [^>]*width=\"3\""};
		case SMALL -> new String[] {"small-parts", "fill=\"url\\(#space\\)\""};
		case SMALL_IN_TIME -> new String[] {"small-parts-in-time", "fill=\"url\\(#time\\)\""};
		// a strip as wide as those of the tree, with lines across it; the sample of the legend is wider
		case NOT_TO_SCALE -> new String[] {"not-to-scale", "width=\"8.1\" height=\"1\" fill=\"#ffffff\""};
		};
	}

	@ParameterizedTest
	@EnumSource(Legend.Mark.class)
	void isExplainedWithAPicture(Legend.Mark mark) throws Exception {
		String page = Files.readString(DOCS.resolve("start/pictures.md"));
		String[] picture = picture(mark);
		int image = page.indexOf("](../images/mark-" + picture[0] + ".svg)");
		assertTrue(image >= 0, "no picture of " + mark);
		int begin = page.lastIndexOf("\n### ", image);
		int end = page.indexOf("\n### ", image);
		String section = page.substring(begin, end < 0 ? page.length() : end).replaceAll("\\s+", " ");
		assertTrue(section.toLowerCase(Locale.ROOT).contains("*" + mark.text + "*"),
				"the section of " + mark + " does not have the words of the legend: " + mark.text);
		assertTrue(section.contains("*Not seen:*"), "the section of " + mark + " does not say what cannot be seen");
		String svg = Files.readString(DOCS.resolve("images/mark-" + picture[0] + ".svg"));
		assertTrue(svg.contains(">" + mark.text + "<"), "the legend of mark-" + picture[0] + ".svg does not name it");
		long drawn = Pattern.compile(picture[1]).matcher(svg).results().count();
		assertTrue(drawn >= 2, "mark-" + picture[0] + ".svg has the mark " + drawn + " times");
	}
}
