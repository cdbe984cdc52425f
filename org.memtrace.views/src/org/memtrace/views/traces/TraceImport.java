// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.eclipse.core.runtime.ILog;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.ImportReport;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.TraceCatalogue;
import org.memtrace.model.TraceInfo;

/** Imports trace directories into the catalogue. Not on the display thread. */
public final class TraceImport {
	/** Path of the native {@code memtrace}, set by the script that starts the workbench. */
	private static final String LAUNCHER = "memtrace.launcher";

	private TraceImport() {
	}

	/** The trace of a directory: what the catalogue has of exactly this content, else imported now. */
	public static TraceInfo once(TraceCatalogue catalogue, Path directory, Progress progress) throws MemtraceException {
		finish(directory, progress);
		String identity = ImportOperation.identity(directory);
		for (TraceInfo known : catalogue.list()) {
			if (identity.equals(known.properties().get(ImportOperation.PROPERTY_SOURCE_IDENTITY))) {
				return known;
			}
		}
		return run(catalogue, directory, "", false, progress).trace();
	}

	/**
	 * Imports.
	 *
	 * @param name display name, empty for the recorded one
	 * @param strict whether damaged lines are an error
	 */
	public static ImportReport run(TraceCatalogue catalogue, Path directory, String name, boolean strict,
			Progress progress) throws MemtraceException {
		finish(directory, progress);
		ImportReport report = new ImportOperation(directory, catalogue::create).setName(name).setStrict(strict)
				.call(progress);
		for (String warning : report.warnings()) {
			ILog.of(TraceImport.class).info("Import of " + directory + ": " + warning);
		}
		return report;
	}

	/** Completes a trace whose recorder was killed, if the recorder's tool is at hand; else the import warns. */
	static void finish(Path directory, Progress progress) throws MemtraceException {
		String launcher = System.getProperty(LAUNCHER, "");
		if (launcher.isEmpty() || !Files.isExecutable(Path.of(launcher)) || !isUnfinished(directory)) {
			return;
		}
		progress.begin("Completing the trace of a killed recorder", -1);
		try {
			Path output = Files.createTempFile("memtrace-finish", ".log");
			Process process = new ProcessBuilder(List.of(launcher, "finish", directory.toString()))
					.redirectErrorStream(true).redirectOutput(output.toFile()).start();
			while (!process.waitFor(100, TimeUnit.MILLISECONDS)) {
				if (progress.isCancelled()) {
					process.destroy();
					throw new CancelledException();
				}
			}
			String text = Files.readString(output, StandardCharsets.UTF_8).strip();
			Files.delete(output);
			if (process.exitValue() != 0) {
				ILog.of(TraceImport.class).info("memtrace finish " + directory + ": " + text);
			}
		} catch (IOException e) {
			throw new StoreException("memtrace finish cannot be run: " + e.getMessage(), e);
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			throw new CancelledException();
		}
	}

	private static boolean isUnfinished(Path directory) {
		try (Stream<Path> images = Files.list(directory)) {
			return images.filter(p -> p.getFileName().toString().matches("p\\d+"))
					.anyMatch(p -> Files.exists(p.resolve("context.log")) && !Files.exists(p.resolve("structures.csv")));
		} catch (IOException e) {
			return false; // the import says what is wrong with the directory
		}
	}
}
