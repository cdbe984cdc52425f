// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.find;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import org.eclipse.jface.dialogs.Dialog;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Display;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.TableColumn;
import org.eclipse.swt.widgets.TableItem;
import org.eclipse.swt.widgets.Text;
import org.eclipse.ui.IViewReference;
import org.eclipse.ui.IWorkbenchPage;
import org.eclipse.ui.IWorkbenchWindow;
import org.eclipse.ui.PlatformUI;
import org.memtrace.analysis.find.FindHit.Kind;
import org.memtrace.analysis.find.FindHit.Listed;
import org.memtrace.analysis.find.FindHit.Memory;
import org.memtrace.analysis.find.FindHit.OfThread;
import org.memtrace.analysis.find.FindHit.Place;
import org.memtrace.analysis.find.FindHit;
import org.memtrace.analysis.find.FindJump;
import org.memtrace.analysis.find.FindList;
import org.memtrace.analysis.find.FindQuery;
import org.memtrace.analysis.find.Found;
import org.memtrace.analysis.find.TraceIndex;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.jobs.OnDisplay;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.Session;
import org.memtrace.views.session.TraceGroup;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.view.SourceQuestion;
import org.memtrace.views.view.TraceView;

/**
 * One search box over everything of the open traces, other traces, and commands. The focus stays in the text; arrows choose, Enter,
 * Shift+Enter and F3 do something with what is chosen, as the last line says.
 */
final class FindDialog extends Dialog {
	/** Hits of a kind and trace. */
	private static final int MOST = 12;
	private static final int PAGE = 10;
	private static final int WIDTH = 780;
	private static final int ROWS = 16;
	private static final String ASK = "Name of a structure, function, thread, trace or command; 0x… address; file:line";

	/** An open trace and the group that shows it. */
	private record Shown(TraceGroup group, OpenTrace trace) {
	}

	/** @param of null for what is in no trace */
	private record Row(FindHit hit, Shown of) {
	}

	/** What is searched. */
	private record Sources(List<Shown> traces, List<TraceIndex> indexes, FindList others, FindList commands) {
	}

	private record Input(Sources sources, FindQuery query) {
	}

	/** @param more what is not among the rows */
	private record Answer(List<Row> rows, String more) {
	}

	private record Index(List<TraceIndex> indexes, List<TraceInfo> listed) {
	}

	private final IWorkbenchWindow window;
	private final Session session;
	private final List<Shown> traces = new ArrayList<>();
	private final Findable commands;
	private Findable others;
	private Sources sources;
	private Text text;
	private Table table;
	private Label more;
	private Label keys;
	private List<Row> rows = List.of();
	/** What a key asked for while the rows were still those of an earlier text; null for nothing. */
	private Runnable whenFound;
	private LatestResult<List<Shown>, Index> indexing;
	private LatestResult<Input, Answer> searching;

	private FindDialog(IWorkbenchWindow window) {
		super(window.getShell());
		this.window = window;
		session = window.getService(Session.class);
		for (TraceGroup g : session.groups()) {
			if (g.trace() != null && traces.stream().noneMatch(s -> s.trace().isSameTrace(g.trace()))) {
				traces.add(new Shown(g, g.trace()));
			}
		}
		commands = Findable.commands(window);
		others = Findable.traces(session, List.of());
		sources = new Sources(traces, List.of(), others.list(Kind.TRACE), commands.list(Kind.COMMAND));
		setBlockOnOpen(false);
	}

	/** Opens it. */
	static void open(IWorkbenchWindow window) {
		new FindDialog(window).open();
	}

	@Override
	protected void configureShell(Shell shell) {
		super.configureShell(shell);
		shell.setText("Find");
		PlatformUI.getWorkbench().getHelpSystem().setHelp(shell, ViewIds.PREFIX + "find");
	}

	@Override
	protected boolean isResizable() {
		return true;
	}

	/** Below the top of the window, where the eyes are. */
	@Override
	protected Point getInitialLocation(Point size) {
		Rectangle w = window.getShell().getBounds();
		return new Point(w.x + (w.width - size.x) / 2, w.y + Math.max(0, (w.height - size.y) / 4));
	}

	@Override
	protected Control createButtonBar(Composite parent) {
		return null;
	}

