// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.statistics;

import static org.memtrace.views.util.MenuActions.action;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.action.Separator;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.window.Window;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.SashForm;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Text;
import org.eclipse.ui.IWorkbenchActionConstants;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension.Picking;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.scene.TitledScene;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.statistics.PieModel.Kind;
import org.memtrace.analysis.statistics.PieModel.Slice;
import org.memtrace.analysis.statistics.PieModel;
import org.memtrace.analysis.statistics.PiePicture;
import org.memtrace.analysis.statistics.PieRules;
import org.memtrace.analysis.statistics.Statistics.Item;
import org.memtrace.analysis.statistics.Statistics.Sum;
import org.memtrace.analysis.statistics.Statistics;
import org.memtrace.analysis.text.NamePattern;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CountUnit;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.filters.FilterActions;
import org.memtrace.views.grid.Grid;
import org.memtrace.views.grid.GridColumn;
import org.memtrace.views.grid.GridContent;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.session.NoteJob;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Clip;
import org.memtrace.views.util.Icons;
import org.memtrace.views.util.WhenSeen;
import org.memtrace.views.view.Snapshot;
import org.memtrace.views.view.TraceView;

/**
 * Sums over what is shown, divided by structure, thread, CPU, node, type or sharing, as a pie and a table. Items can be merged,
 * left out and brought back; that is kept with the trace.
 */
public final class StatisticsView extends TraceView {
	private static final int NAME = 0;
	private static final int VALUE = 1;
	/** Entries of a menu. */
	private static final int MOST_LISTED = 30;

	private Combo sums;
	private Combo keys;
	private Text filter;
	private Label summary;
	private PieCanvas pie;
	private Grid grid;
	private WhenSeen load;
	private LatestResult<Input, Loaded> loading;
	private List<Sum> sumChoices = List.of();
	/** What the choices are named after. */
	private CountUnit unit = CountUnit.RECORDS;
	private List<Dimension> keyChoices = List.of();
	private Sum sum = Sum.ACCESSES;
	private Dimension by = Statistics.structures();
	private boolean ofEvents;
	/** Of the trace; null until they have been read. */
	private PieRules rules;
	private List<Item> items;
	private ViewState itemsState;
	private PieModel model;
	private List<Line> lines = List.of();
	private final Set<String> open = new HashSet<>();
	private Set<String> selected = Set.of();
	private int sortColumn = VALUE;
	private boolean descending = true;

	/** A row of the table: a slice, or a part of one that is open. */
	private record Line(Slice slice, int depth) {
	}

	private record Input(OpenTrace trace, ViewState state, Sum sum, Dimension by, boolean readRules) {
	}

	/** @param sums what the trace has to sum; null when it is known */
	private record Loaded(List<Item> items, PieRules rules, List<Sum> sums, Sum sum, Dimension by) {
	}

	private final class Content implements GridContent {
		@Override
		public int rowCount() {
			return lines.size();
		}

		@Override
		public String text(int column, int row) {
			Slice s = lines.get(row).slice;
			return switch (column) {
			case NAME -> (s.kind() == Kind.ITEM ? "" : open.contains(s.key()) ? "▾ " : "▸ ") + s.name();
			case VALUE -> model.text(s.value());
			default -> Units.percent(s.percent());
			};
		}

		@Override
		public int color(int row) {
			return model.color(lines.get(row).slice, ScenePainter.palette(grid.control()));
		}

		@Override
		public int indent(int row) {
			return 16 * lines.get(row).depth;
		}
	}

