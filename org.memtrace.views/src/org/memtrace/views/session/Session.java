// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.session;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

import org.eclipse.core.runtime.ILog;
import org.eclipse.ui.services.IDisposable;
import org.memtrace.analysis.colour.Colours;
import org.memtrace.analysis.selection.SelectionLink;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.CataloguePlace;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.storage.Stores;
import org.memtrace.views.preferences.Settings;

/**
 * What the workbench works on: the catalogue of traces and the traces that are shown. One per workbench, a workbench
 * service: {@code site.getService(Session.class)}. Display thread only, except {@link #catalogue}.
 */
public final class Session implements IDisposable {
	/** Follows the session; called on the display thread. */
	public interface Listener {
		/** One that does the same for every change of a group and of the groups. */
		static Listener ofGroups(Runnable what) {
			return new Listener() {
				@Override
				public void groupChanged(TraceGroup group) {
					what.run();
				}

				@Override
				public void groupsChanged() {
					what.run();
				}
			};
		}

		/** A trace was imported, renamed or deleted. */
		default void catalogueChanged() {
		}

		/** A database file was opened or closed. */
		default void filesChanged() {
		}

		/** The current group shows another trace, or another group is the current one; null none. */
		default void traceChanged(OpenTrace trace) {
		}

		/** A group shows another trace, or none. */
		default void groupChanged(TraceGroup group) {
		}

		/** Groups came, went, or were linked. */
		default void groupsChanged() {
		}

		/** Another view is active, or shows another trace: what commands are about. Null none. */
		default void activeChanged(OpenTrace trace) {
		}

		/** Certain traces are no longer to be shown by anybody: they were closed or deleted. */
		default void forget(Predicate<OpenTrace> which) {
		}

		/** A trace that is shown has got another name or other properties. */
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
	/** Closed at the end: an import may still be writing through them. */
	private final List<TraceCatalogue> formerCatalogues = new ArrayList<>();
	/** By number. */
	private final TreeMap<Integer, TraceGroup> groups = new TreeMap<>();
	private final List<GroupLink> links = new ArrayList<>();
	private TraceGroup current = new TraceGroup(1);
	/** What a view that is active and locked shows; null: what its group does. */
	private OpenTrace activeLocked;
	private List<OpenFile> files = List.of();
	private TraceOpener traceOpener;
	private Opening opening;
	private boolean disposed;

	/** @param opener opens the catalogue */
	public Session(CatalogueOpener opener) {
		this.opener = opener;
		colours.addListener(this::coloursChanged);
		groups.put(current.number(), current);
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
		forget(t -> true);
		synchronized (this) {
			if (catalogue != null) {
				catalogue.close();
				catalogue = null;
			}
			opener = other;
		}
		catalogueChanged();
	}

	/** The same catalogue with the settings as they are now; what is open or under way is not concerned. */
	public synchronized void reopenCatalogue() {
		if (catalogue != null) {
			formerCatalogues.add(catalogue);
			catalogue = null;
		}
	}

	/** Uses the catalogue in a directory from now on. */
	public void useCatalogue(Path directory) {
		useCatalogue(CataloguePlace.of(directory));
	}

	/** Uses the catalogue at a place from now on. */
	public void useCatalogue(CataloguePlace place) {
		useCatalogue(() -> open(place));
	}

