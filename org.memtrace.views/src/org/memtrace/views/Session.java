// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.eclipse.core.runtime.ILog;
import org.eclipse.ui.services.IDisposable;
import org.memtrace.analysis.Colours;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceCatalogue;
import org.memtrace.model.TraceInfo;
import org.memtrace.storage.Stores;

/**
 * What the workbench works on: the catalogue of traces and the trace that is shown. One per workbench, a workbench
 * service: {@code site.getService(Session.class)}. Display thread only, except {@link #catalogue}.
 */
public final class Session implements IDisposable {
	/** Follows the session; called on the display thread. */
	public interface Listener {
		/** A trace was imported, renamed or deleted. */
		default void catalogueChanged() {
		}

		/** A database file was opened or closed. */
		default void filesChanged() {
		}

		/** Another trace is shown; null none. */
		default void traceChanged(OpenTrace trace) {
		}

		/** The trace that is shown has got another name. */
		default void traceRenamed(OpenTrace trace) {
		}

		/** The picture that is shown is another one. */
		default void pictureChanged(PictureStatus status) {
		}

		/** Colours of event types, producers or threads are others. */
		default void coloursChanged() {
		}

		/** How far the opening of a trace is; null when nothing is being opened. */
		default void opening(Opening state) {
		}
	}

	/** Opens the catalogue when it is needed first. */
	@FunctionalInterface
	public interface CatalogueOpener {
		TraceCatalogue open() throws MemtraceException;
	}

	private final List<Listener> listeners = new CopyOnWriteArrayList<>();
	private final Colours colours = new Colours();
	private CatalogueOpener opener;
	private TraceCatalogue catalogue;
	private OpenTrace trace;
	private List<OpenFile> files = List.of();
	private PictureStatus status = PictureStatus.NONE;
	private TraceOpener traceOpener;
	private Opening opening;
	private boolean disposed;

	/** @param opener opens the catalogue */
	public Session(CatalogueOpener opener) {
		this.opener = opener;
		colours.addListener(this::coloursChanged);
	}

	/** The catalogue; opened by the first call, which should not be on the display thread. */
	public synchronized TraceCatalogue catalogue() throws MemtraceException {
		if (catalogue == null) {
			catalogue = opener.open();
		}
		return catalogue;
	}

	/** Uses another catalogue from now on. */
	public void useCatalogue(CatalogueOpener other) {
		show(null);
		synchronized (this) {
			if (catalogue != null) {
				catalogue.close();
				catalogue = null;
			}
			opener = other;
		}
		catalogueChanged();
	}

	/** Uses the catalogue in a directory from now on. */
	public void useCatalogue(Path directory) {
		useCatalogue(() -> openDirectory(directory));
	}

	/** Opens the catalogue in a directory; what had to be cleaned up stands in the log. */
	static TraceCatalogue openDirectory(Path directory) throws MemtraceException {
		return Stores.openCatalogue(directory, notice -> ILog.of(Session.class).info(notice));
	}

	/** The colours of all views; listeners are told on the display thread. */
	public Colours colours() {
		return colours;
	}

	public void addListener(Listener l) {
		listeners.add(l);
	}

	public void removeListener(Listener l) {
		listeners.remove(l);
	}

	/** The trace that is shown, or null. */
	public OpenTrace trace() {
		return trace;
	}

	/** Shows a trace (null: none) and closes the one before. */
	public void show(OpenTrace next) {
		if (next == trace) {
			return;
		}
		OpenTrace old = trace;
		trace = next;
		if (next != null && next.file() != null) {
			remember(next.file());
		}
		status(PictureStatus.NONE);
		for (Listener l : listeners) {
			l.traceChanged(next);
		}
		if (old != null) {
			old.close();
		}
	}

	/** Database files that were opened and not closed, in the order of opening. The one that is shown is among them. */
	public List<OpenFile> files() {
		return files;
	}

	/** Adds a file to the list, or takes what is now in it. */
	void remember(OpenFile file) {
		List<OpenFile> now = new ArrayList<>(files);
		int at = 0;
		while (at < now.size() && !now.get(at).path().equals(file.path())) {
			at++;
		}
		if (at == now.size()) {
			now.add(file);
		} else {
			now.set(at, file); // the same file may have got another content
		}
		files(now);
	}

	private void files(List<OpenFile> now) {
		if (!now.equals(files)) {
			files = List.copyOf(now);
			for (Listener l : listeners) {
				l.filesChanged();
			}
		}
	}

	/** Closes the trace that is shown. */
	public void closeShown() {
		if (trace != null && trace.file() != null) {
			close(trace.file());
		} else {
			show(null);
		}
	}

	/** Takes a database file from the list, and from the views when it is shown. */
	public void close(OpenFile file) {
		if (trace != null && trace.isFile(file)) {
			show(null);
		}
		files(files.stream().filter(f -> !f.path().equals(file.path())).toList());
	}

	public PictureStatus status() {
		return status;
	}

	public void status(PictureStatus now) {
		if (!now.equals(status)) {
			status = now;
			for (Listener l : listeners) {
				l.pictureChanged(now);
			}
		}
	}

	private void coloursChanged() {
		for (Listener l : listeners) {
			l.coloursChanged();
		}
	}

	/** Tells everybody that the catalogue has changed. */
	public void catalogueChanged() {
		for (Listener l : listeners) {
			l.catalogueChanged();
		}
	}

	/** What the catalogue now says about a trace: its name may be a new one. */
	public void listed(TraceInfo now) {
		if (trace != null && trace.isListed(now) && !trace.name().equals(now.alias())) {
			trace.rename(now);
			for (Listener l : listeners) {
				l.traceRenamed(trace);
			}
		}
	}

	/** What is being opened, null when nothing is. */
	public Opening opening() {
		return opening;
	}

	void opening(Opening now) {
		opening = now;
		for (Listener l : listeners) {
			l.opening(now);
		}
	}

	/** Opens traces and shows them. */
	public TraceOpener opener() {
		if (traceOpener == null) {
			traceOpener = new TraceOpener(this);
		}
		return traceOpener;
	}

	boolean isDisposed() {
		return disposed;
	}

	@Override
	public void dispose() {
		disposed = true;
		if (traceOpener != null) {
			traceOpener.cancel();
		}
		listeners.clear();
		if (trace != null) {
			trace.close();
			trace = null;
		}
		synchronized (this) {
			if (catalogue != null) {
				try {
					catalogue.close();
				} catch (RuntimeException e) {
					ILog.of(Session.class).error("Closing the catalogue of traces failed.", e);
				}
				catalogue = null;
			}
		}
	}
}
