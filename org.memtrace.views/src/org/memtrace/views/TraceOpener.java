// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.swt.widgets.Display;
import org.eclipse.ui.PlatformUI;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.TraceInfo;
import org.memtrace.storage.Stores;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.traces.TraceImport;

/**
 * Opens traces in the background and shows them: one of the catalogue, a database file, or a trace directory, which is
 * imported first unless the catalogue has it already. The last request wins. Display thread.
 */
public final class TraceOpener {
	/** What to open; exactly one is not null. */
	private record Request(TraceInfo listed, Path database, String anything) {
	}

	private final Session session;
	private final LatestResult<Request, OpenTrace> opening;

	TraceOpener(Session session) {
		this.session = session;
		this.opening = new LatestResult<>("Open trace", Display.getCurrent(), () -> !session.isDisposed(),
				LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected OpenTrace compute(Request request, Progress progress) throws MemtraceException {
				return TraceOpener.this.open(request, progress);
			}

			@Override
			protected void show(Request request, OpenTrace trace) {
				session.show(trace);
				if (request.anything() != null) {
					session.catalogueChanged();
				}
			}

			@Override
			protected void dropped(OpenTrace trace) {
				trace.close();
			}

			@Override
			protected void failed(Request request, String message) {
				MessageDialog.openError(PlatformUI.getWorkbench().getModalDialogShellProvider().getShell(),
						"The trace cannot be opened", message);
			}

			@Override
			protected void progress(String step, double fraction) {
				session.opening(new Opening(step, fraction));
			}

			@Override
			protected void busy(boolean busy) {
				session.opening(busy ? new Opening("Opening", -1) : null);
			}
		};
	}

	/** A trace of the catalogue. */
	public void open(TraceInfo listed) {
		opening.submit(new Request(listed, null, null));
	}

	/** A trace database, also one in no catalogue. */
	public void openDatabase(Path file) {
		opening.submit(new Request(null, file, null));
	}

	/** Anything that a command line can name: directory, database, name or number in the catalogue. */
	public void open(String anything) {
		opening.submit(new Request(null, null, anything));
	}

	/** Stops opening; what was imported half is removed. */
	public void cancel() {
		opening.cancel();
	}

	private OpenTrace open(Request r, Progress progress) throws MemtraceException {
		progress.begin("Opening", -1);
		if (r.listed() != null) {
			return new OpenTrace(session.catalogue().open(r.listed().id()), progress);
		}
		if (r.database() != null) {
			return new OpenTrace(Stores.openFile(r.database()), progress);
		}
		Path path;
		try {
			path = Path.of(r.anything());
		} catch (InvalidPathException e) {
			path = null;
		}
		if (path != null && Files.isRegularFile(path)) {
			return new OpenTrace(Stores.openFile(path), progress);
		}
		TraceInfo found;
		if (path != null && Files.isDirectory(path)) {
			found = TraceImport.once(session.catalogue(), path, progress);
		} else if (r.anything().indexOf('/') >= 0) {
			throw new StoreException(r.anything() + " does not exist.");
		} else {
			found = session.catalogue().find(r.anything());
		}
		return new OpenTrace(session.catalogue().open(found.id()), progress);
	}
}
