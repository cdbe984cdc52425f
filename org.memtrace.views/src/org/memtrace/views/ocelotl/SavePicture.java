// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.Status;
import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.FileDialog;
import org.eclipse.swt.widgets.Shell;
import org.memtrace.analysis.Palette;
import org.memtrace.analysis.PngWriter;
import org.memtrace.analysis.Scene;
import org.memtrace.analysis.SvgWriter;

/** Writes the shown picture to a file by the same writers as {@code memtrace render}. */
final class SavePicture {
	/** Pixels of a PNG per pixel on the screen, for print. */
	private static final double PNG_SCALE = 2;
	/** A little higher than on the screen: files have a title and a legend line. */
	private static final int TITLE_HEIGHT = 40;

	private SavePicture() {
	}

	/** Asks for a file and writes it in the background. */
	static void ask(Shell shell, ShownPicture picture) {
		if (picture == null) {
			return;
		}
		FileDialog dialog = new FileDialog(shell, SWT.SAVE);
		dialog.setText("Save picture");
		dialog.setFilterNames(new String[] { "SVG (sharp at every size)", "PNG" });
		dialog.setFilterExtensions(new String[] { "*.svg", "*.png" });
		dialog.setFileName(picture.trace().name().replaceAll("[^A-Za-z0-9._-]+", "-") + ".svg");
		dialog.setOverwrite(true);
		String chosen = dialog.open();
		if (chosen == null) {
			return;
		}
		String lower = chosen.toLowerCase(Locale.ROOT);
		boolean known = lower.endsWith(".svg") || lower.endsWith(".png");
		Path file = Path.of(known ? chosen : chosen + (dialog.getFilterIndex() == 1 ? ".png" : ".svg"));
		Job job = Job.create("Save picture", monitor -> {
			try {
				write(picture, file);
			} catch (IOException e) {
				ILog.of(SavePicture.class).warn("Saving " + file + " failed.", e);
				shell.getDisplay().asyncExec(() -> {
					if (!shell.isDisposed()) {
						MessageDialog.openError(shell, "Save picture", file + " cannot be written: " + e.getMessage());
					}
				});
			}
			return Status.OK_STATUS;
		});
		job.schedule();
	}

	/** Writes by the ending of the name; always on a light background. */
	static void write(ShownPicture picture, Path file) throws IOException {
		Scene scene = picture.forFile(Palette.LIGHT, TITLE_HEIGHT).scene();
		if (file.toString().toLowerCase(Locale.ROOT).endsWith(".png")) {
			try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
				PngWriter.write(scene, PNG_SCALE, out);
			}
		} else {
			try (Writer out = Files.newBufferedWriter(file, StandardCharsets.UTF_8)) {
				SvgWriter.write(scene, picture.trace().name(), out);
			}
		}
	}
}
