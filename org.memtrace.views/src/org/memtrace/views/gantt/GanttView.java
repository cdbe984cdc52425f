// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.gantt;

import static org.memtrace.views.util.MenuActions.action;

import java.util.Map;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.IAction;
import org.eclipse.jface.action.IToolBarManager;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.dialogs.InputDialog;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.window.Window;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.SashForm;
import org.eclipse.swt.dnd.Clipboard;
import org.eclipse.swt.dnd.TextTransfer;
import org.eclipse.swt.dnd.Transfer;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Event;
import org.eclipse.ui.IWorkbenchActionConstants;
import org.eclipse.ui.PartInitException;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.gantt.GanttOptions;
import org.memtrace.analysis.gantt.GanttPicture.Hit;
import org.memtrace.analysis.gantt.GanttPicture;
import org.memtrace.analysis.gantt.GanttPresenter.Records;
import org.memtrace.analysis.gantt.GanttPresenter.Search;
import org.memtrace.analysis.gantt.GanttPresenter.Step;
import org.memtrace.analysis.gantt.GanttPresenter;
import org.memtrace.analysis.gantt.GanttRows;
import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.analysis.gantt.GanttStyle;
import org.memtrace.analysis.gantt.GanttTable;
import org.memtrace.analysis.gantt.Marker;
import org.memtrace.analysis.gantt.MarkerDraft;
import org.memtrace.analysis.gantt.ReadFailedException;
import org.memtrace.analysis.scene.PlotMargins;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.paint.AlignedPlot;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.paint.SceneRuns;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.TraceMarkers;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.util.Icons;
import org.memtrace.views.view.RecordView;
import org.memtrace.views.view.Snapshot;
import org.memtrace.views.view.TraceView;

/**
 * The Gantt chart of a trace: widgets, actions and jobs. What is shown, and what a gesture means, is in {@link GanttPresenter};
 * painting and the mouse are in {@link GanttCanvas}.
 */
public final class GanttView extends TraceView implements RecordView {
	private static final String NOTHING = "Open a trace to see what happened when";
	private static final double FONT_PIXELS = 12;
	/** Axis, small chart and legend around the rows. */
	private static final int PIXELS_AROUND_ROWS = 110;

	private GanttBar bar;
	private SashForm sash;
	private GanttCanvas canvas;
	private MarkersPanel markers;
	private Action showMarkers;
	private AlignedPlot aligned;
	private GanttJobs jobs;
	private GanttMenus menus;
	private final GanttPresenter presenter = new GanttPresenter(new Widgets());
	private TraceMarkers markersOf;
	private final Runnable markersChanged = this::draw;

