// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.view;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeMap;

import org.eclipse.core.runtime.ICoreRunnable;
import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.IProgressMonitor;
import org.eclipse.core.runtime.SubMonitor;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.jface.window.Window;
import org.eclipse.swt.widgets.Shell;
import org.memtrace.analysis.scene.PdfWriter;
import org.memtrace.analysis.scene.PngWriter;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.SvgWriter;
import org.memtrace.analysis.text.JsonText;
import org.memtrace.views.jobs.KeptWork;
import org.memtrace.views.jobs.OnDisplay;
import org.memtrace.views.paint.ScenePainter;

/** Writes a {@link Snapshot} by the same writers as {@code memtrace render}; pictures always on a light background. */
public final class SaveSnapshot {
	/** A kind of file that a snapshot can be written to. */
	public enum Format {
		SVG("SVG (sharp at every size)"), PNG("PNG"), PDF("PDF"), CSV("CSV (the numbers)"), JSON("JSON (the parameters)");

		private final String title;

		Format(String title) {
			this.title = title;
		}

		/** For a person. */
		String title() {
			return title;
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

	/** A snapshot in the size that its view has. */
	record Item(Snapshot snapshot, int width, int height) {
	}

	/**
	 * What is to be written where.
	 *
	 * @param width of the layout, in pixels; {@code height} too
	 * @param pngScale pixels of a PNG per pixel of the layout, in both directions
	 */
	record Job(List<Item> items, Path directory, String prefix, Set<Format> formats, int width, int height, int pngScale) {
		/** The files that will be written. */
		List<Path> files() {
			List<Path> files = new ArrayList<>();
			for (Item i : items) {
				for (Format f : Format.of(i.snapshot())) {
					if (formats.contains(f)) {
						files.add(file(i, f));
					}
				}
			}
			return files;
		}

		/** One view is called as the user says, several by their own names. */
		private Path file(Item item, Format f) {
			return directory.resolve((items.size() == 1 ? prefix : prefix + Snapshot.fileName(item.snapshot().name())) + f.ending());
		}

		/** Writes all files; not on the display thread. */
		void write(IProgressMonitor monitor) throws IOException {
			SubMonitor progress = SubMonitor.convert(monitor, files().size());
			for (Item i : items) {
				for (Format f : Format.of(i.snapshot())) {
					if (formats.contains(f)) {
						SaveSnapshot.write(i.snapshot(), f, file(i, f), width, height, pngScale);
						progress.split(1);
					}
				}
			}
		}
	}

	/** Asks where to save snapshots and writes them in the background. Those with the same name get numbers. */
	static void ask(Shell shell, List<Item> snapshots) {
		if (snapshots.isEmpty()) {
			MessageDialog.openInformation(shell, "Save", "There is nothing to save yet.");
			return;
		}
		SnapshotDialog dialog = new SnapshotDialog(shell, distinct(snapshots));
		if (dialog.open() != Window.OK) {
			return;
		}
		SaveSnapshot.Job job = dialog.job();
		org.eclipse.core.runtime.jobs.Job.create("Save views", (ICoreRunnable) monitor -> {
			try {
				KeptWork.run("Saving to " + job.directory(), () -> {
					job.write(monitor);
					return null;
				});
			} catch (IOException | UncheckedIOException e) {
				ILog.of(SaveSnapshot.class).info("Saving to " + job.directory() + " failed: " + e);
				OnDisplay.later(shell, () -> MessageDialog.openError(shell, "Save", job.directory() + " cannot be written: " + e.getMessage()));
			}
		}).schedule();
	}

	/** The same snapshots under names of which none is there twice. */
	static List<Item> distinct(List<Item> items) {
		List<Item> result = new ArrayList<>();
		Set<String> names = new HashSet<>();
		for (Item i : items) {
			Snapshot s = i.snapshot();
			String name = s.name();
			for (int n = 2; !names.add(Snapshot.fileName(name)); n++) {
				name = s.name() + " " + n;
			}
			result.add(new Item(new Snapshot(name, s.picture(), s.csv(), s.parameters()), i.width(), i.height()));
		}
		return result;
	}

	/** Writes one file; a PNG has {@code pngScale} times as many pixels as the layout, in both directions. */
	public static void write(Snapshot snapshot, Format format, Path file, int width, int height, int pngScale) throws IOException {
		if (format == Format.CSV || format == Format.JSON) {
			String text = format == Format.CSV ? snapshot.csv().get() : JsonText.PRETTY.toJson(new TreeMap<>(snapshot.parameters())) + "\n";
			Files.writeString(file, text);
			return;
		}
		Scene scene = snapshot.picture().scene(ScenePainter.paper(), width, height);
		if (format == Format.SVG) {
			try (Writer out = Files.newBufferedWriter(file, StandardCharsets.UTF_8)) {
				SvgWriter.write(scene, snapshot.name(), out);
			}
			return;
		}
		try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
			if (format == Format.PNG) {
				PngWriter.write(scene, pngScale, out);
			} else {
				PdfWriter.write(scene, snapshot.name(), out);
			}
		}
	}
}
