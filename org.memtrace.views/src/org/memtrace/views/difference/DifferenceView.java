// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.difference;

import static org.memtrace.views.util.MenuActions.action;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.SashForm;
import org.eclipse.swt.layout.RowData;
import org.eclipse.swt.layout.RowLayout;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Text;
import org.eclipse.ui.IWorkbenchActionConstants;
import org.memtrace.analysis.cards.FindingPlace;
import org.memtrace.analysis.cards.FindingsPresenter;
import org.memtrace.analysis.diff.DiffMap.Choice;
import org.memtrace.analysis.diff.DiffMap.Quantity;
import org.memtrace.analysis.diff.DiffMap;
import org.memtrace.analysis.diff.DiffPicture;
import org.memtrace.analysis.diff.DiffTable;
import org.memtrace.analysis.diff.DiffText;
import org.memtrace.analysis.diff.PlaceTimes;
import org.memtrace.analysis.diff.RegionDiff;
import org.memtrace.analysis.diff.RegionUse;
import org.memtrace.analysis.diff.Run;
import org.memtrace.analysis.diff.StructureDiff;
import org.memtrace.analysis.diff.TraceDiff;
import org.memtrace.analysis.findings.Advisor;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.scene.TitledScene;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.grid.Grid;
import org.memtrace.views.grid.GridColumn;
import org.memtrace.views.grid.GridContent;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.Session;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Clip;
import org.memtrace.views.util.Icons;
import org.memtrace.views.util.SideBySide;
import org.memtrace.views.util.WhenSeen;
import org.memtrace.views.view.Snapshot;
import org.memtrace.views.view.TraceView;

/**
 * What differs between the trace of the group and the one that is linked with it, as {@code memtrace diff} says it: sentences, a table of
 * the structures, and a picture of where and when. Choosing a structure marks it in both traces.
 */
public final class DifferenceView extends TraceView {
	private static final List<DiffTable.Column> COLUMNS = DiffTable.COLUMNS;
	private static final List<Quantity> QUANTITIES = List.of(Quantity.values());
	private static final String ALONE = "This view is about two traces. File > Compare with… shows another one beside this one.";
	private static final int SENTENCES_HEIGHT = 50;

	/** The older one is before. */
	private record Pair(OpenTrace before, OpenTrace after) {
		boolean isOf(Pair other) {
			return other != null && before.isSameTrace(other.before) && after.isSameTrace(other.after);
		}
	}

	private record Wanted(DiffMap map, Choice choice) {
	}

	private Text sentences;
	/** What the table is about: the whole run, or a region of the program. */
	private Combo region;
	private Combo quantity;
	private Combo thread;
	private Combo align;
	private Button beginning;
	private SashForm sash;
	private Grid grid;
	private DifferenceCanvas canvas;
	private WhenSeen load;
	private LatestResult<Pair, DiffMap> comparing;
	private LatestResult<Wanted, DiffMap.Values> drawing;
	/** What is looked at, null none. */
	private Pair pair;
	/** Null until it is known. */
	private DiffMap map;
	private Choice choice;
	private DiffMap.Values values;
	private List<StructureDiff> rows = List.of();
	private DiffTable.Column order = COLUMNS.get(1);
	private boolean descending = true;
	private StructureDiff selected;

	private final Session.Listener follow = Session.Listener.ofGroups(this::look);

	private final class Content implements GridContent {
		@Override
		public int rowCount() {
			return rows.size();
		}

		@Override
		public String text(int column, int row) {
			return DiffTable.text(COLUMNS.get(column), rows.get(row));
		}

		@Override
		public int color(int row) {
			return ScenePainter.palette(grid.control()).structure(rows.get(row).name());
		}
	}

