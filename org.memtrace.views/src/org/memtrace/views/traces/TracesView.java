// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.IMenuManager;
import org.eclipse.jface.action.IToolBarManager;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.action.Separator;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.resource.ImageDescriptor;
import org.eclipse.jface.resource.JFaceResources;
import org.eclipse.jface.resource.LocalResourceManager;
import org.eclipse.jface.resource.ResourceManager;
import org.eclipse.jface.viewers.AbstractTreeViewer;
import org.eclipse.jface.viewers.DelegatingStyledCellLabelProvider;
import org.eclipse.jface.viewers.DelegatingStyledCellLabelProvider.IStyledLabelProvider;
import org.eclipse.jface.viewers.IColorProvider;
import org.eclipse.jface.viewers.IStructuredSelection;
import org.eclipse.jface.viewers.ITreeContentProvider;
import org.eclipse.jface.viewers.LabelProvider;
import org.eclipse.jface.viewers.StructuredSelection;
import org.eclipse.jface.viewers.StyledString;
import org.eclipse.jface.viewers.TreeViewer;
import org.eclipse.jface.viewers.ColumnViewerToolTipSupport;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Color;
import org.eclipse.swt.graphics.Image;
import org.eclipse.swt.graphics.TextStyle;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Text;
import org.eclipse.ui.part.ViewPart;
import org.memtrace.analysis.catalogue.ProgramWords;
import org.memtrace.analysis.catalogue.TraceSearch;
import org.memtrace.analysis.selection.SelectionLink;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.compare.Comparison;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.session.OpenFile;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.Session;
import org.memtrace.views.session.TraceFiles;
import org.memtrace.views.session.TraceGroup;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Appearance;
import org.memtrace.views.util.Clip;
import org.memtrace.views.util.Icons;
import org.memtrace.views.util.Later;

/** The traces of the catalogue, grouped by program, and the database files that are open; double click opens one. */
public final class TracesView extends ViewPart {
	private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm", Locale.ENGLISH);
	private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("d MMM HH:mm", Locale.ENGLISH);
	private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern("d MMM yyyy", Locale.ENGLISH);

	/** All traces of one program, or the open files. Members are {@link TraceInfo} and {@link OpenFile}. */
	private record Group(String name, String icon, List<?> members) {
	}

	private static final int MAX_ARGUMENTS = 28;

	private Session session;
	private TraceChanges changes;
	private TreeViewer tree;
	private Text filter;
	private Label message;
	private List<TraceInfo> traces = List.of();
	private Action delete;
	private Action rename;
	private Action close;
	private Action copyPath;
	private LatestResult<String, List<TraceInfo>> listing;

	/** A trace is shown that is not in the list yet, such as one that was just imported. */
	private boolean selectWhenListed;
	private boolean filesChanged;
	/** The current group shows another trace, and nothing was selected since. */
	private boolean selectShown;
	private Later refreshShown;

	private final Session.Listener follow = new Session.Listener() {
		@Override
		public void catalogueChanged() {
			refresh();
		}

		@Override
		public void filesChanged() {
			filesChanged = true;
			refreshShown.request();
		}

		@Override
		public void groupChanged(TraceGroup group) {
			refreshShown.request();
		}

		@Override
		public void traceChanged(OpenTrace trace) {
			if (!tree.getControl().isDisposed()) {
				selectWhenListed = trace != null && shownElement() == null;
				selectShown = true;
				refreshShown.request();
			}
		}
	};

