// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.gantt;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.IAction;
import org.eclipse.jface.action.IMenuManager;
import org.eclipse.jface.action.IToolBarManager;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.action.Separator;
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
import org.eclipse.swt.graphics.RGB;
import org.eclipse.swt.widgets.ColorDialog;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Event;
import org.eclipse.ui.IWorkbenchActionConstants;
import org.eclipse.ui.PartInitException;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Viewpoint;
import org.memtrace.analysis.colour.Colours;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.gantt.GanttDetails;
import org.memtrace.analysis.gantt.GanttFold;
import org.memtrace.analysis.gantt.GanttModel;
import org.memtrace.analysis.gantt.GanttOptions;
import org.memtrace.analysis.gantt.GanttPicture;
import org.memtrace.analysis.gantt.GanttRows;
import org.memtrace.analysis.gantt.GanttRows.Order;
import org.memtrace.analysis.gantt.GanttSearch;
import org.memtrace.analysis.gantt.GanttSource;
import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.analysis.gantt.GanttTable;
import org.memtrace.analysis.gantt.GanttType;
import org.memtrace.analysis.gantt.Marker;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.OpenTrace;
import org.memtrace.views.Snapshot;
import org.memtrace.views.TraceMarkers;
import org.memtrace.views.TraceView;
import org.memtrace.views.ViewIds;
import org.memtrace.views.events.EventsView;
import org.memtrace.views.filters.FilterActions;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.paint.SceneRuns;
import org.memtrace.views.util.Icons;

/**
 * The Gantt chart of a trace. Three steps, each in a job and only when needed: the records (when viewpoint or filters change),
 * the rows (when the producer, folding or order change), the picture (when the window or the scroll position change). Painting and
 * gestures are in {@link GanttCanvas}.
 */
public final class GanttView extends TraceView {
	private static final String NOTHING = "Open a trace to see what happened when";
	private static final double FONT_PIXELS = 12;
	private static final double[] ROW_HEIGHTS = { 4, 6, 9, 13, 18, 24, 32, 44 };
	private static final int[] MARKER_COLORS = { 0x1f5fd0, 0xb3261e, 0x1b7f4b, 0x8b3fb0, 0x9a5b00, 0x00738a };

	private record Wanted(OpenTrace trace, Viewpoint viewpoint, FilterSet filters) {
	}

	private record Arrangement(GanttModel model, Grouping grouping, int root, GanttFold fold, Order order, boolean hideEmpty) {
	}

	private record Hovered(OpenTrace trace, ShownGantt shown, GanttPicture.Hit hit) {
	}

	private record Step(GanttModel model, Grouping grouping, int group, int producer, int row, long fromNs, boolean forward) {
	}

	private record Search(GanttRows rows, Pattern pattern, int group, int producer, boolean forward) {
	}

	private GanttBar bar;
	private SashForm sash;
	private GanttCanvas canvas;
	private MarkersPanel markers;
	private Action showMarkers;
	private LatestResult<Wanted, GanttModel> loading;
	private LatestResult<Arrangement, GanttRows> arranging;
	private LatestResult<ShownGantt.Input, ShownGantt> drawing;
	private LatestResult<Hovered, GanttDetails> describing;
	private LatestResult<Hovered, GanttDetails> choosing;
	private LatestResult<Step, GanttModel.Piece> stepping;
	private LatestResult<Search, GanttSearch.Found> searching;

	private GanttModel model;
	private Wanted modelOf;
	private GanttRows rows;
	private Arrangement rowsOf;
	private Grouping grouping = Grouping.PRODUCER;
	private Order order = Order.ADDRESS;
	private boolean hideEmpty = true;
	private GanttFold fold = GanttFold.folded();
	private ShownGantt.Style style = ShownGantt.Style.DEFAULT;
	private double labelWidth;
	/** Row that shall be visible when the rows are there: producer in a group, -1 none. */
	private int revealGroup;
	private int revealProducer = -1;
	/** Record that shall be selected in that row; null none. */
	private GanttCanvas.Span revealSpan;
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
			public void viewpoint(Viewpoint chosen) {
				if (trace() != null) {
					trace().selection().viewpoint(chosen);
				}
			}

			@Override
			public void find(String pattern, boolean forward) {
				GanttView.this.find(pattern, forward);
			}

