// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.view;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.ActionContributionItem;
import org.eclipse.jface.action.IAction;
import org.eclipse.jface.action.IMenuManager;
import org.eclipse.jface.action.IToolBarManager;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.action.Separator;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.layout.FillLayout;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.ui.IMemento;
import org.eclipse.ui.IPartListener2;
import org.eclipse.ui.IViewReference;
import org.eclipse.ui.IViewSite;
import org.eclipse.ui.IWorkbenchActionConstants;
import org.eclipse.ui.IWorkbenchPage;
import org.eclipse.ui.IWorkbenchPartReference;
import org.eclipse.ui.PartInitException;
import org.eclipse.ui.PlatformUI;
import org.eclipse.ui.part.ViewPart;
import org.memtrace.analysis.selection.PointedTime;
import org.memtrace.analysis.selection.SelectionLink;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.views.filters.FilterActions;
import org.memtrace.views.filters.FilterBar;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.Opening;
import org.memtrace.views.session.PictureStatus;
import org.memtrace.views.session.Session;
import org.memtrace.views.session.TraceGroup;
import org.memtrace.views.util.Icons;

/**
 * Base of every view that shows an open trace: tells it which trace, follows the selection for it, and gives it what all views
 * have: a group whose trace it shows, a lock that keeps trace and selection while the group moves on, further views of its kind,
 * and snapshots. Display thread.
 */
public abstract class TraceView extends ViewPart {
	/** Group of the tool bar before which the actions of the view itself stand. */
	protected static final String COMMON_ACTIONS = "org.memtrace.views.common";
	private static final String KEY_GROUP = "group";

	private Session session;
	private FilterBar filters;
	private Composite contents;
	private TraceGroup group;
	private OpenTrace trace;
	/** What a locked view shows, its own; null: not locked. */
	private OpenTrace locked;
	private String baseName;
	/** A trace is being opened. */
	private boolean opening;
	private Action lock;
	private Action filter;
	/** Tells with which groups this one is linked; in the tool bar only while it is. */
	private Action link;
	private ActionContributionItem linkItem;
	private int restoredGroup = 1;

	private final TraceSelection.Listener followSelection = new TraceSelection.Listener() {
		@Override
		public void stateChanged(ViewState old, ViewState now) {
			filters.show(trace);
			TraceView.this.stateChanged(old, now);
		}

		@Override
		public void markChanged(int producer) {
			TraceView.this.markChanged(producer);
		}
	};
	private final PointedTime.Listener followPointed = (by, timeNs) -> timePointed(timeNs);
	private final Session.Listener followSession = new Session.Listener() {
		@Override
		public void groupChanged(TraceGroup changed) {
			if (changed == group && locked == null) {
				follow(changed.trace());
			}
		}

		@Override
		public void groupsChanged() {
			name();
			showLink();
		}

		@Override
		public void traceRenamed(OpenTrace renamed) {
			name();
			showLink();
		}

		@Override
		public void forget(Predicate<OpenTrace> which) {
			if (locked != null && which.test(locked)) {
				unlock();
			}
		}

		@Override
		public void coloursChanged() {
			TraceView.this.coloursChanged();
		}

		@Override
		public void opening(Opening state) {
			boolean now = isOfGroup(state);
			if (opening != now) {
				opening = now;
				if (trace == null) {
					openingChanged();
				}
			}
		}
	};
	private final IPartListener2 followParts = new IPartListener2() {
		@Override
		public void partActivated(IWorkbenchPartReference part) {
			if (part.getPart(false) == TraceView.this) {
				session.activate(group, locked);
			}
		}
	};

	/** Makes the controls; {@link #session} is there, {@link #trace} is not yet. Called once. */
	protected abstract void createContents(Composite parent);

	/** Another trace is shown, or none (null); called once after {@link #createContents} and at each change. */
	protected abstract void traceShown(OpenTrace now);

	/** Window, producer, viewpoint, level of detail or filters of the trace that is shown are others. */
	protected void stateChanged(ViewState old, ViewState now) {
	}

	/** Another producer of the trace that is shown is marked; {@link TraceSelection#NO_MARK} none. */
	protected void markChanged(int producer) {
	}

	/**
	 * Somebody points at another time in a picture of the trace that is shown; {@link PointedTime#NONE} nobody does, also before another trace
	 * is shown. Pictures with an axis of time have a {@link org.memtrace.views.paint.TimeCursor}.
	 */
	protected void timePointed(long timeNs) {
	}