	@Override
	public void createPartControl(Composite parent) {
		session = getSite().getService(Session.class);
		GridLayoutFactory.fillDefaults().spacing(0, 0).applyTo(parent);
		filter = new Text(parent, SWT.SEARCH | SWT.ICON_SEARCH | SWT.ICON_CANCEL);
		filter.setMessage("Filter (text or regular expression)");
		filter.setToolTipText("""
				Words and regular expressions, all of which must be found in the name, program or a property;
				in one column:  host:node1  command:"-n 512"  date:2026-11   not:  -matmul
				Columns: %s, and the names of properties""".formatted(String.join(", ", TraceSearch.COLUMNS)));
		GridDataFactory.fillDefaults().grab(true, false).indent(2, 2).applyTo(filter);
		filter.addModifyListener(e -> showTraces());

		makeTree(parent);

		message = new Label(parent, SWT.WRAP);
		GridDataFactory.fillDefaults().grab(true, false).indent(6, 4).applyTo(message);
		listing = listing();
		changes = new TraceChanges(session, getSite().getShell());
		makeActions();
		getSite().setSelectionProvider(tree);
		session.addListener(follow);
		refresh();
	}

	private void makeTree(Composite parent) {
		tree = new TreeViewer(parent, SWT.BORDER | SWT.V_SCROLL | SWT.H_SCROLL | SWT.MULTI);
		GridDataFactory.fillDefaults().grab(true, true).indent(2, 2).applyTo(tree.getControl());
		Accessibility.name(tree.getControl(), "Traces");
		Accessibility.name(filter, "Filter of the traces");
		tree.setContentProvider(new Content());
		tree.setAutoExpandLevel(AbstractTreeViewer.ALL_LEVELS); // expandAll shows the busy cursor, for which all is painted twice
		refreshShown = new Later(tree.getControl(), this::refreshShown);
		ResourceManager images = new LocalResourceManager(JFaceResources.getResources(), tree.getControl());
		tree.setLabelProvider(new DelegatingStyledCellLabelProvider(new Labels(images)));
		ColumnViewerToolTipSupport.enableFor(tree);
		Appearance.onChange(tree.getControl(), tree::refresh);
		tree.addDoubleClickListener(e -> {
			if (e.getSelection() instanceof StructuredSelection s && s.getFirstElement() instanceof Group p) {
				tree.setExpandedState(p, !tree.getExpandedState(p));
			} else {
				openSelected();
			}
		});
		tree.addSelectionChangedListener(e -> {
			selectShown = false;
			enableActions();
		});
	}

	private LatestResult<String, List<TraceInfo>> listing() {
		return new LatestResult<>("List traces", tree.getControl(), LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected List<TraceInfo> compute(String input, Progress progress) throws MemtraceException {
				return session.catalogue().list();
			}

			@Override
			protected void show(String input, List<TraceInfo> result) {
				traces = result;
				traces.forEach(session::listed);
				showTraces();
			}

			@Override
			protected void failed(String input, String text) {
				traces = List.of();
				showTraces();
				say(text);
			}
		};
	}

	private void makeActions() {
		rename = action("Rename…", Icons.get("rename"), "Rename the selected trace (F2)", this::rename);
		delete = action("Delete…", Icons.get("delete"), "Delete the selected trace from the catalogue (Del)", this::delete);
		close = action("Close", null, "Take the trace from the views; the file stays where it is", this::close);
		copyPath = action("Copy path", Icons.get("copy"), null, () -> {
			Path path = selectedPath();
			if (path != null) {
				Clip.copy(tree.getControl().getDisplay(), path.toString());
			}
		});
		List<Action> sources = List.of(TraceActions.record(getSite().getWorkbenchWindow()),
				TraceActions.importTrace(getSite().getWorkbenchWindow()), TraceActions.openDatabase(getSite().getWorkbenchWindow()));
		IToolBarManager bar = getViewSite().getActionBars().getToolBarManager();
		sources.forEach(bar::add);
		bar.add(new Separator());
		bar.add(rename);
		bar.add(delete);
		makeMenu(sources);
		tree.getControl().addListener(SWT.KeyDown, e -> {
			switch (e.keyCode) {
			case SWT.DEL -> {
				if (selectedFile() != null) {
					close();
				} else {
					delete();
				}
			}
			case SWT.F2 -> rename();
			case SWT.F5 -> refresh();
			default -> {
			}
			}
		});
		enableActions();
	}

