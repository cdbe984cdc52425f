// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.session;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.eclipse.core.runtime.ILog;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.swt.widgets.Display;
import org.eclipse.ui.IWorkbenchWindow;
import org.eclipse.ui.PartInitException;
import org.eclipse.ui.PlatformUI;
import org.memtrace.analysis.selection.SharedView;
import org.memtrace.analysis.selection.StateRequest;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.store.CataloguePlace;
import org.memtrace.model.store.TraceStore;
import org.memtrace.views.jobs.LatestResult;

/**
 * Opens traces in the background and shows them: one of the catalogue, a database file, a Parquet folder, or a trace directory, which is
 * imported first unless the catalogue has it already. The last request wins. Display thread.
 */
public final class TraceOpener {
	/**
	 * What to open; exactly one of listed, database and names is not null. The last of the names is shown.
	 *
	 * @param then what is done when it is shown; may be null
	 * @param space whose tree of producers is wanted
	 * @param prepare what is done with the trace before it is shown, such as going to a part of it; null: the whole trace is shown
	 * @param state what is to be shown of the last of the names
	 * @param open database files and folders that are open
	 */
	private record Request(TraceGroup group, TraceInfo listed, Path database, List<String> names, Runnable then,
			AddressSpace space, Consumer<OpenTrace> prepare, StateRequest state, List<OpenFile> open) {
		Request(TraceGroup group, TraceInfo listed, Path database, Runnable then, AddressSpace space, Consumer<OpenTrace> prepare) {
			this(group, listed, database, null, then, space, prepare, StateRequest.NONE, List.of());
		}

		Request(TraceGroup group, TraceInfo listed, Path database, Runnable then) {
			this(group, listed, database, then, AddressSpace.VIRTUAL, null);
		}
	}

	/**
	 * @param files database files that were named before the one that is shown
	 * @param listed whether traces of the catalogue were named, some of which may be new there
	 * @param shared the view that was named; null none
	 */
	private record Opened(OpenTrace trace, List<OpenFile> files, boolean listed, SharedView shared) {
		Opened(OpenTrace trace, List<OpenFile> files, boolean listed) {
			this(trace, files, listed, null);
		}
	}

	private final Session session;
	private final LatestResult<Request, Opened> opening;
	/** Of the newest request. */
	private TraceGroup target;
	/** What is opened now, for a person: one after the other where a request has several. */
	private volatile String name = "";

	TraceOpener(Session session) {
		this.session = session;
		this.opening = new LatestResult<>("Open trace", Display.getCurrent(), () -> !session.isDisposed(),
				LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.URGENT) {
			@Override
			protected Opened compute(Request request, Progress progress) throws MemtraceException {
				return TraceOpener.this.open(request, progress);
			}

			@Override
			protected void show(Request request, Opened result) {
				result.files().forEach(session::remember);
				if (request.prepare() != null) {
					request.prepare().accept(result.trace());
				}
				String wrong = go(result.trace(), result.shared(), request.state());
				if (session.has(request.group())) {
					session.show(request.group(), result.trace());
					toFront(result.shared());
				} else {
					result.trace().close(); // its views were closed meanwhile
				}
				tell(result.trace(), wrong);
				if (request.then() != null) {
					request.then().run();
				}
				if (result.listed()) {
					session.catalogueChanged();
				}
			}

			@Override
			protected void dropped(Opened result) {
				result.trace().close();
			}

			@Override
			protected void failed(Request request, String message) {
				MessageDialog.openError(PlatformUI.getWorkbench().getModalDialogShellProvider().getShell(),
						"The trace cannot be opened", message);
			}

			@Override
			protected void progress(String step, double fraction) {
				session.opening(new Opening(target, name, step, fraction));
			}

			@Override
			protected void busy(boolean busy) {
				session.opening(busy ? new Opening(target, name, "Opening", -1) : null);
			}
		};
	}

	/** A trace of the catalogue, in the current group. */
	public void open(TraceInfo listed) {
		open(session.group(), listed);
	}

	/** A trace of the catalogue, in a group. What another group has loaded already is not loaded again. */
	public void open(TraceGroup group, TraceInfo listed) {
		open(group, listed, null);
	}

	/** Opens a listed trace and then runs {@code then}; not when it cannot be opened, or something else is opened. */
	public void open(TraceGroup group, TraceInfo listed, Runnable then) {
		OpenTrace loaded = session.find(t -> t.isListed(listed) && t.space() == AddressSpace.VIRTUAL);
		if (loaded != null) {
			opening.cancel();
			session.show(group, loaded.fresh());
			if (then != null) {
				then.run();
			}
		} else {
			submit(new Request(group, listed, null, then));
		}
	}

	/** A trace database, also one in no catalogue, or a Parquet folder, in the current group. */
	public void openDatabase(Path file) {
		openDatabase(session.group(), file);
	}