	/** While no trace is shown, the opening of one has begun or ended: see {@link #nothingShown}. */
	protected void openingChanged() {
	}

	/** Whether a trace is being opened that the group of this view will show. */
	protected final boolean isOfGroup(Opening state) {
		return state != null && state.group() == group;
	}

	/** What stands in a view that shows nothing: that a trace is being opened, or, also with a trace, what the view has to say otherwise. */
	protected final String nothingShown(String otherwise) {
		return opening && trace == null ? "Opening the trace…" : otherwise;
	}

	/** Colours are others: everything that has some must be drawn again. */
	protected void coloursChanged() {
	}

	/** What is shown, to be saved; null when there is nothing. */
	protected Snapshot snapshot() {
		return null;
	}

	/** Whether what is shown is that of the current state and nothing is being computed; tests wait for it. */
	protected boolean isSettled() {
		return true;
	}

	/** Whether the view and the filters above it are settled. */
	public final boolean isQuiet() {
		return filters.isSettled() && isSettled();
	}

	protected final Session session() {
		return session;
	}

	/** The trace that is shown, or null. Its selection is that of the view: of its group, or its own when it is locked. */
	protected final OpenTrace trace() {
		return trace;
	}

	/** The trace of the group to which this one is linked; null when there is none, it is the same one, or this view is locked. */
	protected final OpenTrace linkedTrace() {
		TraceGroup other = isLocked() ? null : session().linkedWith(group());
		OpenTrace linked = other == null ? null : other.trace();
		return linked == null || linked.isSameTrace(trace) ? null : linked;
	}

	/** Says what the status line shows while a view of this group is active. */
	protected final void status(PictureStatus now) {
		if (locked == null) {
			session.status(group, now);
		}
	}

	@Override
	public void init(IViewSite site, IMemento memento) throws PartInitException {
		super.init(site, memento);
		Integer kept = memento == null ? null : memento.getInteger(KEY_GROUP);
		if (kept != null && kept > 0) {
			restoredGroup = kept;
		}
	}

	@Override
	public void saveState(IMemento memento) {
		memento.putInteger(KEY_GROUP, group.number());
	}

	@Override
	public final void createPartControl(Composite parent) {
		session = getSite().getService(Session.class);
		baseName = getPartName();
		group = firstGroup();
		opening = isOfGroup(session.opening());
		group.views(1);
		GridLayoutFactory.fillDefaults().spacing(0, 0).applyTo(parent);
		filters = new FilterBar(parent);
		contents = new Composite(parent, SWT.NONE);
		contents.setLayout(new FillLayout());
		GridDataFactory.fillDefaults().grab(true, true).applyTo(contents);
		IToolBarManager tools = getViewSite().getActionBars().getToolBarManager();
		tools.add(new Separator(IWorkbenchActionConstants.MB_ADDITIONS));
		tools.add(new Separator(COMMON_ACTIONS));
		createContents(contents);
		PlatformUI.getWorkbench().getHelpSystem().setHelp(parent, getViewSite().getId());
		makeActions(tools);
		session.addListener(followSession);
		getSite().getPage().addPartListener(followParts);
		follow(group.trace());
	}

	/**
	 * The group that the view was in. When that one is gone, the current one: a view that is opened again shows something. While the
	 * workbench starts, the groups come with the views.
	 */
	private TraceGroup firstGroup() {
		boolean there = session.groups().stream().anyMatch(g -> g.number() == restoredGroup);
		return there || PlatformUI.getWorkbench().isStarting() ? session.group(restoredGroup) : session.group();
	}

	private void makeActions(IToolBarManager tools) {
		Action save = new Action("Save…", Icons.get("save")) {
			@Override
			public void run() {
				saveSnapshot();
			}
		};
		save.setToolTipText("Save what is shown as a picture or as numbers");
		lock = new Action("Lock", IAction.AS_CHECK_BOX) {
			@Override
			public void run() {
				toggleLock();
			}
		};
		lock.setImageDescriptor(Icons.get("lock"));
		lock.setToolTipText("Keep this trace and selection while the other views move on");
		filter = new Action("Add filter…", Icons.get("filter")) {
			@Override
			public void run() {
				FilterActions.addFilter(getSite().getShell(), trace);
			}
		};
		filter.setToolTipText("Filter what all views of the group show");
		Action another = new Action("Open another " + baseName) {
			@Override
			public void run() {
				openAnother(group);
			}
		};
		link = new Action("", Icons.get("link")) {
			@Override
			public void run() {
				session.unlink(group);
			}
		};
		linkItem = new ActionContributionItem(link);
		linkItem.setVisible(false);
		tools.appendToGroup(COMMON_ACTIONS, linkItem);
		tools.appendToGroup(COMMON_ACTIONS, filter);
		tools.appendToGroup(COMMON_ACTIONS, lock);
		tools.appendToGroup(COMMON_ACTIONS, save);
		MenuManager groups = new MenuManager("Group");
		groups.setRemoveAllWhenShown(true);
		groups.addMenuListener(this::fillGroups);
		MenuManager allFilters = new MenuManager("Filters");
		allFilters.setRemoveAllWhenShown(true);
		allFilters.addMenuListener(m -> FilterActions.fill(m, getSite().getShell(), trace));
		IMenuManager menu = getViewSite().getActionBars().getMenuManager();
		menu.add(allFilters);
		menu.add(lock);
		menu.add(groups);
		menu.add(another);
		menu.add(new Separator(IWorkbenchActionConstants.MB_ADDITIONS));
		menu.add(save);
	}