	private static Action action(String text, ImageDescriptor icon, String toolTip, Runnable run) {
		Action action = new Action(text, icon) {
			@Override
			public void run() {
				run.run();
			}
		};
		action.setToolTipText(toolTip);
		return action;
	}

	/** @param sources what adds a trace to the list */
	private void makeMenu(List<Action> sources) {
		Action open = action("Open", null, null, this::openSelected);
		Action folder = TraceActions.openFolder(getSite().getWorkbenchWindow());
		Action refresh = action("Refresh", Icons.get("refresh"), "Read the catalogue again (F5)", this::refresh);
		MenuManager menu = new MenuManager();
		menu.setRemoveAllWhenShown(true);
		menu.addMenuListener(m -> {
			if (selected() != null) {
				m.add(open);
				addCompare(m, selected(), session.trace() != null && !session.trace().isListed(selected()));
				if (isShown(selected())) {
					m.add(close);
				}
				m.add(rename);
				addChanges(m);
				m.add(delete);
				m.add(copyPath);
				m.add(new Separator());
			} else if (selectedTraces().size() > 1) {
				if (selectedTraces().size() == 2) {
					m.add(compareSelected());
				}
				addChanges(m);
				m.add(delete);
				m.add(new Separator());
			} else if (selectedFile() != null) {
				addFile(m, open, selectedFile());
			}
			sources.forEach(m::add);
			m.add(folder);
			m.add(refresh);
		});
		tree.getControl().setMenu(menu.createContextMenu(tree.getControl()));
	}

	private void addFile(IMenuManager menu, Action open, OpenFile file) {
		menu.add(open);
		addCompare(menu, file, session.trace() != null && !session.trace().isFile(file));
		menu.add(close);
		if (!TraceFiles.isFolder(file.path())) { // its accesses are in no database
			menu.add(action("Add to catalogue", Icons.get("import"), null, () -> changes.addToCatalogue(file)));
		}
		menu.add(copyPath);
		menu.add(new Separator());
	}

	private void addChanges(IMenuManager menu) {
		List<TraceInfo> chosen = selectedTraces();
		menu.add(new Action("Describe…") {
			@Override
			public void run() {
				changes.describe(chosen);
			}
		});
		menu.add(new Action("Add property…") {
			@Override
			public void run() {
				changes.addProperty(chosen, traces);
			}
		});
	}

	/** Shows the older of two, usually that before a change, and the newer one at its right. */
	private Action compareSelected() {
		List<TraceInfo> two = Comparison.byAge(selectedTraces());
		return new Action("Compare these two", Icons.get("compare")) {
			@Override
			public void run() {
				Comparison.show(getSite().getPage(), two.get(0), two.get(1), SelectionLink.Time.SCALED);
			}
		};
	}

	private void addCompare(IMenuManager menu, Object other, boolean possible) {
		Action compare = new Action("Compare with shown trace", Icons.get("compare")) {
			@Override
			public void run() {
				Comparison.show(getSite().getPage(), other, SelectionLink.Time.SCALED);
			}
		};
		compare.setEnabled(possible);
		menu.add(compare);
	}

	private void enableActions() {
		delete.setEnabled(!selectedTraces().isEmpty());
		rename.setEnabled(selected() != null);
	}

	/** The database of what is selected, or null. */
	private Path selectedPath() {
		if (selectedFile() != null) {
			return selectedFile().path();
		}
		try {
			Path directory = session.catalogue().directory(); // open: its traces are in the list
			return selected() == null || directory == null ? null : directory.toAbsolutePath().resolve(selected().databaseName());
		} catch (MemtraceException e) {
			return null;
		}
	}

	/** The selected trace of the catalogue when it is the only one, else null. */
	private TraceInfo selected() {
		IStructuredSelection s = tree.getStructuredSelection();
		return s.size() == 1 && s.getFirstElement() instanceof TraceInfo t ? t : null;
	}

