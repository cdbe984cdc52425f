// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;

import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.Status;
import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.FileDialog;
import org.eclipse.swt.widgets.Shell;
import org.memtrace.analysis.Palette;
import org.memtrace.analysis.PdfWriter;
import org.memtrace.analysis.PngWriter;
import org.memtrace.analysis.Scene;
import org.memtrace.analysis.SvgWriter;

/** Writes a {@link Snapshot} by the same writers as {@code memtrace render}; pictures always on a light background. */
public final class SaveSnapshot {
	/** Pixels of a PNG per pixel on the screen, for print. */
	private static final double PNG_SCALE = 2;
	private static final Gson GSON = new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create();

	/** A kind of file that a snapshot can be written to. */
	public enum Format {
		SVG("SVG (sharp at every size)"), PNG("PNG"), PDF("PDF"), CSV("CSV (the numbers)"), JSON("JSON (the parameters)");

		private final String title;

		Format(String title) {
			this.title = title;
		}

		String ending() {
			return "." + name().toLowerCase(Locale.ROOT);
		}

		boolean isPicture() {
			return this == SVG || this == PNG || this == PDF;
		}

		/** Those that a snapshot has. */
		static List<Format> of(Snapshot s) {
			List<Format> formats = new ArrayList<>();
			for (Format f : values()) {
				if (f.isPicture() ? s.picture() != null : f != CSV || s.csv() != null) {
					formats.add(f);
				}
			}
			return formats;
		}
	}

	private SaveSnapshot() {
	}

	/** Asks for a file and writes it in the background. */
	static void ask(Shell shell, Snapshot snapshot, int width, int height) {
		if (snapshot == null) {
			MessageDialog.openInformation(shell, "Save", "There is nothing to save yet.");
			return;
		}
		List<Format> formats = Format.of(snapshot);
		FileDialog dialog = new FileDialog(shell, SWT.SAVE);
		dialog.setText("Save " + snapshot.name());
		dialog.setFilterNames(formats.stream().map(f -> f.title).toArray(String[]::new));
		dialog.setFilterExtensions(formats.stream().map(f -> "*" + f.ending()).toArray(String[]::new));
		dialog.setFileName(fileName(snapshot) + formats.get(0).ending());
		dialog.setOverwrite(true);
		String chosen = dialog.open();
		if (chosen == null) {
			return;
		}
		String lower = chosen.toLowerCase(Locale.ROOT);
		Format named = formats.stream().filter(f -> lower.endsWith(f.ending())).findFirst().orElse(null);
		Format format = named != null ? named : formats.get(Math.max(0, dialog.getFilterIndex()));
		Path file = Path.of(named != null ? chosen : chosen + format.ending());
		Job job = Job.create("Save " + snapshot.name(), monitor -> {
			try {
				write(snapshot, format, file, width, height);
			} catch (IOException | UncheckedIOException e) {
				ILog.of(SaveSnapshot.class).warn("Saving " + file + " failed.", e);
				shell.getDisplay().asyncExec(() -> {
					if (!shell.isDisposed()) {
						MessageDialog.openError(shell, "Save", file + " cannot be written: " + e.getMessage());
					}
				});
			}
			return Status.OK_STATUS;
		});
		job.schedule();
	}

	/** A name without anything that a file system or shell could stumble over. */
	static String fileName(Snapshot snapshot) {
		return snapshot.name().replaceAll("[^A-Za-z0-9._-]+", "-");
	}

	/** Writes one file. */
	public static void write(Snapshot snapshot, Format format, Path file, int width, int height) throws IOException {
		if (format == Format.CSV || format == Format.JSON) {
			String text = format == Format.CSV ? snapshot.csv().get() : GSON.toJson(new TreeMap<>(snapshot.parameters())) + "\n";
			Files.writeString(file, text);
			return;
		}
		Scene scene = snapshot.picture().scene(Palette.LIGHT, width, height);
		if (format == Format.SVG) {
			try (Writer out = Files.newBufferedWriter(file, StandardCharsets.UTF_8)) {
				SvgWriter.write(scene, snapshot.name(), out);
			}
			return;
		}
		try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
			if (format == Format.PNG) {
				PngWriter.write(scene, PNG_SCALE, out);
			} else {
				PdfWriter.write(scene, snapshot.name(), out);
			}
		}
	}
}
