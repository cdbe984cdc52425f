// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.record;

import java.nio.file.Path;

import org.memtrace.importer.record.CheckResult;
import org.memtrace.importer.record.Installation;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.storage.Stores;
import org.memtrace.views.session.RecordHistory;
import org.memtrace.views.session.Session;

/**
 * What one needs to know about this machine before recording on it.
 *
 * @param check null when there is no recorder, or it cannot check
 * @param problem why nothing can be recorded, null when it can
 * @param recordings folder for trace directories that have no better place
 */
record Machine(Installation installation, CheckResult check, String problem, Path recordings) {
	private static final String RECORDINGS = "recordings";

	/** Takes a moment: not on the display thread. */
	static Machine look(Session session, Progress progress) throws MemtraceException {
		Installation installation = Installation.find(RecordHistory.launcher());
		Path directory = null;
		try {
			TraceCatalogue catalogue = session.catalogue();
			directory = catalogue.directory();
		} catch (CancelledException e) {
			throw e;
		} catch (MemtraceException e) {
			// the list of traces says so; the import after the recording will, too
		}
		Path recordings = (directory == null ? Stores.defaultCatalogueDirectory() : directory).toAbsolutePath().resolve(RECORDINGS);
		if (installation.problem() != null) {
			return new Machine(installation, null, installation.problem(), recordings);
		}
		try {
			CheckResult check = CheckResult.run(installation.launcher().toString(), progress);
			return new Machine(installation, check, null, recordings);
		} catch (CancelledException e) {
			throw e;
		} catch (MemtraceException e) {
			return new Machine(installation, null, e.getMessage(), recordings);
		}
	}
}