	/** Opens a database in a group. */
	public void openDatabase(TraceGroup group, Path file) {
		openDatabase(group, file, null);
	}

	/** Opens a database and then runs {@code then}; not when it cannot be opened, or something else is opened. */
	public void openDatabase(TraceGroup group, Path file, Runnable then) {
		submit(new Request(group, null, file, then));
	}

	/**
	 * A trace that is shown, through the tree of another address space. Time, viewpoint, level and filters stay; producers do not, those
	 * of the two trees are unrelated.
	 */
	public void openSpace(TraceGroup group, OpenTrace shown, AddressSpace space) {
		ViewState before = shown.selection().state();
		reopen(group, shown.file() == null ? shown.info() : null, shown.file() == null ? null : shown.file().path(), space,
				t -> t.selection().go(before.withProducer(t.selection().initial().producer())), null);
	}

	/**
	 * A trace, not from its beginning. What another group has loaded already is not loaded again.
	 *
	 * @param listed of the catalogue; null: a file
	 * @param file the database; null: one of the catalogue
	 * @param prepare what is done with the trace before it is shown
	 * @param then what is done when it is shown; may be null
	 */
	public void reopen(TraceGroup group, TraceInfo listed, Path file, AddressSpace space, Consumer<OpenTrace> prepare, Runnable then) {
		OpenTrace loaded = session.find(t -> t.space() == space
				&& (listed != null ? t.isListed(listed) : t.file() != null && t.file().path().equals(file)));
		if (loaded == null) {
			submit(new Request(group, listed, file, then, space, prepare));
			return;
		}
		opening.cancel();
		OpenTrace again = loaded.fresh();
		prepare.accept(again);
		session.show(group, again);
		if (then != null) {
			then.run();
		}
	}

	/**
	 * Anything that a command line can name: directories, databases, Parquet folders, names or numbers in the catalogue, links to views or
	 * their files. All directories are imported, the last of all is shown in the current group.
	 */
	public void open(String... names) {
		open(List.of(names), StateRequest.NONE);
	}

	/** Opens traces by name. {@code state} says what is to be shown of the last one. */
	public void open(List<String> names, StateRequest state) {
		if (!names.isEmpty()) {
			submit(new Request(session.group(), null, null, names, null, AddressSpace.VIRTUAL, null, state, session.files()));
		}
	}

	/** Shows a part of the trace that the current group shows; without one nothing happens. */
	public void apply(StateRequest state) {
		OpenTrace shown = session.trace();
		if (shown != null) {
			tell(shown, go(shown, null, state));
		}
	}

	/** Goes where a link and the command line say, the latter last; null, or a sentence about what the trace has not. */
	private static String go(OpenTrace trace, SharedView shared, StateRequest state) {
		try {
			if (shared != null) {
				trace.selection().go(shared.state(trace));
				trace.selection().markAll(shared.marks(trace));
			}
			if (!state.isEmpty()) {
				trace.selection().go(state.in(trace, trace.savedFilters()));
			}
			return null;
		} catch (MemtraceException e) {
			return e.getMessage();
		}
	}

	private static void tell(OpenTrace trace, String wrong) {
		if (wrong != null) {
			MessageDialog.openWarning(PlatformUI.getWorkbench().getModalDialogShellProvider().getShell(), trace.name(),
					"The trace is shown, but not the part that was asked for: " + wrong + ".");
		}
	}

	/** The view that was in front where the link was made, if there is such a one here. */
	private static void toFront(SharedView shared) {
		IWorkbenchWindow window = PlatformUI.getWorkbench().getActiveWorkbenchWindow();
		String id = shared == null || shared.front().isEmpty() ? null : ViewIds.PREFIX + shared.front();
		if (id != null && window != null && window.getActivePage() != null && PlatformUI.getWorkbench().getViewRegistry().find(id) != null) {
			try {
				window.getActivePage().showView(id);
			} catch (PartInitException e) {
				ILog.of(TraceOpener.class).info(id + " is not shown: " + e.getMessage());
			}
		}
	}

	private void submit(Request request) {
		target = request.group();
		if (!opening.isBusy()) {
			name = nameOf(request);
		}
		opening.submit(request);
	}

	private static String nameOf(Request r) {
		return r.listed() != null ? r.listed().alias() : r.database() != null ? fileName(r.database().toString()) : fileName(r.names().get(0));
	}

	/** The last part of a path or address; of a link what it is. */
	private static String fileName(String path) {
		if (SharedView.isNamed(path)) {
			return "a view";
		}
		String[] parts = path.split("/");
		return parts.length == 0 || parts[parts.length - 1].isEmpty() ? path : parts[parts.length - 1];
	}

	/** Stops opening; what was imported half is removed. */
	public void cancel() {
		opening.cancel();
	}

