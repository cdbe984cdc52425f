// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import java.nio.file.Path;
import java.util.List;

import org.eclipse.core.runtime.ILog;
import org.memtrace.importer.ImportSettings;
import org.memtrace.importer.Projections;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceGroup;
import org.memtrace.storage.Stores;
import org.memtrace.views.jobs.KeptWork;
import org.memtrace.views.session.TraceImport;

/** Imports as the wizard was told: into the catalogue or a file, with the traces for FrameSoc when they are wanted. */
final class ImportTask {
	private ImportTask() {
	}

	/** All or nothing; not on the display thread. */
	static ImportReport run(TraceCatalogue catalogue, ImportSettings settings, Progress progress) throws MemtraceException {
		return KeptWork.run("Import of " + settings.input().get(0).getFileName(), () -> start(catalogue, settings, progress));
	}

	private static ImportReport start(TraceCatalogue catalogue, ImportSettings settings, Progress progress) throws MemtraceException {
		String incomplete = settings.input().size() == 1 ? TraceImport.complete(settings.input().get(0), progress) : null;
		if (settings.output() != null) {
			return intoFile(settings, incomplete, progress);
		}
		// the catalogue of the session makes databases of the kind in the preferences
		try (TraceCatalogue other = Stores.openCatalogue(catalogue.place(), settings.kind(), ImportTask::log)) {
			return intoCatalogue(other, settings, incomplete, progress);
		}
	}

	private static ImportReport intoCatalogue(TraceCatalogue catalogue, ImportSettings settings, String incomplete, Progress progress)
			throws MemtraceException {
		if (!settings.projections()) {
			ImportReport report = settings.operation(catalogue::create).setIncomplete(incomplete).call(progress);
			TraceImport.saveSums(catalogue, report.trace(), progress);
			return report;
		}
		try (TraceGroup group = catalogue.group()) {
			ImportReport report = settings.operation(group::create).setIncomplete(incomplete).call(progress);
			List<TraceInfo> all = Projections.publish(group, report, report.trace().databaseName().replaceFirst("\\.mv\\.db$", ""), name -> name,
					progress);
			TraceImport.saveSums(catalogue, all.get(0), progress);
			return report;
		}
	}

	private static ImportReport intoFile(ImportSettings settings, String incomplete, Progress progress)
			throws MemtraceException {
		Path output = settings.output().toAbsolutePath();
		if (!settings.projections()) {
			return settings.operation(name -> Stores.createFile(output, settings.kind(), ImportTask::log)).setIncomplete(incomplete)
					.call(progress);
		}
		try (TraceGroup group = Stores.createFiles(output.getParent(), settings.kind(), ImportTask::log)) {
			ImportReport report = settings.operation(name -> group.create(output.getFileName().toString()))
					.setIncomplete(incomplete).call(progress);
			Projections.publish(group, report, "", name -> projection(output, name), progress);
			return report;
		}
	}

	/** {@code app.db} gives {@code app_Virtual.db}. */
	private static String projection(Path output, String name) {
		String file = output.getFileName().toString();
		int dot = file.endsWith(".mv.db") ? file.length() - ".mv.db".length() : file.lastIndexOf('.');
		return dot < 0 ? file + name : file.substring(0, dot) + name + file.substring(dot);
	}

	private static void log(String notice) {
		ILog.of(ImportTask.class).info(notice);
	}
}
