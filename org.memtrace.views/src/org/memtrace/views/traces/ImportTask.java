// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.eclipse.core.runtime.ILog;
import org.memtrace.importer.ImportReport;
import org.memtrace.importer.ImportSettings;
import org.memtrace.importer.Projections;
import org.memtrace.model.DatabaseKind;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceCatalogue;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.TraceStore;
import org.memtrace.model.TraceWriter;
import org.memtrace.storage.Stores;

/** Imports as the wizard was told: into the catalogue or a file, with the traces for FrameSoc when they are wanted. */
final class ImportTask {
	private ImportTask() {
	}

	/** All or nothing; not on the display thread. */
	static ImportReport run(TraceCatalogue catalogue, ImportSettings settings, Progress progress) throws MemtraceException {
		for (Path path : settings.input()) {
			if (Files.isDirectory(path)) {
				TraceImport.finish(path, progress);
			}
		}
		if (settings.output() != null) {
			return intoFile(settings, progress);
		}
		if (settings.kind() == DatabaseKind.SQLITE) {
			return intoCatalogue(catalogue, settings, progress);
		}
		try (TraceCatalogue other = Stores.openCatalogue(catalogue.directory(), settings.kind(), ImportTask::log)) {
			return intoCatalogue(other, settings, progress);
		}
	}

	private static ImportReport intoCatalogue(TraceCatalogue catalogue, ImportSettings settings, Progress progress)
			throws MemtraceException {
		ImportReport report = settings.operation(catalogue::create).call(progress);
		if (!settings.projections()) {
			return report;
		}
		TraceInfo trace = report.trace();
		boolean complete = false;
		try (TraceStore store = catalogue.open(trace.id())) {
			Projections.write(store, trace.databaseName().replaceFirst("\\.mv\\.db$", ""), catalogue::create, progress);
			complete = true;
		} finally {
			if (!complete) {
				for (TraceInfo t : catalogue.list()) {
					if (t.id() == trace.id() || t.id() > trace.id() && t.properties().containsKey(Projections.PROPERTY)) {
						catalogue.delete(t.id());
					}
				}
			}
		}
		return report;
	}

	private static ImportReport intoFile(ImportSettings settings, Progress progress) throws MemtraceException {
		Path output = settings.output();
		ImportReport report = settings.operation(name -> Stores.createFile(output, settings.kind(), ImportTask::log)).call(progress);
		if (!settings.projections()) {
			return report;
		}
		List<Path> written = new ArrayList<>(List.of(output));
		boolean complete = false;
		try (TraceStore store = Stores.openFile(output)) {
			Projections.write(store, "", name -> {
				Path file = projection(output, name);
				TraceWriter writer = Stores.createFile(file, settings.kind(), ImportTask::log);
				written.add(file);
				return writer;
			}, progress);
			complete = true;
		} finally {
			if (!complete) {
				written.forEach(ImportTask::delete);
			}
		}
		return report;
	}

	/** {@code app.db} gives {@code app_Virtual.db}. */
	private static Path projection(Path output, String name) {
		String file = output.getFileName().toString();
		int dot = file.endsWith(".mv.db") ? file.length() - ".mv.db".length() : file.lastIndexOf('.');
		return output.resolveSibling(dot < 0 ? file + name : file.substring(0, dot) + name + file.substring(dot));
	}

	private static void delete(Path file) {
		try {
			Files.deleteIfExists(file);
		} catch (IOException e) {
			log(file + " is incomplete and cannot be deleted: " + e.getMessage());
		}
	}

	private static void log(String notice) {
		ILog.of(ImportTask.class).info(notice);
	}
}