	@Override
	protected Control createDialogArea(Composite parent) {
		Composite area = new Composite(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2).margins(8, 8).spacing(8, 6).applyTo(area);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(area);
		text = new Text(area, SWT.SEARCH | SWT.ICON_SEARCH | SWT.ICON_CANCEL);
		text.setMessage(ASK);
		Accessibility.name(text, "Find");
		GridDataFactory.fillDefaults().grab(true, false).span(2, 1).hint(WIDTH, SWT.DEFAULT).applyTo(text);
		table = new Table(area, SWT.SINGLE | SWT.FULL_SELECTION | SWT.V_SCROLL | SWT.BORDER);
		Accessibility.name(table, "Found");
		for (int width : new int[] { 90, 300, 380 }) {
			new TableColumn(table, SWT.NONE).setWidth(width);
		}
		GridDataFactory.fillDefaults().grab(true, true).span(2, 1).hint(WIDTH, ROWS * table.getItemHeight()).applyTo(table);
		more = new Label(area, SWT.NONE);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(more);
		keys = new Label(area, SWT.NONE);
		keys.setAlignment(SWT.RIGHT);
		GridDataFactory.fillDefaults().align(SWT.END, SWT.CENTER).applyTo(keys);
		makeSearches();
		text.addModifyListener(e -> {
			whenFound = null;
			search();
		});
		text.addListener(SWT.KeyDown, this::key);
		table.addListener(SWT.KeyDown, this::key);
		table.addListener(SWT.Selection, e -> describe());
		table.addListener(SWT.MouseDoubleClick, e -> choose(false));
		indexing.submit(traces);
		search();
		return area;
	}

	private void makeSearches() {
		indexing = new LatestResult<>("Index for searches", table, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected Index compute(List<Shown> input, Progress progress) throws MemtraceException {
				List<TraceIndex> indexes = new ArrayList<>();
				for (Shown s : input) {
					indexes.add(s.trace().index(progress));
				}
				return new Index(indexes, session.catalogue().list());
			}

			@Override
			protected void show(List<Shown> input, Index result) {
				others = Findable.traces(session, result.listed());
				sources = new Sources(input, result.indexes(), others.list(Kind.TRACE), sources.commands());
				search();
			}

			@Override
			protected void failed(List<Shown> input, String message) {
				more.setText(message);
			}
		};
		searching = new LatestResult<>("Find", table, LatestResult.Policy.KEEP_UP) {
			@Override
			protected Answer compute(Input input, Progress progress) throws MemtraceException {
				return find(input, progress);
			}

			@Override
			protected void show(Input input, Answer result) {
				FindDialog.this.show(result);
			}

			@Override
			protected void failed(Input input, String message) {
				whenFound = null;
				more.setText(message);
			}
		};
	}

	private void search() {
		searching.submit(new Input(sources, FindQuery.of(text.getText())));
	}

	private static Answer find(Input input, Progress progress) throws MemtraceException {
		Sources in = input.sources();
		List<Row> rows = new ArrayList<>();
		Found lists = in.others().find(input.query(), MOST, progress).with(in.commands().find(input.query(), MOST, progress));
		lists.hits().forEach(h -> rows.add(new Row(h, null)));
		Found all = lists;
		for (int i = 0; i < in.indexes().size(); i++) {
			Shown of = in.traces().get(i);
			Found found = in.indexes().get(i).find(input.query(), MOST, progress);
			found.hits().forEach(h -> rows.add(new Row(h, of)));
			all = all.with(found);
		}
		rows.sort(Comparator.comparing(Row::hit, FindHit.ORDER));
		return new Answer(rows, all.more());
	}

	private void show(Answer answer) {
		rows = answer.rows();
		table.setRedraw(false);
		try {
			table.removeAll();
			for (Row r : rows) {
				FindHit h = r.hit();
				String of = r.of() != null && traces.size() > 1 ? r.of().trace().name() + ": " + h.detail() : h.detail();
				new TableItem(table, SWT.NONE).setText(new String[] { h.kind().title(), h.name(), of });
			}
			if (!rows.isEmpty()) {
				table.setSelection(0);
			}
		} finally {
			table.setRedraw(true);
		}
		boolean reading = sources.indexes().size() < traces.size();
		more.setText(reading ? "Reading the names of the open traces…"
				: rows.isEmpty() ? "Nothing is called so." : answer.more().isEmpty() ? "" : "Shown: " + answer.more());
		describe();
		if (whenFound != null && !searching.isBusy()) {
			Runnable asked = whenFound;
			whenFound = null;
			asked.run();
		}
	}

	/** At once, or as soon as the rows are those of the text: who types fast means what is typed, not what is shown. */
	private void onFound(Runnable what) {
		if (searching.isBusy()) {
			whenFound = what;
		} else {
			what.run();
		}
	}

	private Row chosen() {
		int at = table.getSelectionIndex();
		return at < 0 || at >= rows.size() ? null : rows.get(at);
	}