	@Override
	protected void createContents(Composite parent) {
		Composite area = new Composite(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(0, 2).applyTo(area);
		Composite bar = new Composite(area, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(5).margins(4, 2).applyTo(bar);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(bar);
		sums = new Combo(bar, SWT.READ_ONLY);
		sums.setToolTipText("What is summed");
		Accessibility.name(sums, "What is summed");
		sums.addListener(SWT.Selection, e -> choose(sumChoices.get(sums.getSelectionIndex()), by));
		new Label(bar, SWT.NONE).setText("by");
		keys = new Combo(bar, SWT.READ_ONLY);
		keys.setToolTipText("By what it is divided");
		Accessibility.name(keys, "By what it is divided");
		keys.addListener(SWT.Selection, e -> choose(sum, keyChoices.get(keys.getSelectionIndex())));
		filter = new Text(bar, SWT.SEARCH | SWT.ICON_SEARCH | SWT.ICON_CANCEL);
		filter.setMessage("Filter by name");
		filter.setToolTipText("A text or a regular expression");
		GridDataFactory.fillDefaults().hint(220, SWT.DEFAULT).align(SWT.FILL, SWT.CENTER).applyTo(filter);
		filter.addModifyListener(e -> showLines());
		summary = new Label(bar, SWT.RIGHT);
		GridDataFactory.fillDefaults().grab(true, false).align(SWT.FILL, SWT.CENTER).applyTo(summary);
		SashForm sash = new SashForm(area, SWT.HORIZONTAL);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(sash);
		pie = new PieCanvas(sash);
		grid = new Grid(sash, "Statistics", List.of(new GridColumn("Name", "Part of the whole", 300, false, true),
				new GridColumn("Value", "Sum over what is shown", 120, true, true),
				new GridColumn("%", "Share of all that is not left out", 80, true, true)), new Content(), false);
		sash.setWeights(2, 3);
		choices(Statistics.sumsOfAccesses(), Statistics.keysOfAccesses());
		grid.sortedBy(sortColumn, descending);
		makeGestures();
		pie.onSelect((slice, add) -> {
			Set<String> now = new LinkedHashSet<>(add ? selected : Set.of());
			if (slice != null && !now.remove(slice.key())) {
				now.add(slice.key());
			}
			select(now);
			if (slice != null) {
				int row = rowOf(slice.key());
				if (row >= 0) {
					grid.select(row, true);
				}
				mark(slice);
			} else if (!add) {
				grid.select(-1, false);
			}
		});
		pie.onOpen(this::open);
		loading = loading(area);
		load = new WhenSeen(pie, this::load);
		makeActions();
	}

	private void makeGestures() {
		grid.onSort(() -> {
			sortColumn = grid.sortColumn();
			descending = grid.isDescending();
			showLines();
		});
		grid.onSelect(row -> selectFromGrid());
		grid.onOpen(row -> open(lines.get(row).slice));
		grid.onCopy(() -> Clip.copy(grid.control().getDisplay(), csvOf(grid.selectedRows(Integer.MAX_VALUE))));
	}

	private LatestResult<Input, Loaded> loading(Composite area) {
		return new LatestResult<>("Statistics", area, LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.CAN_WAIT) {
			@Override
			protected Loaded compute(Input in, Progress progress) throws MemtraceException {
				return load(in, progress);
			}

			@Override
			protected void show(Input in, Loaded result) {
				if (result.rules() != null) {
					rules = result.rules();
				}
				if (result.sums() != null) {
					choices(result.sums(), Statistics.keysOfEvents());
				}
				sum = result.sum();
				by = result.by();
				showChoice();
				items = result.items();
				itemsState = in.state();
				divide();
			}

			@Override
			protected void failed(Input in, String message) {
				summary.setText(message);
			}
		};
	}

	private static Loaded load(Input in, Progress progress) throws MemtraceException {
		PieRules kept = null;
		if (in.readRules()) {
			NoteJob.await(); // of the same trace, opened before or in another view
			try (OpenTrace.Lease lease = in.trace().lease()) {
				kept = lease.store().readNote(PieRules.NOTE).map(b -> PieRules.parse(new String(b, StandardCharsets.UTF_8))).orElse(PieRules.NONE);
			}
		}
		ViewState s = in.state();
		if (in.trace().hasAccesses()) {
			return new Loaded(Statistics.of(in.trace().accesses(s.filters(), progress), in.sum(), in.by(), s.fromNs(), s.toNs(),
					s.producer(), progress), kept, null, in.sum(), in.by());
		}
		var events = in.trace().events(s.filters(), progress);
		List<Sum> possible = Statistics.sumsOfEvents(events);
		Sum sum = possible.contains(in.sum()) ? in.sum() : possible.get(Math.min(1, possible.size() - 1));
		Dimension by = Statistics.keysOfEvents().contains(in.by()) ? in.by() : BasicDimensions.EVENT_TYPE;
		return new Loaded(Statistics.of(events, sum, by, s.fromNs(), s.toNs(), s.producer(), progress), kept,
				in.readRules() ? possible : null, sum, by);
	}

	private void choices(List<Sum> whats, List<Dimension> bys) {
		sumChoices = whats;
		keyChoices = bys;
		sums.setItems(whats.stream().map(s -> s.label(unit)).toArray(String[]::new));
		keys.setItems(bys.stream().map(Dimension::label).toArray(String[]::new));
		showChoice();
		sums.getParent().layout();
	}

	private void showChoice() {
		sums.select(Math.max(0, sumChoices.indexOf(sum)));
		keys.select(Math.max(0, keyChoices.indexOf(by)));
	}

	/** Takes another sum or division. */
	public void choose(Sum what, Dimension division) {
		sum = what;
		by = division;
		showChoice();
		open.clear();
		selected = Set.of();
		load.request();
	}

	@Override
	protected void traceShown(OpenTrace now) {
		loading.cancel();
		rules = null;
		items = null;
		model = null;
		open.clear();
		selected = Set.of();
		boolean events = now != null && !now.hasAccesses();
		CountUnit before = unit;
		unit = now == null ? before : now.info().counts();
		if (events != ofEvents || now == null) {
			ofEvents = events;
			sum = events ? Sum.STATE_TIME : Sum.ACCESSES;
			by = events ? BasicDimensions.EVENT_TYPE : Statistics.structures();
			choices(events ? List.of(Sum.EVENTS) : Statistics.sumsOfAccesses(),
					events ? Statistics.keysOfEvents() : Statistics.keysOfAccesses());
		} else if (unit != before) {
			choices(sumChoices, keyChoices);
		}
		showLines();
		load.request();
	}

	@Override
	protected void stateChanged(ViewState old, ViewState now) {
		if (!now.sameAccesses(old)) {
			load.request();
		}
	}

	@Override
	protected void markChanged(int producer) {
		if (model == null || producer < 0) {
			return;
		}
		for (int i = 0; i < lines.size(); i++) {
			Slice s = lines.get(i).slice;
			if (s.kind() == Kind.ITEM && s.item().producer() == producer && !selected.contains(s.key())) {
				select(Set.of(s.key()));
				grid.select(i, true);
				return;
			}
		}
	}

	@Override
	protected void coloursChanged() {
		pie.sceneChanged();
		grid.control().redraw();
	}

	private void load() {
		if (trace() != null) {
			loading.submit(new Input(trace(), trace().selection().state(), sum, by, rules == null));
		}
	}

	/** Applies the rules. */
	private void divide() {
		model = items == null ? null : PieModel.of(sum, by, items, rules).of(trace().info());
		showLines();
	}

	/** Fills pie and table. */
	private void showLines() {
		List<Line> now = new ArrayList<>();
		if (model != null) {
			Pattern pattern = NamePattern.of(filter.getText());
			add(now, model.slices(), 0, pattern);
		}
		lines = now;
		grid.sortedBy(sortColumn, descending);
		grid.refresh();
		pie.show(model, selected);
		summary.setText(model == null ? "" : describe());
	}

	private void add(List<Line> to, List<Slice> slices, int depth, Pattern pattern) {
		List<Slice> sorted = new ArrayList<>(slices);
		Comparator<Slice> order = sortColumn == NAME ? Comparator.comparing(Slice::name, String.CASE_INSENSITIVE_ORDER)
				: Comparator.comparingDouble(Slice::value);
		order = descending ? order.reversed() : order;
		// what is folded stays at the end
		sorted.sort(Comparator.<Slice>comparingInt(s -> s.kind() == Kind.SMALL ? 1 : 0).thenComparing(order));
		for (Slice s : sorted) {
			boolean here = pattern == null || s.kind() != Kind.SMALL && pattern.matcher(s.name()).find();
			boolean opened = open.contains(s.key()) || pattern != null && !here;
			if (here) {
				to.add(new Line(s, depth));
			}
			if (opened && s.kind() != Kind.ITEM) {
				add(to, s.parts(), here ? depth + 1 : depth, pattern);
			}
		}
	}

	private String describe() {
		String text = model.excludedCount() == 0 ? "" : Units.plural(model.excludedCount(), "item") + " left out ("
				+ model.text(model.excluded()) + ")";
		boolean part = itemsState.fromNs() > trace().info().startNs() || itemsState.toNs() < trace().info().endNs();
		return text + (part ? (text.isEmpty() ? "" : ", ") + Units.duration(trace().info(),
				itemsState.fromNs() - trace().info().startNs()) + " + "
				+ Units.duration(trace().info(), itemsState.durationNs()) : "");
	}

	private int rowOf(String key) {
		for (int i = 0; i < lines.size(); i++) {
			if (lines.get(i).slice.key().equals(key)) {
				return i;
			}
		}
		return -1;
	}

	private void select(Set<String> now) {
		selected = now;
		pie.show(model, selected);
	}

	private void selectFromGrid() {
		Set<String> now = new LinkedHashSet<>();
		for (int row : grid.selectedRows(10_000)) {
			now.add(lines.get(row).slice.key());
		}
		select(now);
		int row = grid.selectedRow();
		if (row >= 0) {
			mark(lines.get(row).slice);
		}
	}

	/** Marks what the slice stands for in all views, if that is a piece of memory. */
	private void mark(Slice s) {
		if (trace() != null && s.kind() == Kind.ITEM && s.item().producer() >= 0) {
			trace().selection().mark(trace().hasAccesses() ? trace().memberOf(s.item().producer()) : s.item().producer());
		}
	}

	/** Shows the parts of a slice, or what it stands for alone. */
	private void open(Slice s) {
		if (s.kind() != Kind.ITEM) {
			if (!open.remove(s.key())) {
				open.add(s.key());
			}
			showLines();
			grid.select(rowOf(s.key()), true);
		} else if (s.item().producer() >= 0) {
			ViewState now = trace().selection().state();
			trace().selection().zoom(now.fromNs(), now.toNs(), s.item().producer());
		} else {
			Condition condition = condition(List.of(s.item()));
			if (condition != null) {
				trace().selection().addFilter(TraceFilter.only(condition));
			}
		}
	}

	private List<Slice> selectedSlices() {
		List<Slice> found = new ArrayList<>();
		for (Line l : lines) {
			if (selected.contains(l.slice.key())) {
				found.add(l.slice);
			}
		}
		return found;
	}

	/** What all of some items have and nothing else has; null when filters know no such thing. */
	private Condition condition(List<Item> of) {
		if (of.isEmpty() || !trace().hasAccesses() && of.stream().anyMatch(i -> i.index() < 0)) {
			return null;
		}
		if (of.stream().allMatch(i -> i.producer() >= 0)) {
			return Condition.Subtree.of(trace().producers(), of.stream().mapToInt(Item::producer).toArray());
		}
		if (by == BasicDimensions.EVENT_TYPE) {
			return Condition.Value.of(BasicDimensions.TYPE.id(), of.stream().map(i -> i.type().name()).toList());
		}
		if (!by.can(Dimension.Use.FILTER)) {
			return null;
		}
		if (by.type() != Dimension.Type.TEXT) {
			return Condition.Value.numbers(by.id(), of.stream().map(i -> i.index() < 0 ? -1 : Long.parseLong(i.named())).toList());
		}
		return by.picking() == Picking.LISTED_NUMBERS || by.picking() == Picking.NUMBERS
				? Condition.Value.numbers(by.id(), of.stream().map(Item::index).toList())
				: Condition.Value.of(by.id(), of.stream().map(Item::named).toList());
	}

	private void makeActions() {
		Action csv = action("Copy as CSV", () -> {
			if (model != null) {
				Clip.copy(grid.control().getDisplay(), model.toCsv());
			}
		});
		csv.setImageDescriptor(Icons.get("copy"));
		csv.setToolTipText("Copy all items as CSV, with exact numbers");
		getViewSite().getActionBars().getToolBarManager().appendToGroup(IWorkbenchActionConstants.MB_ADDITIONS, csv);
		for (MenuManager menu : new MenuManager[] { new MenuManager(), new MenuManager() }) {
			menu.setRemoveAllWhenShown(true);
			menu.addMenuListener(m -> fill((MenuManager) m, csv));
			if (grid.control().getMenu() == null) {
				grid.menu(menu);
			} else {
				pie.setMenu(menu.createContextMenu(pie));
			}
		}
	}

	private void fill(MenuManager m, Action csv) {
		List<Slice> chosen = selectedSlices();
		if (!chosen.isEmpty()) {
			String them = chosen.size() == 1 ? "\"" + chosen.get(0).name().replace("&", "&&") + "\"" : chosen.size() + " items";
			Condition condition = condition(chosen.stream().flatMap(s -> s.items().stream()).toList());
			if (condition != null) {
				FilterActions.add(m, trace(), them, condition);
				m.add(new Separator());
			}
			m.add(action("Leave out " + them, () -> change(rules.exclude(chosen.stream().flatMap(s -> s.items().stream())
					.map(Item::key).toList()))));
			m.add(action("Merge " + them + "…", () -> merge(chosen)));
			List<String> merged = chosen.stream().filter(s -> s.kind() == Kind.MERGED).map(Slice::name).toList();
			if (!merged.isEmpty()) {
				m.add(action("Unmerge", () -> change(rules.unmerge(merged))));
			}
		}
		if (rules != null && !rules.excluded().isEmpty()) {
			MenuManager back = new MenuManager("Bring back");
			items.stream().filter(i -> rules.excluded().contains(i.key())).limit(MOST_LISTED)
					.forEach(i -> back.add(action(i.name().replace("&", "&&"), () -> change(rules.restore(List.of(i.key()))))));
			if (!back.isEmpty()) {
				m.add(back);
			}
			m.add(action("Bring back all that was left out", () -> change(rules.restore())));
		}
		if (rules != null && !rules.groups().isEmpty()) {
			m.add(action("Unmerge all", () -> change(rules.unmerge(rules.groups().stream().map(PieRules.Group::name).toList()))));
		}
		m.add(new Separator());
		m.add(csv);
	}

	private void merge(List<Slice> chosen) {
		MergeDialog dialog = new MergeDialog(getSite().getShell(), chosen.get(0).name(),
				model.color(chosen.get(0), ScenePainter.palette(pie)), chosen.size());
		if (dialog.open() == Window.OK) {
			change(rules.merge(dialog.name(), dialog.color(), chosen.stream().flatMap(s -> s.items().stream()).map(Item::key)
					.toList()));
		}
	}

	/** Takes other rules and keeps them with the trace. */
	public void change(PieRules now) {
		rules = now;
		selected = Set.of();
		divide();
		byte[] text = now.equals(PieRules.NONE) ? null : now.toText().getBytes(StandardCharsets.UTF_8);
		NoteJob.keep("Save statistics", trace(), store -> store.writeNote(PieRules.NOTE, text), sentence -> {
			if (!summary.isDisposed()) {
				summary.setText("Not kept with the trace: " + sentence);
			}
		});
	}

	private String csvOf(List<Integer> rows) {
		StringBuilder b = new StringBuilder("name\t" + sum.label(unit).toLowerCase(Locale.ROOT) + "\tpercent\n");
		for (int row : rows) {
			Slice s = lines.get(row).slice;
			b.append(s.name()).append('\t').append(org.memtrace.analysis.text.Csv.number(s.value())).append('\t')
					.append(String.format(Locale.ROOT, "%.2f", s.percent())).append('\n');
		}
		return rows.isEmpty() ? "" : b.toString();
	}

	@Override
	protected Snapshot snapshot() {
		PieModel now = model;
		ViewState s = itemsState;
		if (now == null) {
			return null;
		}
		String title = trace().name() + " " + sum.label(unit).toLowerCase(Locale.ROOT) + " by " + by.label();
		String warning = trace().lossWarning();
		return new Snapshot(title,
						(Palette palette, int width, int height) -> TitledScene.build(title, warning, Math.max(width, 480), Math.max(height, 260),
								palette, TextMeter.DEFAULT, 12,
								(w, h) -> PiePicture.build(now, Set.of(), true, w, h, palette, TextMeter.DEFAULT, 12).scene()),
						now::toCsv,
						Map.of("trace", trace().name(), "sum", sum.label(unit), "by", by.label(), "from_ns", Long.toString(s.fromNs()), "to_ns",
								Long.toString(s.toNs()), "producer", s.producer() < 0 ? "all" : trace().producers().name(s.producer()),
								"filters", s.filters().toJson(), "rules", rules.toText()));
	}

	@Override
	protected boolean isSettled() {
		return !load.isWaiting() && !loading.isBusy() && (trace() == null || model != null);
	}

	/** For tests. */
	public PieModel model() {
		return model;
	}

	/** For tests. */
	public PieRules rules() {
		return rules;
	}

	Grid grid() {
		return grid;
	}

	PieCanvas pie() {
		return pie;
	}

	Set<String> selected() {
		return selected;
	}

	@Override
	public void setFocus() {
		grid.control().setFocus();
	}

	@Override
	public void dispose() {
		if (loading != null) {
			loading.cancel();
		}
		super.dispose();
	}
}