	private List<TraceInfo> selectedTraces() {
		List<TraceInfo> chosen = new ArrayList<>();
		for (Object element : tree.getStructuredSelection()) {
			if (element instanceof TraceInfo t) {
				chosen.add(t);
			}
		}
		return chosen;
	}

	private OpenFile selectedFile() {
		IStructuredSelection s = tree.getStructuredSelection();
		return s.size() == 1 && s.getFirstElement() instanceof OpenFile f ? f : null;
	}

	private void openSelected() {
		TraceInfo t = selected();
		OpenFile f = selectedFile();
		if (t != null) {
			session.opener().open(t);
		} else if (f != null) {
			session.opener().openDatabase(f.path());
		}
	}

	private void close() {
		OpenFile f = selectedFile();
		TraceInfo t = selected();
		if (f != null) {
			session.close(f);
		} else if (t != null) {
			session.forget(trace -> trace.isListed(t));
		}
	}

	/** Which traces are shown, and if the current group shows another one, it is selected. */
	private void refreshShown() {
		if (filesChanged) {
			showTraces();
			return;
		}
		boolean other = selectShown;
		tree.refresh(true);
		selectShown = other;
		selectShown();
	}

	private void selectShown() {
		if (selectShown) {
			selectShown = false;
			select(shownElement());
		}
	}

	/** Whether views show the trace of an element of the tree. */
	private boolean isShown(Object element) {
		return session.shows(trace -> element instanceof TraceInfo t && trace.isListed(t)
				|| element instanceof OpenFile f && trace.isFile(f));
	}

	/** The element of the tree that the current group shows, or null. */
	private Object shownElement() {
		OpenTrace shown = session.trace();
		return shown == null ? null : Stream.concat(session.files().stream(), traces.stream())
				.filter(e -> e instanceof TraceInfo t ? shown.isListed(t) : shown.isFile((OpenFile) e)).findFirst().orElse(null);
	}

	private void select(Object element) {
		if (element != null) {
			tree.setSelection(new StructuredSelection(element), true);
		}
	}

	private void rename() {
		if (selected() != null) {
			changes.rename(selected());
		}
	}

	private void delete() {
		List<TraceInfo> chosen = selectedTraces();
		if (!chosen.isEmpty()) {
			changes.delete(chosen);
		}
	}

	private void refresh() {
		if (!tree.getControl().isDisposed()) {
			listing.submit("");
		}
	}

	/** Builds the tree from the list and the filter; what was expanded and selected stays so. */
	private void showTraces() {
		filesChanged = false;
		selectShown();
		String text = filter.getText().strip();
		TraceSearch search = new TraceSearch(text);
		Map<String, List<TraceInfo>> byProgram = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
		List<Group> groups = new ArrayList<>();
		int hits = 0;
		List<OpenFile> files = new ArrayList<>();
		for (OpenFile f : session.files()) {
			if (search.test(f.info(), f.path().toString())) {
				hits++;
				files.add(f);
			}
		}
		if (!files.isEmpty()) {
			groups.add(new Group("Open files", "database", files));
		}
		for (TraceInfo t : traces) {
			if (search.test(t)) {
				hits++;
				byProgram.computeIfAbsent(program(t), k -> new ArrayList<>()).add(t);
			}
		}
		byProgram.forEach((name, list) -> {
			list.sort(Comparator.comparing(TraceInfo::recordedAt).reversed().thenComparing(TraceInfo::id));
			groups.add(new Group(name, "folder", list));
		});
		List<TraceInfo> before = selectedTraces();
		OpenFile fileBefore = selectedFile();
		tree.getControl().setRedraw(false);
		try {
			tree.setInput(groups);
			List<Object> same = new ArrayList<>();
			traces.stream().filter(t -> before.stream().anyMatch(b -> b.id() == t.id())).forEach(same::add);
			files.stream().filter(f -> fileBefore != null && f.path().equals(fileBefore.path())).forEach(same::add);
			Object shown = shownElement();
			if (same.isEmpty() || selectWhenListed && shown != null) {
				selectWhenListed = false;
				select(shown);
			} else {
				tree.setSelection(new StructuredSelection(same), true);
			}
		} finally {
			tree.getControl().setRedraw(true);
		}
		enableActions();
		boolean none = traces.isEmpty() && session.files().isEmpty();
		say(none ? "No traces yet." : hits == 0 ? "No trace matches the filter." : "");
	}