	@Override
	protected void createContents(Composite parent) {
		Composite area = new Composite(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(0, 2).applyTo(area);
		sentences = new Text(area, SWT.MULTI | SWT.WRAP | SWT.READ_ONLY | SWT.V_SCROLL);
		GridDataFactory.fillDefaults().grab(true, false).hint(200, SENTENCES_HEIGHT).indent(4, 2).applyTo(sentences);
		Accessibility.name(sentences, "What differs");
		Composite bar = new Composite(area, SWT.NONE);
		RowLayout wrapped = new RowLayout(SWT.HORIZONTAL);
		wrapped.center = true;
		bar.setLayout(wrapped);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(bar);
		region = new Combo(bar, SWT.READ_ONLY);
		region.setToolTipText("The table and the first sentence are about the whole run, or about what happened in a region of the program");
		Accessibility.name(region, "Part of the run in the table");
		region.addListener(SWT.Selection, e -> regionChosen());
		quantity = combo(bar, "What the colours of the picture are: after minus before");
		quantity.setItems("Accesses", "Reads", "Writes", "First touch by thread");
		thread = combo(bar, "The thread whose first touches are compared");
		align = combo(bar, "What is at the same place of both runs");
		align.setItems("Same share of the run", "Same time since start");
		beginning = new Button(bar, SWT.CHECK);
		beginning.setText("Only the beginning");
		beginning.setToolTipText("Until nearly all pages have been touched first");
		beginning.addListener(SWT.Selection, e -> chosen());
		sash = new SashForm(area, SWT.HORIZONTAL);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(sash);
		grid = new Grid(sash, "Structures of both traces", COLUMNS.stream().map(c -> new GridColumn(c.title(), c.tip(), width(c), c.isNumber(),
				true)).toList(), new Content(), false);
		canvas = new DifferenceCanvas(sash, s -> select(s, true));
		sash.setWeights(2, 3);
		SideBySide.when(sash, 2);
		grid.sortedBy(COLUMNS.indexOf(order), descending);
		grid.onSort(() -> sortBy(grid.sortColumn(), grid.isDescending()));
		grid.onSelect(row -> {
			if (row >= 0 && row < rows.size()) {
				select(rows.get(row), false);
			}
		});
		grid.onCopy(() -> Clip.copy(grid.control().getDisplay(), texts(grid.selectedRows(Integer.MAX_VALUE), rows)));
		comparing = comparing(area);
		drawing = drawing(area);
		load = new WhenSeen(area, this::load);
		makeActions();
		nothing(ALONE);
		session().addListener(follow);
	}

	private LatestResult<Wanted, DiffMap.Values> drawing(Composite area) {
		return new LatestResult<>("Draw the difference", area, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected DiffMap.Values compute(Wanted input, Progress progress) {
				return input.map().values(input.choice());
			}

			@Override
			protected void show(Wanted input, DiffMap.Values result) {
				if (input.map() == map) {
					values = result;
					canvas.show(map, result);
				}
			}
		};
	}

	private LatestResult<Pair, DiffMap> comparing(Composite area) {
		return new LatestResult<>("Compare two traces", area, LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.CAN_WAIT) {
			@Override
			protected DiffMap compute(Pair input, Progress progress) throws MemtraceException {
				return compare(input, progress);
			}

			@Override
			protected void show(Pair input, DiffMap result) {
				DifferenceView.this.show(input, result);
			}

			@Override
			protected void failed(Pair input, String message) {
				if (input.isOf(pair)) {
					say(message);
				}
			}

			@Override
			protected void progress(String step, double fraction) {
				if (map == null) {
					say(step + (fraction < 0 ? "…" : "… " + (int) (100 * fraction) + " %"));
				}
			}
		};
	}

	private Combo combo(Composite bar, String tip) {
		Combo c = new Combo(bar, SWT.READ_ONLY);
		c.setToolTipText(tip);
		Accessibility.name(c, tip);
		c.addListener(SWT.Selection, e -> chosen());
		return c;
	}

	private static int width(DiffTable.Column c) {
		return c == DiffTable.NAME ? 130 : c == DiffTable.MATCHED ? 150 : c.isDifference() ? 122 : 100;
	}

	/** Takes as long as reading all accesses of both, twice when nobody has asked for their findings. */
	private static DiffMap compare(Pair pair, Progress progress) throws MemtraceException {
		Run before = run(pair.before(), progress);
		Run after = run(pair.after(), progress);
		TraceDiff diff = new TraceDiff(List.of(before), List.of(after), Thresholds.STANDARD);
		return new DiffMap(diff, List.of(times(diff, before, pair.before(), progress)), List.of(times(diff, after, pair.after(), progress)));
	}

	private static Run run(OpenTrace trace, Progress progress) throws MemtraceException {
		Advisor advisor = trace.advisor(progress);
		try (OpenTrace.Lease lease = trace.lease()) {
			return new Run(trace.name(), advisor, RegionUse.of(advisor.facts(), lease.virtual(), lease.virtual().accessSource(progress), progress));
		}
	}

	private static PlaceTimes times(TraceDiff diff, Run run, OpenTrace trace, Progress progress) throws MemtraceException {
		try (OpenTrace.Lease lease = trace.lease()) {
			return PlaceTimes.of(diff, run, lease.virtual(), lease.virtual().accessSource(progress), progress);
		}
	}

	/** Asks for what is looked at now, if that is something else. */
	private void look() {
		if (sentences == null || sentences.isDisposed()) {
			return;
		}
		OpenTrace own = trace();
		OpenTrace other = linkedTrace();
		if (own == null || other == null) {
			nothing(own == null ? nothingShown("No trace is shown.") : ALONE);
			return;
		}
		if (!own.hasAccesses() || !other.hasAccesses()) {
			nothing("One of both traces has no memory accesses: a difference is about the memory of a program.");
			return;
		}
		boolean first = FindingsPresenter.isFirst(own, other);
		Pair now = new Pair(first ? own : other, first ? other : own);
		if (now.isOf(pair)) {
			pair = now; // perhaps other selections
			return;
		}
		nothing("Comparing " + now.before().name() + " and " + now.after().name() + "…");
		pair = now;
		load.request();
	}

	private void load() {
		if (pair != null && map == null) {
			comparing.submit(pair);
		}
	}

	private void nothing(String message) {
		comparing.cancel();
		drawing.cancel();
		pair = null;
		map = null;
		values = null;
		choice = null;
		selected = null;
		canvas.select(null);
		canvas.show(null, null);
		showRows();
		enable();
		say(message);
	}

	private void say(String message) {
		sentences.setText(message);
	}

	private void enable() {
		for (Combo c : List.of(quantity, align)) {
			c.setEnabled(map != null);
		}
		beginning.setEnabled(map != null);
		boolean touch = choice != null && choice.quantity() == Quantity.FIRST_TOUCH;
		thread.setEnabled(touch);
		thread.setVisible(touch);
		RowData data = new RowData();
		data.exclude = !touch;
		thread.setLayoutData(data);
		boolean named = map != null && !map.diff().regions().isEmpty();
		region.setVisible(named);
		RowData ofRegion = new RowData();
		ofRegion.exclude = !named;
		region.setLayoutData(ofRegion);
		thread.getParent().getParent().layout(true, true);
	}

	private void show(Pair input, DiffMap result) {
		if (!input.isOf(pair)) {
			return;
		}
		map = result;
		TraceDiff d = map.diff();
		region.removeAll();
		region.add("Whole run");
		d.regions().forEach(r -> region.add("In " + r.name()));
		region.select(0);
		tell();
		thread.setItems(d.roles().toArray(String[]::new));
		choose(map.usual());
		showRows();
		markChanged(trace().selection().mark());
	}

	/** The region that is chosen, null: the whole run. */
	private RegionDiff region() {
		int chosen = region.getSelectionIndex();
		return map == null || chosen < 1 ? null : map.diff().regions().get(chosen - 1);
	}

	private void regionChosen() {
		if (map != null) {
			tell();
			showRows();
		}
	}

	/** Says what differs. */
	private void tell() {
		TraceDiff d = map.diff();
		List<String> all = new ArrayList<>(DiffText.sentences(d));
		d.warnings().forEach(w -> all.add("Attention: " + w + "."));
		if (region() != null) {
			all.add(0, DiffText.sentence(region()));
		}
		say(d.before().get(0).label() + " (A), then " + d.after().get(0).label() + " (B). " + String.join("\n", all));
	}

	/** Takes what the widgets say. */
	private void chosen() {
		if (map == null) {
			return;
		}
		Quantity q = QUANTITIES.get(quantity.getSelectionIndex());
		// first touch is at the beginning, accesses are everywhere
		boolean early = q == choice.quantity() ? beginning.getSelection() : q == Quantity.FIRST_TOUCH;
		choose(new Choice(q, Math.max(0, thread.getSelectionIndex()), align.getSelectionIndex() == 1, early));
	}

	/** Draws something else. */
	void choose(Choice now) {
		choice = now;
		quantity.select(QUANTITIES.indexOf(now.quantity()));
		thread.select(now.role());
		align.select(now.sinceStart() ? 1 : 0);
		beginning.setSelection(now.beginning());
		enable();
		drawing.submit(new Wanted(map, now));
	}

	/** Sorts the table. */
	void sortBy(int column, boolean down) {
		order = COLUMNS.get(column);
		descending = down;
		showRows();
	}

	private void showRows() {
		rows = map == null ? List.of() : DiffTable.sorted(region() == null ? map.diff().structures() : region().structures(), order, descending);
		grid.sortedBy(COLUMNS.indexOf(order), descending);
		grid.refresh();
		grid.select(selected == null ? -1 : row(selected), false);
	}

	/** Where a structure stands in the table, -1: nowhere. In a region it is another row with the same name. */
	private int row(StructureDiff s) {
		for (int i = 0; i < rows.size(); i++) {
			if (rows.get(i).name().equals(s.name()) && rows.get(i).origin().equals(s.origin())) {
				return i;
			}
		}
		return -1;
	}

	/** Marks a structure in both traces. */
	private void select(StructureDiff s, boolean reveal) {
		selected = s;
		canvas.select(s.name());
		grid.select(row(s), reveal);
		session().mark(pair.before(), producers(pair.before(), s.before()), pair.after(), producers(pair.after(), s.after()));
	}

	/** Nothing on the side on which it is not. */
	private static int[] producers(OpenTrace trace, StructureDiff.Use use) {
		return use == null ? new int[0] : FindingPlace.subtrees(trace.producers(), new HashSet<>(use.structures()));
	}

	@Override
	protected void markChanged(int producer) {
		OpenTrace own = trace();
		if (map == null || own == null || producer < 0) {
			return;
		}
		int member = own.memberOf(producer);
		int id = member < 0 ? -1 : own.producers().structure(member);
		boolean before = own.isSameTrace(pair.before());
		for (StructureDiff s : rows) {
			StructureDiff.Use use = before ? s.before() : s.after();
			if (id >= 0 && use != null && use.structures().contains(id) && s != selected) {
				selected = s;
				canvas.select(s.name());
				grid.select(row(s), true);
			}
		}
	}

	private static String texts(List<Integer> of, List<StructureDiff> all) {
		return of.isEmpty() ? "" : COLUMNS.stream().map(DiffTable.Column::title).collect(Collectors.joining("\t", "", "\n"))
				+ of.stream().map(all::get).map(s -> COLUMNS.stream().map(c -> DiffTable.text(c, s)).collect(Collectors.joining("\t", "", "\n")))
						.collect(Collectors.joining());
	}

	private void makeActions() {
		Action csv = action("Copy as CSV", () -> {
			if (map != null) {
				Clip.copy(grid.control().getDisplay(), DiffTable.csv(rows));
			}
		});
		csv.setImageDescriptor(Icons.get("copy"));
		csv.setToolTipText("Copy all rows as CSV, with exact numbers");
		getViewSite().getActionBars().getToolBarManager().appendToGroup(IWorkbenchActionConstants.MB_ADDITIONS, csv);
		MenuManager menu = new MenuManager();
		menu.add(csv);
		grid.menu(menu);
	}

	@Override
	protected void traceShown(OpenTrace now) {
		look();
	}

	@Override
	protected void openingChanged() {
		if (trace() == null) {
			nothing(nothingShown("No trace is shown."));
		}
	}

	@Override
	protected void coloursChanged() {
		canvas.sceneChanged();
		grid.control().redraw();
	}

	@Override
	protected Snapshot snapshot() {
		if (map == null || values == null) {
			return null;
		}
		DiffMap drawn = map;
		DiffMap.Values numbers = values;
		List<StructureDiff> table = rows;
		String name = selected == null ? null : selected.name();
		String title = pair.after().name() + " against " + pair.before().name();
		Map<String, String> parameters = new TreeMap<>();
		parameters.put("before", pair.before().name());
		parameters.put("after", pair.after().name());
		parameters.put("region", region() == null ? "whole run" : region().name());
		parameters.put("quantity", choice.quantity().id());
		parameters.put("thread", drawn.thread(choice.role()));
		parameters.put("align", choice.sinceStart() ? "start" : "share");
		parameters.put("window", choice.beginning() ? "beginning" : "whole");
		return new Snapshot(pair.after().name() + " difference",
				(palette, width, height) -> TitledScene.build(title, "", Math.max(width, 480), Math.max(height, 200), palette, TextMeter.DEFAULT,
						12, (w, h) -> DiffPicture.build(drawn, numbers, name, w, h, palette, TextMeter.DEFAULT, 12).scene()),
				() -> DiffTable.csv(table), parameters);
	}

	@Override
	protected boolean isSettled() {
		return !load.isWaiting() && !comparing.isBusy() && !drawing.isBusy();
	}

	/** What stands at the top: what differs, or why nothing is shown. */
	public String sentences() {
		return sentences.getText();
	}

	/** What the picture is coloured by; null while there is none. */
	public Quantity quantity() {
		return choice == null ? null : choice.quantity();
	}

	/** For tests: what is drawn, null while nothing is. */
	DiffMap.Values values() {
		return values;
	}

	/** For tests. */
	Grid grid() {
		return grid;
	}

	/** For tests. */
	List<StructureDiff> rows() {
		return rows;
	}

	/** For tests. */
	DifferenceCanvas canvas() {
		return canvas;
	}

	/** For tests. */
	Combo regions() {
		return region;
	}

	/** For tests. */
	Combo quantities() {
		return quantity;
	}

	@Override
	public void setFocus() {
		grid.control().setFocus();
	}

	@Override
	public void dispose() {
		if (session() != null) {
			session().removeListener(follow);
		}
		if (comparing != null) {
			comparing.cancel();
			drawing.cancel();
		}
		super.dispose();
	}
}