	/** Opens the catalogue at a place; what had to be cleaned up stands in the log. */
	public static TraceCatalogue open(CataloguePlace place) throws MemtraceException {
		return Stores.openCatalogue(place, Settings.database(), notice -> ILog.of(Session.class).info(notice));
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

	/** The trace that the current group shows, or null. */
	public OpenTrace trace() {
		return current.trace();
	}

	/** The trace of the active view: that of its group unless the view is locked; null none. What commands are about. */
	public OpenTrace active() {
		return activeLocked != null ? activeLocked : current.trace();
	}

	/** All groups by number; there is always the first. */
	public List<TraceGroup> groups() {
		return List.copyOf(groups.values());
	}

	/** The group of the view that was active last: traces are opened in it. */
	public TraceGroup group() {
		return current;
	}

	/** A group by its number; it is made when there is none. */
	public TraceGroup group(int number) {
		TraceGroup known = groups.get(number);
		if (known != null) {
			return known;
		}
		TraceGroup made = new TraceGroup(number);
		groups.put(number, made);
		listeners.forEach(Listener::groupsChanged);
		return made;
	}

	/** A group with the first number that is free. */
	public TraceGroup newGroup() {
		int number = 1;
		while (groups.containsKey(number)) {
			number++;
		}
		return group(number);
	}

	/** Whether a group has not been given up. */
	boolean has(TraceGroup group) {
		return groups.get(group.number()) == group;
	}

	/** A view of the group has become active; {@code locked} is what it shows when it is locked. */
	public void activate(TraceGroup group, OpenTrace locked) {
		OpenTrace before = active();
		boolean other = group != current;
		current = group;
		activeLocked = locked;
		if (other) {
			for (Listener l : listeners) {
				l.traceChanged(group.trace());
				l.pictureChanged(group.status());
			}
		}
		if (active() != before) {
			listeners.forEach(l -> l.activeChanged(active()));
		}
	}

	/** A view has left a group: the last one takes the group with it, unless it is the first group. */
	public void left(TraceGroup group) {
		if (group.number() > 1 && group.isEmpty() && groups.get(group.number()) == group) {
			unlink(group);
			groups.remove(group.number());
			if (group == current) {
				activate(groups.firstEntry().getValue(), null);
			}
			OpenTrace old = group.trace();
			group.trace(null);
			if (old != null) {
				old.close();
			}
			listeners.forEach(Listener::groupsChanged);
		}
	}

	/** Shows a trace in the current group (null: none) and closes the one before. */
	public void show(OpenTrace next) {
		show(current, next);
	}

	/** Shows a trace in a group (null: none) and closes the one before. The trace then belongs to the group. */
	public void show(TraceGroup group, OpenTrace next) {
		OpenTrace old = group.trace();
		if (next == old) {
			return;
		}
		OpenTrace activeBefore = active();
		group.trace(next);
		if (next != null && next.file() != null) {
			remember(next.file());
		}
		for (Listener l : listeners) {
			l.groupChanged(group);
		}
		if (group == current) {
			for (Listener l : listeners) {
				l.pictureChanged(group.status());
				l.traceChanged(next);
			}
		}
		if (active() != activeBefore) {
			listeners.forEach(l -> l.activeChanged(active()));
		}
		relink(group);
		if (old != null) {
			old.close();
		}
	}

	/** Nobody shows these traces any more. */
	public void forget(Predicate<OpenTrace> which) {
		for (TraceGroup g : groups()) {
			if (g.trace() != null && which.test(g.trace())) {
				show(g, null);
			}
		}
		listeners.forEach(l -> l.forget(which));
	}

	/** Whether a group shows a trace that fits. */
	public boolean shows(Predicate<OpenTrace> which) {
		return groups.values().stream().anyMatch(g -> g.trace() != null && which.test(g.trace()));
	}

	/** An open trace that fits, or null. */
	OpenTrace find(Predicate<OpenTrace> which) {
		return groups.values().stream().map(TraceGroup::trace).filter(t -> t != null && which.test(t)).findFirst()
				.orElse(null);
	}

	/** Two groups that are at the same place, while both show the traces that they showed when they were linked. */
	private static final class GroupLink {
		private final TraceGroup a;
		private final TraceGroup b;
		private final SelectionLink.Time time;
		private final OpenTrace ofA;
		private final OpenTrace ofB;
		private SelectionLink link;

		GroupLink(TraceGroup a, TraceGroup b, SelectionLink.Time time) {
			this.a = a;
			this.b = b;
			this.time = time;
			ofA = a.trace();
			ofB = b.trace();
		}

		boolean isAboutWhatIsShown() {
			return ofA.hasSameDatabase(a.trace()) && ofB.hasSameDatabase(b.trace());
		}

		boolean has(TraceGroup g) {
			return a == g || b == g;
		}

		void make() {
			end();
			link = new SelectionLink(a.trace().selection(), b.trace().selection(), time);
		}

		void end() {
			if (link != null) {
				link.close();
				link = null;
			}
		}
	}

	/**
	 * Links two groups: window, producers, viewpoint, level and filters of the second become those of the first, and stay so until one of
	 * them shows another trace. Does nothing when one of them shows no trace.
	 */
	public void link(TraceGroup a, TraceGroup b, SelectionLink.Time time) {
		if (a == b) {
			throw new IllegalArgumentException("a group cannot be linked with itself");
		}
		if (a.trace() == null || b.trace() == null) {
			return;
		}
		links.stream().filter(l -> l.has(a) && l.has(b)).forEach(GroupLink::end);
		links.removeIf(l -> l.has(a) && l.has(b));
		GroupLink link = new GroupLink(a, b, time);
		links.add(link);
		link.make();
		listeners.forEach(Listener::groupsChanged);
	}

	/** Marks what belongs together in two traces that are shown; a link between them does not look for the same names then. */
	public void mark(OpenTrace a, int[] ofA, OpenTrace b, int[] ofB) {
		for (GroupLink l : links) {
			if (l.link != null && l.link.links(a.selection(), b.selection())) {
				l.link.mark(a.selection(), ofA, ofB);
				return;
			}
		}
		a.selection().markAll(ofA);
		b.selection().markAll(ofB);
	}

	/** Ends all links of a group. */
	public void unlink(TraceGroup group) {
		links.stream().filter(l -> l.has(group)).forEach(GroupLink::end);
		if (links.removeIf(l -> l.has(group))) {
			listeners.forEach(Listener::groupsChanged);
		}
	}

	/** How a group is linked with another one; null: not. */
	public SelectionLink.Time linked(TraceGroup a, TraceGroup b) {
		return links.stream().filter(l -> l.has(a) && l.has(b)).map(l -> l.time).findFirst().orElse(null);
	}

	/** The group that a group is linked with, the first of several; null none. */
	public TraceGroup linkedWith(TraceGroup group) {
		return links.stream().filter(l -> l.has(group)).map(l -> l.a == group ? l.b : l.a).findFirst().orElse(null);
	}

	/** All groups that a group is linked with, in the order of linking. */
	public List<TraceGroup> allLinkedWith(TraceGroup group) {
		return links.stream().filter(l -> l.has(group)).map(l -> l.a == group ? l.b : l.a).toList();
	}

	/** A group shows something else: its links go on with another selection of the same trace, and end with another trace. */
	private void relink(TraceGroup group) {
		boolean ended = false;
		for (GroupLink l : List.copyOf(links)) {
			if (l.has(group)) {
				l.end();
				if (l.isAboutWhatIsShown()) {
					l.make();
				} else {
					links.remove(l);
					ended = true;
				}
			}
		}
		if (ended) {
			listeners.forEach(Listener::groupsChanged);
		}
	}

	/** Database files that were opened and not closed, in the order of opening. The one that is shown is among them. */
	public List<OpenFile> files() {
		return files;
	}

	/** Adds a file to the list, or takes what is now in it. */
	public void remember(OpenFile file) {
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

	/** Closes the trace that the current group shows; a file also leaves the list, and with it all groups. */
	public void closeShown() {
		OpenTrace shown = trace();
		if (shown != null && shown.file() != null) {
			close(shown.file());
		} else {
			show(null);
		}
	}

	/** Takes a database file from the list, and from the views that show it. */
	public void close(OpenFile file) {
		forget(t -> t.isFile(file));
		files(files.stream().filter(f -> !f.path().equals(file.path())).toList());
	}

	/** What the status line says: the picture of the current group. */
	public PictureStatus status() {
		return current.status();
	}

	/** The picture of the current group is another one. */
	public void status(PictureStatus now) {
		status(current, now);
	}

	public void status(TraceGroup group, PictureStatus now) {
		if (!now.equals(group.status())) {
			group.status(now);
			if (group == current) {
				for (Listener l : listeners) {
					l.pictureChanged(now);
				}
			}
		}
	}

	/** Light has become dark or dark light: all pictures are drawn again. */
	public void themeChanged() {
		coloursChanged();
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
		for (TraceGroup g : groups.values()) {
			OpenTrace t = g.trace();
			if (t != null && t.isListed(now) && !t.info().equals(now)) {
				t.rename(now);
				for (Listener l : listeners) {
					l.traceRenamed(t);
				}
			}
		}
	}

	/** What is being opened, null when nothing is. */
	public Opening opening() {
		return opening;
	}

	public void opening(Opening now) {
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

	public boolean isDisposed() {
		return disposed;
	}

	@Override
	public void dispose() {
		disposed = true;
		if (traceOpener != null) {
			traceOpener.cancel();
		}
		listeners.clear();
		links.forEach(GroupLink::end);
		links.clear();
		for (TraceGroup g : groups.values()) {
			if (g.trace() != null) {
				g.trace().close();
				g.trace(null);
			}
		}
		synchronized (this) {
			reopenCatalogue();
			for (TraceCatalogue c : formerCatalogues) {
				try {
					c.close();
				} catch (RuntimeException e) {
					ILog.of(Session.class).error("Closing the catalogue of traces failed.", e);
				}
			}
			formerCatalogues.clear();
		}
	}
}