	/** Says which keys do what. */
	private void describe() {
		Row r = chosen();
		keys.setText(r == null ? "" : switch (r.hit().target()) {
		case Memory m when m.producer() < 0 -> "Enter source";
		case Memory m -> "Enter zoom   Shift+Enter mark   F3 source";
		case Place p -> "Enter source";
		case OfThread t -> "Enter only this thread   Shift+Enter colour by thread";
		case Listed l -> r.hit().kind() == Kind.COMMAND ? "Enter run" : "Enter open";
		});
		keys.getParent().layout(true);
	}

	private void key(Event e) {
		switch (e.keyCode) {
		case SWT.ARROW_DOWN -> move(e, 1);
		case SWT.ARROW_UP -> move(e, -1);
		case SWT.PAGE_DOWN -> move(e, PAGE);
		case SWT.PAGE_UP -> move(e, -PAGE);
		case SWT.CR, SWT.KEYPAD_CR -> {
			e.doit = false;
			boolean other = (e.stateMask & SWT.SHIFT) != 0;
			onFound(() -> choose(other));
		}
		case SWT.F3 -> {
			e.doit = false;
			onFound(this::source);
		}
		default -> {
			// of the text
		}
		}
	}

	private void move(Event e, int rowsDown) {
		if (e.widget == text) {
			e.doit = false;
			if (!rows.isEmpty()) {
				table.setSelection(Math.max(0, Math.min(rows.size() - 1, table.getSelectionIndex() + rowsDown)));
				describe();
			}
		}
	}

	/** After the dialog, when the window has the focus again. */
	private void leaveAnd(Runnable what) {
		Display display = getShell().getDisplay();
		close();
		OnDisplay.later(display, () -> {
			if (!window.getShell().isDisposed()) {
				what.run();
			}
		});
	}

	private void choose(boolean other) {
		Row r = chosen();
		if (r == null) {
			return;
		}
		leaveAnd(() -> {
			switch (r.hit().target()) {
			case Memory m when m.producer() < 0 -> openSource(r, m);
			case Memory m -> jump(r, m, other);
			case Place p -> openSource(r, p);
			case OfThread t when other -> FindJump.colourThreads(r.hit().name(), selected(r).info(), selected(r).selection());
			case OfThread t -> FindJump.onlyThread(r.hit().name(), selected(r).info(), selected(r).selection(), t.index());
			case Listed l -> (r.hit().kind() == Kind.COMMAND ? commands : others).action(l.index()).run();
			}
			activate(r);
		});
	}

	private void source() {
		Row r = chosen();
		if (r != null && r.of() != null) {
			switch (r.hit().target()) {
			case Memory m -> leaveAnd(() -> openSource(r, m));
			case Place p -> leaveAnd(() -> openSource(r, p));
			default -> {
				// it has none
			}
			}
		}
	}

	/** Whose selection changes: that of a locked view when it is the active one. */
	private OpenTrace selected(Row r) {
		return r.of().trace().isSameTrace(session.active()) ? session.active() : r.of().trace();
	}

	private static Structure structure(Row r, Memory m) {
		return m.structure() < 0 ? null : r.of().trace().structures().get(m.structure());
	}

	private void jump(Row r, Memory m, boolean onlyMark) {
		OpenTrace in = selected(r);
		if (onlyMark) {
			FindJump.mark(r.hit().name(), in.info(), in.selection(), m, structure(r, m));
		} else {
			FindJump.zoom(r.hit().name(), in.info(), in.selection(), m, structure(r, m));
		}
	}

	private void openSource(Row r, Memory m) {
		Structure s = structure(r, m);
		if (s == null) {
			MessageDialog.openInformation(window.getShell(), "Find", r.hit().name() + " is no structure: it has no place in the source.");
		} else {
			SourceQuestion.of(s).show(window.getActivePage(), r.of().group());
		}
	}

	private void openSource(Row r, Place p) {
		if (p.place().file().isEmpty()) {
			MessageDialog.openInformation(window.getShell(), "Find", "The source of " + r.hit().name()
					+ " is not known: its library has no debug information.");
		} else {
			SourceQuestion place = (store, code) -> List.of(p.place());
			place.show(window.getActivePage(), r.of().group());
		}
	}

	/** What was found may be of another group than that of the active view: a view of it is the active one then. */
	private void activate(Row r) {
		IWorkbenchPage page = window.getActivePage();
		if (r.of() == null || page.getActivePart() instanceof TraceView v && v.group() == r.of().group()) {
			return;
		}
		for (IViewReference ref : page.getViewReferences()) {
			if (ref.getView(false) instanceof TraceView v && v.group() == r.of().group() && page.isPartVisible(v)) {
				page.activate(v);
				return;
			}
		}
	}
}