	private void fillGroups(IMenuManager menu) {
		for (TraceGroup g : session.groups()) {
			Action join = new Action(g.toString().replace("&", "&&"), IAction.AS_RADIO_BUTTON) {
				@Override
				public void run() {
					if (isChecked()) {
						join(g);
					}
				}
			};
			join.setChecked(g == group);
			menu.add(join);
		}
		menu.add(new Action("New group") {
			@Override
			public void run() {
				join(session.newGroup());
			}
		});
		menu.add(new Separator());
		for (TraceGroup g : session.groups()) {
			if (g == group) {
				continue;
			}
			SelectionLink.Time linked = session.linked(group, g);
			menu.add(link("Linked with group " + g.number() + " by time since start", g, SelectionLink.Time.SINCE_START, linked));
			menu.add(link("Linked with group " + g.number() + " by share of the run", g, SelectionLink.Time.SCALED, linked));
		}
	}

	/** Shows in the tool bar with which groups this one is linked; a locked view follows nobody. */
	private void showLink() {
		List<TraceGroup> others = locked == null ? session.allLinkedWith(group) : List.of();
		boolean linked = !others.isEmpty();
		if (linked) {
			// an icon alone: a text would wrap the tool bars of two pictures side by side
			link.setToolTipText("Linked: time, zoom, colours and filters follow "
					+ String.join(" and ", others.stream().map(g -> "group " + g.number() + " (" + (g.trace() == null ? "" : g.trace().name() + ", ")
							+ (session.linked(group, g) == SelectionLink.Time.SCALED ? "by share of the run" : "by time since start") + ")").toList())
							.replace("&", "&&")
					+ ". Click to end the link");
		}
		if (linkItem.isVisible() != linked) {
			linkItem.setVisible(linked);
			getViewSite().getActionBars().getToolBarManager().markDirty();
			getViewSite().getActionBars().updateActionBars();
		}
	}

	private Action link(String text, TraceGroup other, SelectionLink.Time time, SelectionLink.Time linked) {
		Action action = new Action(text, IAction.AS_CHECK_BOX) {
			@Override
			public void run() {
				if (linked == time) {
					session.unlink(other);
				} else {
					session.link(group, other, time);
				}
			}
		};
		action.setChecked(linked == time);
		return action;
	}

	/** The group whose trace is shown, unless the view is locked. */
	public final TraceGroup group() {
		return group;
	}

	/** Puts the view into another group; a lock ends. */
	public final void join(TraceGroup other) {
		if (other == group) {
			return;
		}
		TraceGroup old = group;
		group = other;
		other.views(1);
		old.views(-1);
		if (locked != null) {
			unlock();
		} else {
			follow(other.trace());
		}
		session.activate(other, null);
		session.left(old);
		name();
		showLink();
	}

	public final boolean isLocked() {
		return locked != null;
	}

	/** Keeps trace and selection, whatever the group does, or follows the group again. */
	public final void toggleLock() {
		if (locked != null) {
			unlock();
		} else if (trace != null) {
			locked = trace.fork();
			follow(locked);
		}
		lock.setChecked(locked != null);
		session.activate(group, locked);
	}

	private void unlock() {
		OpenTrace own = locked;
		locked = null;
		lock.setChecked(false);
		follow(group.trace());
		own.close();
		if (session.active() == own) {
			session.activate(group, null);
		}
	}

	/** Opens another view of this kind in a group; null when that is not possible, which the user has been told. */
	public final TraceView openAnother(TraceGroup in) {
		return open(getSite().getPage(), getViewSite().getId(), in);
	}