			@Override
			public void cancelled() {
				loading.cancel();
				arranging.cancel();
				drawing.cancel();
				searching.cancel();
				stepping.cancel();
				bar.busy(false, "", -1);
			}
		});
		GridDataFactory.fillDefaults().grab(true, false).applyTo(bar);
		sash = new SashForm(all, SWT.HORIZONTAL | SWT.SMOOTH);
		sash.setSashWidth(5);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(sash);
		canvas = new GanttCanvas(sash, new CanvasListener());
		markers = new MarkersPanel(sash, this::jump);
		sash.setWeights(75, 25);
		sash.setMaximizedControl(canvas);
		canvas.addListener(SWT.Resize, e -> draw());
		makeJobs();
		makeActions();
		makeMenu();
	}

	// ---- jobs

	private abstract class Work<I, R> extends LatestResult<I, R> {
		Work(String name, LatestResult.Policy policy) {
			this(name, policy, LatestResult.Priority.NORMAL);
		}

		Work(String name, LatestResult.Policy policy, LatestResult.Priority priority) {
			super(name, canvas, policy, priority);
		}

		@Override
		protected void failed(I input, String message) {
			bar.info(message, true);
		}

		@Override
		protected void progress(String step, double fraction) {
			bar.busy(true, step, fraction);
		}

		@Override
		protected void busy(boolean busy) {
			bar.busy(loading.isBusy() || arranging.isBusy() || drawing.isBusy() || searching.isBusy() || stepping.isBusy(), "", -1);
		}
	}

	private void makeJobs() {
		loading = new Work<>("Read records", LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.CAN_WAIT) {
			@Override
			protected GanttModel compute(Wanted input, Progress progress) throws MemtraceException {
				if (!input.trace().hasAccesses()) {
					return new GanttModel(GanttSource.of(input.trace().events(input.filters(), progress)));
				}
				AccessTable table = input.trace().accesses(input.filters(), progress);
				return new GanttModel(GanttSource.of(table, input.viewpoint()));
			}

			@Override
			protected void show(Wanted input, GanttModel result) {
				model = result;
				modelOf = input;
				if (!result.source().knows(grouping)) {
					grouping = Grouping.PRODUCER;
				}
				update();
				arrange();
			}
		};
		arranging = new Work<>("Arrange rows", LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected GanttRows compute(Arrangement input, Progress progress) throws CancelledException {
				return GanttRows.of(new GanttRows.Request(input.model().source(), input.grouping(), input.root(), input.fold(),
						input.order(), input.hideEmpty()), progress);
			}

			@Override
			protected void show(Arrangement input, GanttRows result) {
				showRows(input, result);
			}
		};
		drawing = new Work<>("Draw Gantt chart", LatestResult.Policy.KEEP_UP) {
			@Override
			protected ShownGantt compute(ShownGantt.Input input, Progress progress) throws CancelledException {
				return ShownGantt.draw(input, progress);
			}

			@Override
			protected void show(ShownGantt.Input input, ShownGantt result) {
				if (input.trace() == trace() && input.model() == model) {
					canvas.setPicture(result);
					tellPlace();
				} else {
					result.dispose();
				}
			}

			@Override
			protected void dropped(ShownGantt result) {
				result.dispose();
			}
		};
		describing = new LatestResult<>("Describe", canvas, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected GanttDetails compute(Hovered input, Progress progress) throws MemtraceException {
				return details(input, progress);
			}

			@Override
			protected void show(Hovered input, GanttDetails result) {
				if (canvas.getMenu() == null || !canvas.getMenu().isVisible()) { // it would lie over the menu
					canvas.setToolTipText(String.join("\n", result.lines()).replace("&", "&&"));
				}
			}
		};
		choosing = new LatestResult<>("Find record", canvas, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected GanttDetails compute(Hovered input, Progress progress) throws MemtraceException {
				return details(input, progress);
			}

			@Override
			protected void show(Hovered input, GanttDetails result) {
				choose(input, result);
			}
		};
		stepping = new Work<>("Find record", LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected GanttModel.Piece compute(Step in, Progress progress) throws CancelledException {
				GanttModel.Piece piece = in.model().next(in.grouping(), in.group(), in.producer(), in.fromNs(), in.forward(), progress);
				return piece == null ? new GanttModel.Piece(in.fromNs(), Long.MIN_VALUE) : piece;
			}

			@Override
			protected void show(Step input, GanttModel.Piece result) {
				stepped(input, result);
			}
		};
		searching = new Work<>("Search rows", LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected GanttSearch.Found compute(Search in, Progress progress) throws CancelledException {
				GanttSearch.Found found = GanttSearch.next(in.rows(), in.pattern(), in.group(), in.producer(), in.forward(), progress);
				return found == null ? new GanttSearch.Found(0, -1, false) : found;
			}

			@Override
			protected void show(Search input, GanttSearch.Found result) {
				found(input, result);
			}
		};
	}

	private static GanttDetails details(Hovered in, Progress progress) throws MemtraceException {
		try (OpenTrace.Lease lease = in.trace().lease()) {
			return GanttDetails.of(in.shown().picture(), in.hit(), in.trace().structures(), lease.store(), progress);
		}
	}

	// ---- what is shown

	@Override
	protected void traceShown(OpenTrace now) {
		for (LatestResult<?, ?> job : List.of(loading, arranging, drawing, describing, choosing, stepping, searching)) {
			job.cancel();
		}
		followMarkers(now == null ? null : now.markers());
		boolean same = now != null && modelOf != null && now.isSameTrace(modelOf.trace());
		if (!same) {
			fold = now == null ? GanttFold.folded() : GanttFold.initial(now.producers());
			grouping = Grouping.PRODUCER;
			style = style.withHiddenTypes(Set.of()).withLabelWidth(-1);
		}
		model = null;
		modelOf = null;
		rows = null;
		rowsOf = null;
		canvas.setSelection(now == null ? null : now.selection());
		canvas.setRows(null, 0, -1);
		canvas.setEmpty(now == null ? nothingShown(NOTHING) : "");
		markers.setTrace(now);
		bar.info("", false);
		if (now != null) {
			load();
		}
		update();
	}

	@Override
	protected void openingChanged() {
		canvas.setEmpty(nothingShown(NOTHING));
	}

	@Override
	protected void stateChanged(ViewState old, ViewState now) {
		canvas.redraw();
		load();
	}

	@Override
	protected void markChanged(int producer) {
		if (rows == null || producer < 0) {
			return;
		}
		int row = canvas.selectedRow();
		int group = row < 0 || row >= rows.count() ? GanttSource.ALL : rows.group(row);
		if (row >= 0 && row < rows.count() && (rows.producer(row) == producer || trace().memberOf(rows.producer(row)) == producer)) {
			return; // it is the own mark
		}
		int at = rows.rowOf(group, producer);
		if (at >= 0) {
			canvas.setSelected(at, null);
			reveal(at);
		}
	}

	@Override
	protected void coloursChanged() {
		draw();
	}

	/** The records, if others are needed; then what depends on them. */
	private void load() {
		OpenTrace t = trace();
		ViewState s = t.selection().state();
		// events are coloured by their type whatever the viewpoint is
		Viewpoint viewpoint = !t.hasAccesses() ? Viewpoint.TYPE : s.viewpoint() == Viewpoint.TYPE ? Viewpoint.SHARING : s.viewpoint();
		Wanted wanted = new Wanted(t, viewpoint, s.filters());
		if (model != null && wanted.equals(modelOf)) {
			loading.cancel();
			arrange();
		} else {
			loading.submit(wanted);
		}
		update();
	}

	private void arrange() {
		if (model == null || trace() == null) {
			return;
		}
		Arrangement wanted = new Arrangement(model, grouping, trace().selection().state().producer(), fold, order, hideEmpty);
		if (wanted.equals(rowsOf)) {
			arranging.cancel();
			draw();
		} else {
			arranging.submit(wanted);
		}
	}

	private void showRows(Arrangement input, GanttRows result) {
		GanttRows old = rows;
		int first = canvas.firstRow();
		int selectedGroup = -1;
		int selectedProducer = -1;
		int topGroup = -1;
		int topProducer = -1;
		if (old != null && old.request().grouping() == input.grouping()) {
			int row = canvas.selectedRow();
			if (row >= 0 && row < old.count()) {
				selectedGroup = old.group(row);
				selectedProducer = old.producer(row);
			}
			if (first > 0 && first < old.count()) {
				topGroup = old.group(first);
				topProducer = old.producer(first);
			}
		}
		rows = result;
		rowsOf = input;
		// the first row stays the first, the selected one selected
		int top = topProducer < 0 ? 0 : Math.max(0, result.rowOf(topGroup, topProducer));
		int row = selectedProducer < 0 ? -1 : result.rowOf(selectedGroup, selectedProducer);
		measureLabels(old == null || old.request().grouping() != input.grouping());
		if (row < 0) {
			canvas.setSelected(-1, null);
		}
		canvas.setRows(result, Math.min(top, maxFirst(result)), row);
		canvas.setEmpty(result.count() > 0 ? "" // until the picture is there
				: trace().selection().state().filters().isActive() ? "Nothing passes the filters" : "Nothing here has any record");
		if (revealProducer >= 0) {
			int at = result.rowOf(revealGroup, revealProducer);
			revealProducer = -1;
			if (at >= 0) {
				canvas.setSelected(at, revealSpan);
				reveal(at);
			}
		}
		revealSpan = null;
		draw();
	}

	/** Labels get wider when longer ones appear, but not narrower: the chart would jump. */
	private void measureLabels(boolean anew) {
		GanttOptions o = new GanttOptions();
		o.width = Math.max(200, canvas.getSize().x);
		o.fontSize = FONT_PIXELS;
		o.rowHeight = style.rowHeight();
		labelWidth = Math.max(anew ? 0 : labelWidth, GanttPicture.labelWidth(rows, o));
	}

	private int maxFirst(GanttRows of) {
		GanttPicture p = canvas.picture();
		int whole = p != null && p.rowHeight() == style.rowHeight() ? p.wholeRows()
				: (int) Math.max(1, (canvas.getSize().y - 110) / style.rowHeight());
		return Math.max(0, of.count() - whole);
	}

	private void draw() {
		if (model == null || rows == null || trace() == null || loading.isBusy() && modelOf == null) {
			return;
		}
		ShownGantt.Input input = wanted();
		if (input != null && !(canvas.shown() != null && canvas.shown().shows(input) && !drawing.isBusy())) {
			drawing.submit(input);
		}
	}

	/** What should be shown now; null when there is no room. */
	private ShownGantt.Input wanted() {
		Point size = new Point(canvas.getClientArea().width, canvas.getClientArea().height);
		if (size.x <= 50 || size.y <= 50) {
			return null;
		}
		return new ShownGantt.Input(trace(), model, rows, trace().selection().state(), canvas.firstRow(), size.x, size.y, FONT_PIXELS,
				style.labelWidth() >= 0 ? style.labelWidth() : labelWidth, ScenePainter.palette(canvas), style, trace().markers().all(),
				SceneRuns.canBeMadeByJobs(canvas.getDisplay()) ? canvas.getDisplay() : null);
	}

	/** The controls show what is possible and what is chosen. */
	private void update() {
		GanttSource s = model == null ? null : model.source();
		boolean accesses = trace() != null && trace().hasAccesses();
		bar.update(trace() != null, s != null && s.knows(Grouping.THREAD), s != null && s.knows(Grouping.CPU), accesses, grouping,
				trace() == null ? Viewpoint.SHARING : trace().selection().state().viewpoint());
	}

	private void tellPlace() {
		GanttPicture p = canvas.picture();
		String text = Units.plural(rows.count(), "row") + (rows.isCut() ? ", more are not shown" : "")
				+ (fold.hidesSomething() ? ", some hidden" : "");
		if (p.linksShown() < p.linksThere()) {
			text += ", " + Units.percent(100.0 * p.linksShown() / p.linksThere()) + " of links shown";
		}
		bar.info(text, rows.isCut());
	}

	private void setStyle(ShownGantt.Style now) {
		if (!now.equals(style)) {
			style = now;
			draw();
		}
	}

	private void setFold(GanttFold now) {
		fold = now;
		arrange();
	}

	void setGrouping(Grouping chosen) {
		if (chosen == grouping || model == null || !model.source().knows(chosen)) {
			update();
			return;
		}
		grouping = chosen;
		fold = chosen == Grouping.PRODUCER ? GanttFold.initial(trace().producers()) : GanttFold.folded();
		update();
		arrange();
	}

	// ---- moving

	/** Makes a row visible, in the middle when it was not. */
	private void reveal(int row) {
		GanttPicture p = canvas.picture();
		int whole = p == null ? 1 : p.wholeRows();
		if (row < canvas.firstRow() || row >= canvas.firstRow() + whole) {
			scrollTo(row - whole / 2);
		}
	}

	private void scrollTo(int row) {
		if (rows == null) {
			return;
		}
		int first = Math.max(0, Math.min(maxFirst(rows), row));
		if (first != canvas.firstRow()) {
			canvas.setFirstRow(first);
			draw();
		}
	}

	private final class CanvasListener implements GanttCanvas.Listener {
		@Override
		public void scrollTo(int row) {
			GanttView.this.scrollTo(row);
		}

		@Override
		public void toggle(int row) {
			if (rows.isFoldable(row)) {
				setFold(fold.with(rows.group(row), rows.producer(row), !rows.isUnfolded(row)));
			}
		}

		@Override
		public void select(int row, GanttPicture.Hit hit) {
			if (row >= 0) {
				canvas.setSelected(row, null);
				reveal(row);
				trace().selection().mark(trace().memberOf(rows.producer(row)));
			}
			if (hit != null && hit.area() == GanttPicture.Area.PLOT && (hit.type() >= 0 || hit.link() >= 0)) {
				choosing.submit(new Hovered(trace(), canvas.shown(), hit));
			} else {
				choosing.cancel();
				if (row >= 0) {
					bar.info(rows.name(row), false);
				}
			}
		}

		@Override
		public void zoomTo(GanttPicture.Hit hit) {
			zoomWhenFound = true;
			choosing.submit(new Hovered(trace(), canvas.shown(), hit));
		}

		@Override
		public void toggleType(int type) {
			hideType(model.source().types().get(type).name());
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
			GanttView.this.step(forward);
		}

		@Override
		public void labelWidth(double width) {
			setStyle(style.withLabelWidth(Math.min(width, canvas.getSize().x * 0.6)));
		}

		@Override
		public void rowHeight(int steps) {
			changeRowHeight(steps);
		}

		@Override
		public void hover(GanttPicture.Hit hit) {
			if (hit != null && hit.area() == GanttPicture.Area.PLOT && (hit.row() >= 0 || hit.link() >= 0)) {
				describing.submit(new Hovered(trace(), canvas.shown(), hit));
				return;
			}
			describing.cancel();
			if (hit == null) {
				return;
			}
			switch (hit.area()) {
			case LABEL, FOLD -> canvas.setToolTipText(rows.name(hit.row()).replace("&", "&&"));
			case FLAG -> canvas.setToolTipText(hit.marker().name().replace("&", "&&"));
			case LEGEND -> canvas.setToolTipText("Click to show or hide "
					+ model.source().types().get(hit.type()).displayName().replace("&", "&&"));
			case MINIMAP -> canvas.setToolTipText("The whole trace; click or drag to move the window");
			default -> {
			}
			}
		}

		@Override
		public void key(Event e) {
			GanttView.this.key(e);
		}
	}

	private boolean zoomWhenFound;

	/** A record was clicked, and is found. */
	private void choose(Hovered input, GanttDetails d) {
		boolean zoom = zoomWhenFound;
		zoomWhenFound = false;
		if (input.trace() != trace() || rows == null || input.shown().input().rows() != rows || d.records() == 0) {
			return;
		}
		int row = d.row() < 0 ? canvas.selectedRow() : d.row();
		if (row >= 0) {
			canvas.setSelected(row, new GanttCanvas.Span(rows.group(row), rows.producer(row), d.fromNs(), d.toNs()));
		}
		bar.info(String.join(" · ", d.lines().subList(0, Math.min(4, d.lines().size()))), false);
		if (zoom) {
			long margin = Math.max(500, (d.toNs() - d.fromNs()) / 10);
			trace().selection().window(d.fromNs() - margin, d.toNs() + margin);
		}
	}

	/** The next or previous record of the selected row. */
	private void step(boolean forward) {
		if (rows == null || rows.count() == 0) {
			return;
		}
		int row = Math.max(0, canvas.selectedRow());
		GanttCanvas.Span at = canvas.selected();
		ViewState s = trace().selection().state();
		long from = at != null ? at.fromNs() : forward ? s.fromNs() - 1 : s.toNs();
		stepping.submit(new Step(model, grouping, rows.group(row), rows.producer(row), row, from, forward));
	}

	private void stepped(Step in, GanttModel.Piece piece) {
		if (in.model() != model || rows == null || in.row() >= rows.count() || rows.producer(in.row()) != in.producer()) {
			return;
		}
		if (piece.toNs() == Long.MIN_VALUE) {
			bar.info(in.forward() ? "No later record in this row" : "No earlier record in this row", true);
			return;
		}
		canvas.setSelected(in.row(), new GanttCanvas.Span(in.group(), in.producer(), piece.fromNs(), piece.toNs()));
		reveal(in.row());
		ViewState s = trace().selection().state();
		if (piece.fromNs() < s.fromNs() || piece.fromNs() >= s.toNs()) {
			long middle = piece.fromNs() + Math.min(piece.toNs() - piece.fromNs(), s.durationNs()) / 2;
			trace().selection().window(middle - s.durationNs() / 2, middle - s.durationNs() / 2 + s.durationNs());
		}
		bar.info(rows.name(in.row()) + " · " + Units.duration(trace().info(), piece.fromNs() - trace().info().startNs()) + ", "
				+ Units.duration(trace().info(), piece.toNs() - piece.fromNs()) + " long", false);
	}

	private void find(String text, boolean forward) {
		if (rows == null || text.isEmpty()) {
			return;
		}
		Pattern pattern;
		try {
			pattern = Pattern.compile(text, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE);
		} catch (PatternSyntaxException e) {
			bar.info("Not a regular expression: " + e.getDescription(), true);
			return;
		}
		int row = canvas.selectedRow();
		boolean has = row >= 0 && row < rows.count();
		searching.submit(new Search(rows, pattern, has ? rows.group(row) : 0, has ? rows.producer(row) : -1, forward));
	}

	private void found(Search in, GanttSearch.Found found) {
		if (in.rows().request().source() != (model == null ? null : model.source())) {
			return;
		}
		if (found.producer() < 0) {
			bar.info("No row is called " + in.pattern(), true);
			return;
		}
		GanttFold now = fold.reveal(trace().producers(), found.group(), found.producer());
		revealGroup = found.group();
		revealProducer = found.producer();
		fold = now;
		rowsOf = null; // also the same rows must be revealed
		arrange();
		trace().selection().mark(trace().memberOf(found.producer()));
		if (found.wrapped()) {
			bar.info("Search went round", false);
		}
	}

	private void changeRowHeight(int steps) {
		int i = 0;
		while (i < ROW_HEIGHTS.length - 1 && ROW_HEIGHTS[i] < style.rowHeight()) {
			i++;
		}
		i = Math.max(0, Math.min(ROW_HEIGHTS.length - 1, i + steps));
		style = style.withRowHeight(ROW_HEIGHTS[i]);
		if (rows != null) {
			measureLabels(false);
		}
		canvas.setFirstRow(Math.min(canvas.firstRow(), rows == null ? 0 : maxFirst(rows)));
		draw();
	}

	private void hideType(String name) {
		Set<String> hidden = new TreeSet<>(style.hiddenTypes());
		if (!hidden.remove(name)) {
			hidden.add(name);
		}
		setStyle(style.withHiddenTypes(hidden));
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

	/** A marker of what is chosen: an interval, a record, or where the mouse is. */
	private void addMarker(boolean ofRow) {
		if (rows == null || trace() == null) {
			return;
		}
		int row = canvas.selectedRow();
		long from;
		long to;
		int producer = Marker.NO_PRODUCER;
		if (ofRow) {
			if (row < 0) {
				return;
			}
			from = Marker.NO_TIME;
			to = Marker.NO_TIME;
			producer = rows.producer(row);
		} else if (canvas.marked() != null) {
			from = canvas.marked().fromNs();
			to = canvas.marked().toNs();
		} else if (canvas.selected() != null) {
			from = canvas.selected().fromNs();
			to = canvas.selected().toNs();
			producer = canvas.selected().producer();
		} else if (canvas.hover() != null && canvas.hover().area() == GanttPicture.Area.PLOT) {
			from = canvas.hover().fromNs();
			to = from;
		} else {
			ViewState s = trace().selection().state();
			from = s.fromNs() + s.durationNs() / 2;
			to = from;
		}
		int number = trace().markers().all().size();
		int at = producer;
		ask(ofRow ? "Marker of a row" : from == to ? "Marker of an instant" : "Marker of an interval", "Marker " + (number + 1),
				name -> new Marker(name, MARKER_COLORS[number % MARKER_COLORS.length], from, to, at, false));
	}

	private void addBookmark() {
		if (rows == null || trace() == null) {
			return;
		}
		ViewState s = trace().selection().state();
		int row = canvas.selectedRow();
		int number = trace().markers().all().size();
		ask("Bookmark of this window" + (row < 0 ? "" : " and row"), "Bookmark " + (number + 1),
				name -> new Marker(name, MARKER_COLORS[number % MARKER_COLORS.length], s.fromNs(), s.toNs(),
						row < 0 ? Marker.NO_PRODUCER : rows.producer(row), true));
	}

	private void ask(String title, String proposal, java.util.function.Function<String, Marker> make) {
		OpenTrace of = trace();
		InputDialog dialog = new InputDialog(getSite().getShell(), title, "Name", proposal,
				text -> text.isBlank() ? "A marker needs a name" : null);
		if (dialog.open() == Window.OK && trace() == of) {
			of.markers().add(of, make.apply(dialog.getValue()));
			canvas.setMarked(null);
			setMarkersVisible(true);
		}
	}

	/** Unfolds what is above a producer and selects one of its records; for other views. */
	public void showRecord(OpenTrace of, int producer, long fromNs, long toNs) {
		if (trace() == null || !trace().isSameTrace(of)) {
			return; // locked, or of another group
		}
		revealSpan = new GanttCanvas.Span(GanttSource.ALL, producer, fromNs, toNs);
		revealRow(producer);
	}

	private void revealRow(int producer) {
		if (grouping != Grouping.PRODUCER) {
			grouping = Grouping.PRODUCER;
			fold = GanttFold.initial(trace().producers());
			update();
		}
		revealGroup = GanttSource.ALL;
		revealProducer = producer;
		fold = fold.reveal(trace().producers(), GanttSource.ALL, producer);
		rowsOf = null;
		arrange();
	}

	/** Goes to a marker: its row, and its time with something around it. */
	private void jump(Marker m) {
		if (trace() == null || rows == null) {
			return;
		}
		TraceSelection selection = trace().selection();
		ViewState s = selection.state();
		if (m.hasTime()) {
			long length = m.bookmark() ? m.toNs() - m.fromNs() : m.isInstant() ? s.durationNs() : (m.toNs() - m.fromNs()) * 3 / 2;
			boolean outside = m.fromNs() < s.fromNs() || m.toNs() > s.toNs();
			if (m.bookmark() || outside || !m.isInstant()) {
				long middle = m.fromNs() + (m.toNs() - m.fromNs()) / 2;
				selection.window(middle - length / 2, middle - length / 2 + length);
			}
		}
		if (m.producer() != Marker.NO_PRODUCER && m.producer() < trace().producers().size()) {
			int shown = selection.state().producer();
			if (shown >= 0 && (m.producer() < shown || m.producer() >= trace().producers().subtreeEnd(shown))) {
				selection.zoom(selection.state().fromNs(), selection.state().toNs(), selection.initial().producer());
			}
			revealRow(m.producer());
		}
		canvas.setFocus();
	}

	// ---- actions

	private void key(Event e) {
		boolean control = (e.stateMask & SWT.MOD1) != 0;
		boolean shift = (e.stateMask & SWT.SHIFT) != 0;
		if (e.character == '*' || e.character == '/') { // by the sign: most keyboards have it above another one
			unfoldBelow(e.character == '*');
			return;
		}
		switch (e.keyCode) {
		case 'f' -> {
			if (control) {
				bar.search().setFocus();
				bar.search().selectAll();
			}
		}
		case SWT.F3 -> find(bar.search().getText(), !shift);
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
				hideRow(shift);
			}
		}
		case 'l' -> {
			if (!control) {
				setStyle(style.withLinks(!style.links()));
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

	private void hideRow(boolean subtree) {
		int row = canvas.selectedRow();
		if (row >= 0 && rows != null && row < rows.count()) {
			int producer = rows.producer(row);
			setFold(subtree ? fold.hideSubtree(producer) : fold.hide(producer));
		}
	}

	private void unfoldBelow(boolean open) {
		int row = canvas.selectedRow();
		if (row >= 0 && rows != null && row < rows.count()) {
			setFold(fold.withSubtree(trace().producers(), rows.group(row), rows.producer(row), open));
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

	private void zoomToProducer() {
		int row = canvas.selectedRow();
		if (row >= 0 && rows != null) {
			ViewState s = trace().selection().state();
			trace().selection().zoom(s.fromNs(), s.toNs(), rows.producer(row));
		}
	}

	/** The window becomes the time of the selected record, and the table of events selects it. */
	void showInEvents() {
		GanttCanvas.Span span = canvas.selected();
		if (span != null) {
			trace().selection().window(span.fromNs(), Math.max(span.fromNs() + 1, span.toNs()));
		}
		try {
			if (getSite().getPage().showView(ViewIds.EVENTS) instanceof EventsView events && span != null
					&& grouping == Grouping.PRODUCER) {
				events.showRecord(trace(), span.producer(), span.fromNs(), span.toNs());
			}
		} catch (PartInitException e) {
			bar.info(e.getMessage(), true);
		}
	}

	private void changeColour(GanttType type) {
		ColorDialog dialog = new ColorDialog(getSite().getShell());
		int argb = ScenePainter.palette(canvas).color(type.model());
		dialog.setRGB(new RGB(argb >> 16 & 0xff, argb >> 8 & 0xff, argb & 0xff));
		dialog.setText("Colour of " + type.displayName());
		RGB rgb = dialog.open();
		if (rgb != null) {
			session().colours().choose(Colours.Kind.of(type.model()), type.name(), rgb.red << 16 | rgb.green << 8 | rgb.blue);
		}
	}

	private static Action action(String text, Runnable what) {
		return new Action(text) {
			@Override
			public void run() {
				what.run();
			}
		};
	}

	private static Action check(String text, boolean checked, Runnable what) {
		Action action = new Action(text, IAction.AS_CHECK_BOX) {
			@Override
			public void run() {
				what.run();
			}
		};
		action.setChecked(checked);
		return action;
	}

	private void makeActions() {
		IToolBarManager tools = getViewSite().getActionBars().getToolBarManager();
		Action previous = action("Previous record", () -> step(false));
		previous.setToolTipText("Previous record of the selected row (Left)");
		previous.setImageDescriptor(Icons.get("previous"));
		Action next = action("Next record", () -> step(true));
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
		look.addMenuListener(this::fillLook);
		getViewSite().getActionBars().getMenuManager().add(look);
	}

	private void fillLook(IMenuManager menu) {
		menu.add(check("Rows in order of name", order == Order.NAME, () -> {
			order = order == Order.NAME ? Order.ADDRESS : Order.NAME;
			arrange();
		}));
		menu.add(check("Rows without records", !hideEmpty, () -> {
			hideEmpty = !hideEmpty;
			arrange();
		}));
		menu.add(check("Links\tL", style.links(), () -> setStyle(style.withLinks(!style.links()))));
		menu.add(check("Values in bars", style.values(), () -> setStyle(style.withValues(!style.values()))));
		menu.add(check("Same scale for all rows", style.sameScale(), () -> setStyle(style.withSameScale(!style.sameScale()))));
		menu.add(new Separator());
		menu.add(action("Higher rows\tCtrl+Shift+Wheel", () -> changeRowHeight(1)));
		menu.add(action("Lower rows", () -> changeRowHeight(-1)));
	}

	private void makeMenu() {
		MenuManager menu = new MenuManager();
		menu.setRemoveAllWhenShown(true);
		menu.addMenuListener(this::fillMenu);
		canvas.setMenu(menu.createContextMenu(canvas));
	}

	private void fillMenu(IMenuManager menu) {
		if (rows == null || model == null) {
			return;
		}
		Point at = canvas.toControl(canvas.getDisplay().getCursorLocation());
		GanttPicture.Hit hit = canvas.picture() == null ? null : canvas.picture().hit(at.x, at.y);
		if (hit != null && hit.type() >= 0) {
			GanttType type = model.source().types().get(hit.type());
			String name = type.displayName().replace("&", "&&");
			menu.add(action((style.hiddenTypes().contains(type.name()) ? "Show " : "Hide ") + name, () -> hideType(type.name())));
			menu.add(action("Only " + name, () -> {
				Set<String> others = new TreeSet<>();
				model.source().types().forEach(t -> others.add(t.name()));
				others.remove(type.name());
				setStyle(style.withHiddenTypes(others));
			}));
			menu.add(action("Colour of " + name + "…", () -> changeColour(type)));
		}
		if (!style.hiddenTypes().isEmpty()) {
			menu.add(action("Show all types", () -> setStyle(style.withHiddenTypes(Set.of()))));
		}
		int row = canvas.selectedRow();
		if (row >= 0 && row < rows.count()) {
			String name = rows.name(row).replace("&", "&&");
			menu.add(new Separator());
			FilterActions.addProducer(menu, trace(), rows.producer(row));
			if (grouping == Grouping.THREAD && rows.group(row) < trace().threads().size()) {
				FilterActions.addThread(menu, trace(), rows.group(row));
			} else if (grouping == Grouping.CPU && rows.group(row) < model.source().groups(Grouping.CPU).size() - (trace().hasAccesses() ? 1 : 0)) {
				FilterActions.addCpu(menu, trace(), rows.group(row));
			}
			menu.add(action("Zoom to " + name, this::zoomToProducer));
			menu.add(action("Show in event table", this::showInEvents));
			menu.add(new Separator());
			menu.add(action("Hide row\tH", () -> hideRow(false)));
			menu.add(action("Hide row with all below\tShift+H", () -> hideRow(true)));
			if (rows.isFoldable(row)) {
				menu.add(action("Unfold all below\t*", () -> unfoldBelow(true)));
				menu.add(action("Fold all below\t/", () -> unfoldBelow(false)));
			}
		}
		if (fold.hidesSomething()) {
			menu.add(action("Show hidden rows", () -> setFold(fold.unhideAll())));
		}
		menu.add(new Separator());
		menu.add(action("Add marker…\tM", () -> addMarker(false)));
		if (row >= 0) {
			menu.add(action("Add marker of the row…\tShift+M", () -> addMarker(true)));
		}
		menu.add(action("Add bookmark…\tB", this::addBookmark));
		if (canvas.marked() != null) {
			menu.add(action("Zoom to chosen interval",
					() -> trace().selection().window(canvas.marked().fromNs(), canvas.marked().toNs())));
		}
		menu.add(new Separator());
		MenuManager look = new MenuManager("Look");
		fillLook(look);
		menu.add(look);
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
		Map<String, String> parameters = new LinkedHashMap<>();
		parameters.put("trace", title);
		parameters.put("from_ns", Long.toString(in.state().fromNs()));
		parameters.put("to_ns", Long.toString(in.state().toNs()));
		parameters.put("producer", in.state().producer() < 0 ? "all" : trace().producers().name(in.state().producer()));
		parameters.put("viewpoint", in.state().viewpoint().id());
		parameters.put("filters", String.join("; ", in.state().filters().filters().stream().map(f -> f.text(trace().threads(), trace().info().isInTicks())).toList()));
		parameters.put("rows", in.rows().request().grouping().name().toLowerCase(Locale.ROOT));
		parameters.put("first_row", Integer.toString(in.firstRow()));
		parameters.put("hidden_types", String.join(", ", in.style().hiddenTypes()));
		return new Snapshot("Gantt chart", (palette, width, height) -> {
			GanttOptions o = in.options();
			o.palette = palette;
			o.width = width;
			o.height = height;
			o.title = title;
			o.warning = warning;
			try {
				return GanttPicture.build(in.model(), in.rows(), o, Progress.NONE).scene();
			} catch (CancelledException e) {
				throw new IllegalStateException(e); // nobody can cancel
			}
		}, () -> GanttTable.csv(in.model(), shown.picture()), parameters);
	}

	@Override
	protected boolean isSettled() {
		if (trace() == null) {
			return true;
		}
		return !loading.isBusy() && !arranging.isBusy() && !drawing.isBusy() && !choosing.isBusy() && !stepping.isBusy()
				&& !searching.isBusy() && rows != null && canvas.shown() != null && canvas.shown().shows(wanted());
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

	GanttCanvas canvas() {
		return canvas;
	}

	GanttBar bar() {
		return bar;
	}

	GanttRows rows() {
		return rows;
	}

	MarkersPanel markers() {
		return markers;
	}
}