	@Override
	protected void createContents(Composite parent) {
		Composite all = new Composite(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(0, 0).applyTo(all);
		bar = new GanttBar(all, new GanttBar.Listener() {
			@Override
			public void grouping(Grouping chosen) {
				setGrouping(chosen);
			}

			@Override
			public void viewpoint(Dimension chosen) {
				if (trace() != null) {
					trace().selection().viewpoint(chosen);
				}
			}

			@Override
			public void find(String pattern, boolean forward) {
				presenter.find(pattern, forward);
			}

			@Override
			public void cancelled() {
				jobs.loading.cancel();
				jobs.arranging.cancel();
				jobs.drawing.cancel();
				jobs.searching.cancel();
				jobs.stepping.cancel();
				bar.busy(false, "", -1);
			}
		});
		GridDataFactory.fillDefaults().grab(true, false).applyTo(bar);
		sash = new SashForm(all, SWT.HORIZONTAL | SWT.SMOOTH);
		sash.setSashWidth(5);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(sash);
		canvas = new GanttCanvas(sash, new CanvasListener());
		aligned = new AlignedPlot(canvas, parent, this::draw);
		markers = new MarkersPanel(sash, this::jump);
		sash.setWeights(75, 25);
		sash.setMaximizedControl(canvas);
		canvas.addListener(SWT.Resize, e -> draw());
		jobs = new GanttJobs(canvas, bar, presenter, aligned, this::trace);
		menus = new GanttMenus(canvas, presenter, this::trace, session().colours(), new Actions());
		makeActions();
		menus.open();
	}

	/** What is in the menus. */
	private final class Actions implements GanttMenus.Actions {
		@Override
		public void addMarker(boolean ofRow) {
			GanttView.this.addMarker(ofRow);
		}

		@Override
		public void addBookmark() {
			GanttView.this.addBookmark();
		}

		@Override
		public void showInEvents() {
			GanttView.this.showInEvents();
		}
	}

	// ---- what is shown

	@Override
	protected void traceShown(OpenTrace now) {
		jobs.cancel();
		followMarkers(now == null ? null : now.markers());
		canvas.setSelection(now == null ? null : now.selection());
		canvas.setEmpty(now == null ? nothingShown(NOTHING) : "");
		if (now == null) {
			aligned.needs(null);
		}
		markers.setTrace(now);
		presenter.show(now, now != null && presenter.loaded() instanceof OpenTrace loaded && now.isSameTrace(loaded));
	}

	@Override
	protected void openingChanged() {
		canvas.setEmpty(nothingShown(NOTHING));
	}

	@Override
	protected void stateChanged(ViewState old, ViewState now) {
		canvas.redraw();
		presenter.stateChanged();
	}

	@Override
	protected void markChanged(int producer) {
		presenter.marked(producer);
	}

	@Override
	protected void coloursChanged() {
		draw();
	}

	private void draw() {
		// a closed trace is gone before the presenter is told
		ShownGantt.Input input = trace() != null && presenter.isDrawable() ? wanted() : null;
		if (input != null && !(canvas.shown() != null && canvas.shown().shows(input) && !jobs.drawing.isBusy())) {
			jobs.drawing.submit(input);
		}
	}

	/** What should be shown now; null when there is no room. */
	private ShownGantt.Input wanted() {
		Point size = new Point(canvas.getClientArea().width, canvas.getClientArea().height);
		if (size.x <= 50 || size.y <= 50) {
			return null;
		}
		return new ShownGantt.Input(trace(), presenter.model(), presenter.rows(), trace().selection().state(), presenter.firstRow(),
				size.x, size.y, FONT_PIXELS, presenter.labelWidth(), ScenePainter.palette(canvas), presenter.style(),
				aligned.margins(), trace().markers().all(), SceneRuns.canBeMadeByJobs(canvas.getDisplay()) ? canvas.getDisplay() : null);
	}

	void setGrouping(Grouping chosen) {
		presenter.setGrouping(chosen);
	}

	/** The presenter's hands. */
	private final class Widgets implements GanttPresenter.Screen {
		@Override
		public void read(Records wanted) {
			jobs.loading.submit(wanted);
		}

		@Override
		public void stopReading() {
			jobs.loading.cancel();
		}

		@Override
		public void arrange(GanttRows.Request wanted) {
			jobs.arranging.submit(wanted);
		}

		@Override
		public void stopArranging() {
			jobs.arranging.cancel();
		}

		@Override
		public void find(Step wanted) {
			jobs.stepping.submit(wanted);
		}

		@Override
		public void find(Search wanted) {
			jobs.searching.submit(wanted);
		}

		@Override
		public void draw() {
			GanttView.this.draw();
		}

		@Override
		public void rowsChanged() {
			canvas.setSelected(presenter.selectedRow(), presenter.selected());
			canvas.setRows(presenter.rows(), presenter.firstRow(), presenter.selectedRow());
		}

		@Override
		public void scrolled() {
			canvas.setFirstRow(presenter.firstRow());
		}

		@Override
		public void selectionChanged() {
			canvas.setSelected(presenter.selectedRow(), presenter.selected());
		}

		@Override
		public void choicesChanged() {
			bar.update(trace() != null, presenter.knows(Grouping.THREAD), presenter.knows(Grouping.CPU),
					trace() != null && trace().hasAccesses(), presenter.grouping(),
					trace() == null ? BasicDimensions.TYPE : trace().selection().state().viewpoint());
		}

		@Override
		public int wholeRows(double rowHeight) {
			GanttPicture p = canvas.picture();
			return p != null && p.rowHeight() == rowHeight ? Math.max(1, p.wholeRows())
					: (int) Math.max(1, (canvas.getSize().y - PIXELS_AROUND_ROWS) / rowHeight);
		}

		@Override
		public double labelWidth(GanttRows rows, GanttStyle style) {
			GanttOptions o = new GanttOptions();
			o.width = Math.max(200, canvas.getSize().x);
			o.fontSize = FONT_PIXELS;
			o.rowHeight = style.rowHeight();
			return GanttPicture.labelWidth(rows, o);
		}

		@Override
		public double width() {
			return canvas.getSize().x;
		}

		@Override
		public void say(String text, boolean warning) {
			bar.info(text, warning);
		}

		@Override
		public void sayInstead(String text) {
			canvas.setEmpty(text);
		}
	}

	// ---- gestures

	private final class CanvasListener implements GanttCanvas.Listener {
		@Override
		public void scrollTo(int row) {
			presenter.scrollTo(row);
		}

		@Override
		public void toggle(int row) {
			presenter.toggle(row);
		}

		@Override
		public void select(int row, GanttPicture.Hit hit) {
			if (row >= 0) {
				presenter.select(row);
			}
			if (hit != null && hit.area() == GanttPicture.Area.PLOT && (hit.type() >= 0 || hit.link() >= 0)) {
				jobs.choosing.submit(new GanttJobs.Hovered(trace(), canvas.shown(), hit, false));
			} else {
				jobs.choosing.cancel();
				if (row >= 0) {
					bar.info(presenter.rows().name(row), false);
				}
			}
		}

		@Override
		public void zoomTo(GanttPicture.Hit hit) {
			jobs.choosing.submit(new GanttJobs.Hovered(trace(), canvas.shown(), hit, true));
		}

		@Override
		public void toggleType(int type) {
			presenter.toggleType(type);
		}

		@Override
		public void jump(GanttPicture.Hit flag) {
			Marker m = flag.marker();
			int index = trace().markers().all().indexOf(m);
			if (index >= 0) {
				setMarkersVisible(true);
				markers.table().select(index);
				markers.table().showSelection();
			}
		}

		@Override
		public void step(boolean forward) {
			presenter.step(forward);
		}

		@Override
		public void labelWidth(double width) {
			presenter.setLabelWidth(width);
		}

		@Override
		public void rowHeight(int steps) {
			presenter.setStyle(presenter.style().higher(steps));
		}

		@Override
		public void hover(GanttPicture.Hit hit) {
			if (hit != null && hit.area() == GanttPicture.Area.PLOT && (hit.row() >= 0 || hit.link() >= 0)) {
				jobs.describing.submit(new GanttJobs.Hovered(trace(), canvas.shown(), hit, false));
				return;
			}
			jobs.describing.cancel();
			if (hit == null) {
				return;
			}
			String tip = presenter.tip(hit);
			if (tip != null) {
				canvas.tip(tip);
			}
		}

		@Override
		public void key(Event e) {
			GanttView.this.key(e);
		}
	}

	// ---- markers

	private void followMarkers(TraceMarkers now) {
		if (markersOf != null) {
			markersOf.removeListener(markersChanged);
		}
		markersOf = now;
		if (now != null) {
			now.addListener(markersChanged);
		}
	}

	private void setMarkersVisible(boolean visible) {
		sash.setMaximizedControl(visible ? null : canvas);
		showMarkers.setChecked(visible);
	}

	/** Asks for the name of a marker of the selected row, or of what is chosen. */
	private void addMarker(boolean ofRow) {
		if (trace() == null) {
			return;
		}
		int number = trace().markers().all().size();
		Hit mouse = canvas.hover();
		ask(ofRow ? presenter.markerOfRow(number) : presenter.markerOfTime(canvas.marked(),
				mouse != null && mouse.area() == GanttPicture.Area.PLOT ? (Long) mouse.fromNs() : null, number));
	}

	private void addBookmark() {
		if (trace() != null) {
			ask(presenter.bookmark(trace().markers().all().size()));
		}
	}

	private void ask(MarkerDraft draft) {
		if (draft == null) {
			return;
		}
		OpenTrace of = trace();
		InputDialog dialog = new InputDialog(getSite().getShell(), draft.title(), "Name", draft.proposal(),
				text -> text.isBlank() ? "A marker needs a name" : null);
		if (dialog.open() == Window.OK && trace() == of) {
			of.markers().add(of, draft.marker().withName(dialog.getValue()));
			canvas.setMarked(null);
			setMarkersVisible(true);
		}
	}

	@Override
	public void showRecord(OpenTrace of, int producer, long fromNs, long toNs) {
		if (trace() != null && trace().isSameTrace(of)) { // else locked, or of another group
			presenter.showRecord(producer, fromNs, toNs);
		}
	}

	private void jump(Marker m) {
		if (presenter.isDrawable()) {
			presenter.jump(m);
			canvas.setFocus();
		}
	}

	// ---- actions

	private void key(Event e) {
		boolean control = (e.stateMask & SWT.MOD1) != 0;
		boolean shift = (e.stateMask & SWT.SHIFT) != 0;
		if (e.character == '*' || e.character == '/') { // by the sign: most keyboards have it above another one
			presenter.unfoldBelow(e.character == '*');
			return;
		}
		switch (e.keyCode) {
		case 'f' -> {
			if (control) {
				bar.search().setFocus();
				bar.search().selectAll();
			}
		}
		case SWT.F3 -> presenter.find(bar.search().getText(), !shift);
		case 'm' -> {
			if (!control) {
				addMarker(shift);
			}
		}
		case 'b' -> {
			if (!control) {
				addBookmark();
			}
		}
		case 'h' -> {
			if (!control) {
				presenter.hideRow(shift);
			}
		}
		case 'l' -> {
			if (!control) {
				presenter.setStyle(presenter.style().withLinks(!presenter.style().links()));
			}
		}
		case 'c' -> {
			if (control) {
				copy();
			}
		}
		default -> {
		}
		}
	}

	private void copy() {
		String text = bar.text();
		if (!text.isEmpty()) {
			Clipboard clipboard = new Clipboard(canvas.getDisplay());
			clipboard.setContents(new Object[] { text }, new Transfer[] { TextTransfer.getInstance() });
			clipboard.dispose();
		}
	}

	/** The window becomes the time of the selected record, and the table of events selects it. */
	void showInEvents() {
		GanttPresenter.Span span = presenter.selected();
		if (span != null) {
			trace().selection().window(span.fromNs(), Math.max(span.fromNs() + 1, span.toNs()));
		}
		try {
			if (getSite().getPage().showView(ViewIds.EVENTS) instanceof RecordView events && span != null
					&& presenter.grouping() == Grouping.PRODUCER) {
				events.showRecord(trace(), span.producer(), span.fromNs(), span.toNs());
			}
		} catch (PartInitException e) {
			bar.info(e.getMessage(), true);
		}
	}

	private void makeActions() {
		IToolBarManager tools = getViewSite().getActionBars().getToolBarManager();
		Action previous = action("Previous record", () -> presenter.step(false));
		previous.setToolTipText("Previous record of the selected row (Left)");
		previous.setImageDescriptor(Icons.get("previous"));
		Action next = action("Next record", () -> presenter.step(true));
		next.setToolTipText("Next record of the selected row (Right)");
		next.setImageDescriptor(Icons.get("next"));
		Action marker = action("Add marker…", () -> addMarker(false));
		marker.setToolTipText("Mark the chosen interval, record or instant (M)");
		marker.setImageDescriptor(Icons.get("flag"));
		showMarkers = new Action("Markers", IAction.AS_CHECK_BOX) {
			@Override
			public void run() {
				setMarkersVisible(isChecked());
			}
		};
		showMarkers.setToolTipText("Show the list of markers and bookmarks");
		showMarkers.setImageDescriptor(Icons.get("flags"));
		tools.appendToGroup(IWorkbenchActionConstants.MB_ADDITIONS, previous);
		tools.appendToGroup(IWorkbenchActionConstants.MB_ADDITIONS, next);
		tools.appendToGroup(IWorkbenchActionConstants.MB_ADDITIONS, marker);
		tools.appendToGroup(IWorkbenchActionConstants.MB_ADDITIONS, showMarkers);
		MenuManager look = new MenuManager("Look");
		look.setRemoveAllWhenShown(true);
		look.addMenuListener(menus::fillLook);
		getViewSite().getActionBars().getMenuManager().add(look);
	}

	// ---- for others

	@Override
	protected Snapshot snapshot() {
		ShownGantt shown = canvas.shown();
		if (shown == null || trace() == null) {
			return null;
		}
		ShownGantt.Input in = shown.input();
		String title = trace().name();
		String warning = trace().lossWarning();
		Map<String, String> parameters = GanttPresenter.parameters(trace(), in.state(), in.rows(), in.firstRow(), in.style());
		return new Snapshot("Gantt chart", (palette, width, height) -> {
			GanttOptions o = in.options();
			o.palette = palette;
			o.width = width;
			o.height = height;
			o.title = title;
			o.warning = warning;
			o.margins = PlotMargins.NONE; // those of the window
			try {
				return GanttPicture.build(in.model(), in.rows(), o, Progress.NONE).scene();
			} catch (MemtraceException e) {
				throw new ReadFailedException(e);
			}
		}, () -> {
			try {
				return GanttTable.csv(in.model(), shown.picture());
			} catch (MemtraceException e) {
				throw new ReadFailedException(e);
			}
		}, parameters);
	}

	@Override
	protected boolean isSettled() {
		if (trace() == null) {
			return true;
		}
		return !jobs.arePending() && presenter.isDrawable() && !aligned.isPending() && canvas.shown() != null && canvas.shown().shows(wanted());
	}

	@Override
	public void setFocus() {
		canvas.setFocus();
	}

	@Override
	public void dispose() {
		followMarkers(null);
		super.dispose();
	}

	/** Where a time is on the screen; for tests. */
	public int screenX(long ns) {
		return canvas.toDisplay(0, 0).x + (int) Math.round(canvas.picture().xOf(ns));
	}

	GanttCanvas canvas() {
		return canvas;
	}

	GanttBar bar() {
		return bar;
	}

	GanttRows rows() {
		return presenter.rows();
	}

	MarkersPanel markers() {
		return markers;
	}
}
