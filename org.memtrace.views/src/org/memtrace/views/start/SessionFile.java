// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.start;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.IProgressMonitor;
import org.eclipse.core.runtime.IStatus;
import org.eclipse.core.runtime.Status;
import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.swt.widgets.Display;
import org.memtrace.analysis.selection.KeptSession;
import org.memtrace.analysis.selection.StateText;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.CataloguePlace;
import org.memtrace.model.store.TraceStore;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.jobs.OnDisplay;
import org.memtrace.views.session.OpenFile;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.Session;
import org.memtrace.views.session.TraceFiles;
import org.memtrace.views.session.TraceGroup;

/**
 * What the workbench shows, kept in a file while it does not run: {@link KeptSession}. Which views there are and in which groups is kept by
 * the platform.
 */
public final class SessionFile {
	/** Name of the file in the directory of the state. */
	public static final String NAME = "session.json";

	/** A trace that is there, for a group. */
	private record Found(KeptSession.Shown shown, TraceInfo listed, Path file) {
	}

	private SessionFile() {
	}

	/** Writes what is shown; a file that cannot be written is only logged. Display thread. */
	public static void save(Session session, Path file) {
		Path part = file.resolveSibling(file.getFileName() + ".tmp");
		try {
			Files.writeString(part, of(session).toJson());
			Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
		} catch (IOException | MemtraceException e) {
			ILog.of(SessionFile.class).info("What was shown will not be shown again: " + e);
		}
	}

	private static KeptSession of(Session session) throws MemtraceException {
		List<KeptSession.Shown> shown = new ArrayList<>();
		List<KeptSession.Link> links = new ArrayList<>();
		for (TraceGroup g : session.groups()) {
			OpenTrace t = g.trace();
			if (t == null) {
				continue;
			}
			TraceSelection selection = t.selection();
			boolean file = t.file() != null;
			shown.add(new KeptSession.Shown(g.number(), file ? -1 : t.info().id(), file ? t.file().path().toString() : t.info().databaseName(),
					t.space(), StateText.of(t, selection.state()), Arrays.stream(selection.marks()).boxed().toList()));
			for (TraceGroup other : session.allLinkedWith(g)) {
				if (other.number() > g.number()) {
					links.add(new KeptSession.Link(g.number(), other.number(), session.linked(g, other)));
				}
			}
		}
		return new KeptSession(catalogue(session), shown, links, session.files().stream().map(f -> f.path().toString()).toList());
	}

	private static String catalogue(Session session) throws MemtraceException {
		CataloguePlace place = session.catalogue().place();
		return place == null ? "" : place.isServer() ? place.toString() : place.directory().toAbsolutePath().normalize().toString();
	}

	/**
	 * Opens what {@link #save} wrote, one trace after the other, in the background; what somebody opens meanwhile ends it. Traces and files
	 * that are not there any more, groups that have no view, and another catalogue are passed over. Display thread.
	 */
	public static void restore(Session session, Path file) {
		Display display = Display.getCurrent();
		Job job = new Job("Show what was shown") {
			@Override
			protected IStatus run(IProgressMonitor monitor) {
				try {
					KeptSession kept = KeptSession.parse(Files.readString(file));
					List<OpenFile> files = files(kept);
					Deque<Found> found = new ArrayDeque<>(find(session, kept, files));
					OnDisplay.later(display, () -> {
						if (!session.isDisposed() && session.opening() == null) {
							files.forEach(session::remember);
							next(session, kept, found);
						}
					});
				} catch (IOException | MemtraceException e) {
					ILog.of(SessionFile.class).info("What was shown is not shown again: " + file + ": " + e.getMessage());
				}
				return Status.OK_STATUS;
			}

			@Override
			public boolean belongsTo(Object family) {
				return family == LatestResult.class;
			}
		};
		job.setSystem(true);
		if (Files.isRegularFile(file)) {
			job.schedule();
		}
	}

	private static List<OpenFile> files(KeptSession kept) {
		List<OpenFile> files = new ArrayList<>();
		for (String name : kept.files()) {
			try {
				Path path = Path.of(name);
				if (TraceFiles.isThere(path)) {
					try (TraceStore store = TraceFiles.open(path)) {
						files.add(new OpenFile(path, store.info()));
					}
				}
			} catch (MemtraceException | InvalidPathException e) {
				ILog.of(SessionFile.class).info(name + " is not opened again: " + e.getMessage());
			}
		}
		return files;
	}

	private static List<Found> find(Session session, KeptSession kept, List<OpenFile> files) throws MemtraceException {
		List<TraceInfo> listed = kept.catalogue().equals(catalogue(session)) ? session.catalogue().list() : List.of();
		List<Found> found = new ArrayList<>();
		for (KeptSession.Shown s : kept.shown()) {
			if (s.isFile()) {
				files.stream().filter(f -> f.path().toString().equals(s.database())).findFirst()
						.ifPresent(f -> found.add(new Found(s, null, f.path())));
			} else {
				listed.stream().filter(s::is).findFirst().ifPresent(t -> found.add(new Found(s, t, null)));
			}
		}
		return found;
	}

	private static void next(Session session, KeptSession kept, Deque<Found> rest) {
		Found f = rest.poll();
		if (f == null) {
			for (KeptSession.Link l : kept.links()) {
				TraceGroup a = group(session, l.a());
				TraceGroup b = group(session, l.b());
				if (a != null && b != null && a != b) {
					session.link(a, b, l.time());
				}
			}
			return;
		}
		TraceGroup group = group(session, f.shown().group());
		if (group == null || group.trace() != null) {
			next(session, kept, rest);
			return;
		}
		session.opener().reopen(group, f.listed(), f.file(), f.shown().space(), t -> {
			t.selection().go(f.shown().state(t));
			t.selection().markAll(f.shown().marks().stream().mapToInt(i -> i).filter(i -> i >= 0 && i < t.producers().size()).toArray());
		}, () -> next(session, kept, rest));
	}

	/** A group that is there, or null. */
	private static TraceGroup group(Session session, int number) {
		return session.groups().stream().filter(g -> g.number() == number).findFirst().orElse(null);
	}
}