	/** A database in the directory of the catalogue is the trace that the catalogue knows. */
	private OpenTrace openFile(Path file, AddressSpace space, Progress progress) throws MemtraceException {
		Path path = file.toAbsolutePath().normalize();
		TraceInfo listed = listed(path);
		return listed != null ? new OpenTrace(session.catalogue().open(listed.id()), null, space, progress)
				: new OpenTrace(TraceFiles.open(path), path, space, progress);
	}

	/** The trace of the catalogue that a file is the database of, or null. */
	private TraceInfo listed(Path path) {
		try {
			Path directory = session.catalogue().directory();
			if (directory == null || !directory.toAbsolutePath().normalize().equals(path.getParent())) {
				return null;
			}
			String name = path.getFileName().toString();
			return session.catalogue().list().stream().filter(t -> t.databaseName().equals(name)).findFirst().orElse(null);
		} catch (MemtraceException e) {
			return null; // a file can be seen without a catalogue; the list of traces says what is wrong with it
		}
	}

	private Opened open(Request r, Progress progress) throws MemtraceException {
		name = nameOf(r);
		progress.begin("Opening", -1);
		if (r.listed() != null) {
			return new Opened(new OpenTrace(session.catalogue().open(r.listed().id()), null, r.space(), progress), List.of(), false);
		}
		if (r.database() != null) {
			return new Opened(openFile(r.database(), r.space(), progress), List.of(), false);
		}
		List<OpenFile> files = new ArrayList<>();
		boolean listed = false;
		int last = r.names().size() - 1;
		for (String named : r.names().subList(0, last)) {
			name = fileName(named);
			Path path = path(named, progress);
			if (SharedView.isNamed(named)) {
				throw new StoreException("A link to a view is the last of what is opened: " + named);
			} else if (path != null && TraceFiles.isThere(path)) {
				Path file = path.toAbsolutePath().normalize();
				if (listed(file) == null) {
					try (TraceStore store = TraceFiles.open(file)) {
						files.add(new OpenFile(file, store.info()));
					}
				}
			} else {
				find(named, path, progress);
				listed = true;
			}
		}
		String shown = r.names().get(last);
		name = fileName(shown);
		Path path = path(shown, progress);
		if (SharedView.isNamed(shown)) {
			return openShared(read(shown, path), files, r.open(), progress);
		}
		if (path != null && TraceFiles.isThere(path)) {
			return new Opened(openFile(path, AddressSpace.VIRTUAL, progress), files, listed);
		}
		TraceInfo found = find(shown, path, progress);
		return new Opened(new OpenTrace(session.catalogue().open(found.id()), progress), files, true);
	}

	private static SharedView read(String name, Path path) throws MemtraceException {
		if (name.startsWith(SharedView.LINK)) {
			return SharedView.parse(name);
		}
		try {
			return SharedView.parse(Files.readString(path));
		} catch (IOException e) {
			throw new StoreException(name + " cannot be read: " + e, e);
		} catch (MemtraceException e) {
			throw new StoreException(name + ": " + e.getMessage(), e);
		}
	}

	/** The trace that a view is of: one of the catalogue, or a database file that is open or was named before the view. */
	private Opened openShared(SharedView view, List<OpenFile> named, List<OpenFile> open, Progress progress) throws MemtraceException {
		for (TraceInfo t : session.catalogue().list()) {
			if (view.isOf(t)) {
				return new Opened(new OpenTrace(session.catalogue().open(t.id()), null, view.space(), progress), named, true, view);
			}
		}
		for (OpenFile f : Stream.concat(named.stream(), open.stream()).toList()) {
			if (view.isOf(f.info())) {
				return new Opened(openFile(f.path(), view.space(), progress), named, false, view);
			}
		}
		throw new StoreException("The view is of " + view.describeTrace() + ", which is neither in the catalogue nor open. Import or open the trace first.");
	}

	/** Null for what is no path; of a folder in object storage the one that stands for it. */
	private static Path path(String name, Progress progress) throws MemtraceException {
		if (TraceFiles.isAddress(name)) {
			return TraceFiles.local(name, progress);
		}
		try {
			return Path.of(name);
		} catch (InvalidPathException e) {
			return null;
		}
	}

	/** The trace of the catalogue with a name or number, or of a directory, which is imported first when it is new. */
	private TraceInfo find(String name, Path path, Progress progress) throws MemtraceException {
		if (CataloguePlace.isServer(name)) {
			CataloguePlace.Trace trace = CataloguePlace.parseTrace(name);
			if (!trace.place().equals(session.catalogue().place())) {
				throw new StoreException(name + " is in another catalogue; choose " + trace.place()
						+ " in the preferences, or start with --catalogue.");
			}
			return session.catalogue().find(trace.name());
		}
		if (path != null && Files.isDirectory(path)) {
			return TraceImport.once(session.catalogue(), path, progress);
		} else if (name.indexOf('/') >= 0) {
			throw new StoreException(name + " does not exist.");
		}
		return session.catalogue().find(name);
	}
}