	private void say(String text) {
		message.setText(text);
		((org.eclipse.swt.layout.GridData) message.getLayoutData()).exclude = text.isEmpty();
		message.setVisible(!text.isEmpty());
		message.getParent().layout();
	}

	private static String program(TraceInfo t) {
		String name = ProgramWords.of(t).program();
		return name.isBlank() ? "(unknown program)" : name;
	}

	/** The time of today, the day of this year, else the date. */
	static String when(Instant instant) {
		ZonedDateTime time = instant.atZone(ZoneId.systemDefault());
		LocalDate today = LocalDate.now();
		return (time.toLocalDate().equals(today) ? TIME : time.getYear() == today.getYear() ? DAY : DATE).format(time);
	}

	/** Arguments of the command: what tells the runs of one program from each other. Empty when not known. */
	private static String arguments(TraceInfo t) {
		String arguments = ProgramWords.of(t).arguments();
		return arguments.length() <= MAX_ARGUMENTS ? arguments : arguments.substring(0, MAX_ARGUMENTS - 1) + "…";
	}

	@Override
	public void setFocus() {
		tree.getControl().setFocus();
	}

	@Override
	public void dispose() {
		if (session != null) {
			session.removeListener(follow);
		}
		super.dispose();
	}

	private static final class Content implements ITreeContentProvider {
		@Override
		public Object[] getElements(Object input) {
			return ((List<?>) input).toArray();
		}

		@Override
		public Object[] getChildren(Object parent) {
			return parent instanceof Group g ? g.members().toArray() : new Object[0];
		}

		@Override
		public Object getParent(Object element) {
			return null;
		}

		@Override
		public boolean hasChildren(Object element) {
			return element instanceof Group;
		}
	}

	private final class Labels extends LabelProvider implements IStyledLabelProvider, IColorProvider {
		private final ResourceManager images;
		private final StyledString.Styler bold = new StyledString.Styler() {
			@Override
			public void applyStyles(TextStyle style) {
				style.font = JFaceResources.getFontRegistry().getBold(JFaceResources.DEFAULT_FONT);
			}
		};

		Labels(ResourceManager images) {
			this.images = images;
		}

		@Override
		public StyledString getStyledText(Object element) {
			if (element instanceof Group g) {
				return new StyledString(g.name());
			}
			StyledString.Styler style = isShown(element) ? bold : null;
			if (element instanceof OpenFile f) {
				return new StyledString(f.path().getFileName().toString(), style).append("  " + f.path().getParent(),
						StyledString.QUALIFIER_STYLER);
			}
			TraceInfo t = (TraceInfo) element;
			StyledString text = new StyledString(t.alias(), style);
			String arguments = arguments(t);
			return text.append("  " + (arguments.isEmpty() ? "" : arguments + " · ") + when(t.recordedAt()),
					StyledString.QUALIFIER_STYLER);
		}

		@Override
		public String getText(Object element) {
			return getStyledText(element).getString();
		}

		/** That of the tree is the one which it was made with, also after the theme has changed. */
		@Override
		public Color getForeground(Object element) {
			return tree.getControl().getDisplay().getSystemColor(SWT.COLOR_LIST_FOREGROUND);
		}

		@Override
		public Color getBackground(Object element) {
			return null;
		}

		@Override
		public Image getImage(Object element) {
			return images.create(Icons.get(element instanceof Group g ? g.icon() : "trace"));
		}
	}
}
