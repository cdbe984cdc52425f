// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.session;

import java.nio.file.Path;

import org.eclipse.core.runtime.ILog;
import org.memtrace.aggregation.build.Preparation;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.TraceCompletion;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.record.Installation;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.views.jobs.KeptWork;

/** Imports trace directories into the catalogue. Not on the display thread. */
public final class TraceImport {
	private TraceImport() {
	}

	/** The trace of a directory: what the catalogue has of exactly this content, else imported now. */
	public static TraceInfo once(TraceCatalogue catalogue, Path directory, Progress progress) throws MemtraceException {
		String incomplete = complete(directory, progress);
		String identity = ImportOperation.identity(directory);
		for (TraceInfo known : catalogue.list()) {
			if (identity.equals(known.properties().get(ImportSource.PROPERTY_SOURCE_IDENTITY))) {
				return known;
			}
		}
		return run(catalogue, directory, incomplete, progress).trace();
	}

	/** Imports, under the recorded name. */
	public static ImportReport run(TraceCatalogue catalogue, Path directory, Progress progress) throws MemtraceException {
		return run(catalogue, directory, complete(directory, progress), progress);
	}

	private static ImportReport run(TraceCatalogue catalogue, Path directory, String incomplete, Progress progress)
			throws MemtraceException {
		ImportReport report = KeptWork.run("Import of " + directory.getFileName(),
				() -> {
					ImportReport done = new ImportOperation(directory, catalogue::create).setIncomplete(incomplete).call(progress);
					saveSums(catalogue, done.trace(), progress);
					return done;
				});
		for (String warning : report.warnings()) {
			ILog.of(TraceImport.class).info("Import of " + directory + ": " + warning);
		}
		return report;
	}

	/** Saves the sums of a new trace with it, so that it opens faster. Without them it is as complete: whatever is wrong is only logged. */
	public static void saveSums(TraceCatalogue catalogue, TraceInfo trace, Progress progress) {
		try (TraceStore store = catalogue.open(trace.id())) {
			Preparation.save(store, Dimensions.firstPictures(), progress);
		} catch (MemtraceException e) {
			ILog.of(TraceImport.class).info("The sums of " + trace.alias() + " were not saved: " + e.getMessage());
		}
	}

	/**
	 * Completes a trace whose recorder was killed, as far as that is possible.
	 *
	 * @return for {@link ImportOperation#setIncomplete}
	 */
	public static String complete(Path directory, Progress progress) throws MemtraceException {
		return TraceCompletion.complete(directory, Installation.find(RecordHistory.launcher()), progress);
	}
}