	/** Opens another view of a kind in a group, in addition to those that are there; null when that is not possible. */
	public static TraceView open(IWorkbenchPage page, String id, TraceGroup in) {
		int number = 2;
		while (page.findViewReference(id, Integer.toString(number)) != null) {
			number++;
		}
		try {
			TraceView view = (TraceView) page.showView(id, Integer.toString(number), IWorkbenchPage.VIEW_ACTIVATE);
			view.join(in);
			return view;
		} catch (PartInitException e) {
			MessageDialog.openError(page.getWorkbenchWindow().getShell(), "Open another view", e.getMessage());
			return null;
		}
	}

	/** Asks where to save what all views of a page show that can be seen or have been seen. */
	public static void saveAll(IWorkbenchPage page) {
		List<TraceView> views = new ArrayList<>();
		for (IViewReference r : page.getViewReferences()) {
			if (r.getView(false) instanceof TraceView v) {
				views.add(v);
			}
		}
		SaveSnapshot.ask(page.getWorkbenchWindow().getShell(), snapshots(views));
	}

	private static List<SaveSnapshot.Item> snapshots(List<TraceView> views) {
		List<SaveSnapshot.Item> items = new ArrayList<>();
		for (TraceView v : views) {
			Snapshot s = v.snapshot();
			if (s != null) {
				Point size = v.contents.getSize();
				items.add(new SaveSnapshot.Item(s, size.x, size.y));
			}
		}
		return items;
	}

	/**
	 * Where in the source what is chosen in this view is; null when nothing is chosen. The marked structure, where a view has
	 * nothing of its own.
	 */
	protected SourceQuestion source() {
		int mark = trace == null ? TraceSelection.NO_MARK : trace.selection().mark();
		int member = mark < 0 ? -1 : trace.memberOf(mark);
		int structure = member < 0 ? -1 : trace.producers().structure(member);
		return structure < 0 || structure >= trace.structures().size() ? null : SourceQuestion.of(trace.structures().get(structure));
	}

	/** Shows the source of what is chosen, in the view of the group for it. */
	public final void openSource() {
		SourceQuestion question = trace == null ? null : source();
		if (question == null) {
			MessageDialog.openInformation(getSite().getShell(), "Open source", trace == null ? "No trace is shown."
					: "Nothing is chosen that has a place in the source. Choose a structure, an event or a finding first.");
			return;
		}
		question.show(getSite().getPage(), group);
	}

	/** Puts the picture that is shown on the clipboard, in twice the pixels of the view; a view without one says so. */
	public final void copyPicture() {
		Snapshot s = snapshot();
		if (s == null || s.picture() == null) {
			MessageDialog.openInformation(getSite().getShell(), "Copy picture", "This view shows no picture.");
			return;
		}
		Point size = contents.getSize();
		SnapshotClipboard.copy(getSite().getShell(), s, size.x, size.y);
	}

	/** Asks where to save what is shown. */
	public final void saveSnapshot() {
		SaveSnapshot.ask(getSite().getShell(), snapshots(List.of(this)));
	}

	private void follow(OpenTrace now) {
		if (trace != null) {
			trace.selection().removeListener(followSelection);
			trace.selection().pointed().removeListener(followPointed);
			timePointed(PointedTime.NONE);
		}
		trace = now;
		if (now != null) {
			now.selection().addListener(followSelection);
			now.selection().pointed().addListener(followPointed);
		}
		lock.setEnabled(now != null);
		filter.setEnabled(now != null);
		filters.show(now);
		name();
		showLink();
		traceShown(now);
	}

	/** The name of the view tells what is not obvious: another group than the only one, and a lock. */
	private void name() {
		boolean several = session.groups().size() > 1 || group.number() > 1;
		String name = baseName + (several ? " " + group.number() : "");
		if (trace != null && (several || locked != null)) {
			name += ": " + trace.name();
		}
		setPartName(locked == null ? name : name + " (locked)");
	}

	@Override
	public void dispose() {
		if (group != null) {
			session.removeListener(followSession);
			getSite().getPage().removePartListener(followParts);
			if (trace != null) {
				trace.selection().removeListener(followSelection);
				trace.selection().pointed().removeListener(followPointed);
				trace = null;
			}
			OpenTrace own = locked;
			locked = null;
			if (own != null) {
				if (session.active() == own) {
					session.activate(group, null);
				}
				own.close();
			}
			group.views(-1);
			session.left(group);
		}
		super.dispose();
	}
}
