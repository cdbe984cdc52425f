// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.options;

import java.io.OutputStream;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Locale;

import org.memtrace.analysis.export.OutputFile;
import org.memtrace.analysis.scene.PdfWriter;
import org.memtrace.analysis.scene.PngWriter;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.SvgWriter;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.output.Console;

/** Pictures that commands write, in the format that the name of the file ends in. */
public final class PictureFile {
	private static final String PNG = ".png";
	private static final String PDF = ".pdf";
	private static final List<String> FORMATS = List.of(".svg", PNG, PDF);

	private PictureFile() {
	}

	private static String lowerCase(Path file) {
		return file.getFileName().toString().toLowerCase(Locale.ROOT);
	}

	/**
	 * Looks at a name before the long work.
	 *
	 * @throws UsageException when it does not end as that of a picture
	 */
	public static void check(Path file) throws UsageException {
		if (FORMATS.stream().noneMatch(lowerCase(file)::endsWith)) {
			throw new UsageException("the picture " + file + " must end in .svg, .png or .pdf");
		}
	}

	/**
	 * Writes a picture, over an existing file, and tells which characters no font has.
	 *
	 * @param scale pixels of a PNG per pixel of the scene
	 */
	public static void write(Scene scene, Path file, String title, double scale, Console console) throws Exception {
		String[] missing = { "" };
		OutputFile.write(file, part -> {
			if (lowerCase(file).endsWith(PNG)) {
				try (OutputStream out = Files.newOutputStream(part)) {
					PngWriter.write(scene, scale, out);
				}
			} else if (lowerCase(file).endsWith(PDF)) {
				try (OutputStream out = Files.newOutputStream(part)) {
					missing[0] = PdfWriter.write(scene, title, out);
				}
			} else {
				try (Writer out = Files.newBufferedWriter(part)) {
					SvgWriter.write(scene, title, out);
				}
			}
		}, StandardCopyOption.REPLACE_EXISTING);
		if (!missing[0].isEmpty()) {
			console.err().println("Attention: " + file + ": no installed font has the characters " + missing[0]
					+ ", they are missing in the picture");
		}
	}
}
