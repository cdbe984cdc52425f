// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.profile;

import static org.memtrace.views.util.MenuActions.action;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.action.Separator;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.SashForm;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Text;
import org.eclipse.ui.IMemento;
import org.eclipse.ui.IViewSite;
import org.eclipse.ui.IWorkbenchActionConstants;
import org.eclipse.ui.PartInitException;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.analysis.profile.FlamePicture.Look;
import org.memtrace.analysis.profile.FlamePicture;
import org.memtrace.analysis.profile.Profile.By;
import org.memtrace.analysis.profile.Profile.Order;
import org.memtrace.analysis.profile.Profile.Request;
import org.memtrace.analysis.profile.Profile;
import org.memtrace.analysis.profile.ProfileColumn;
import org.memtrace.analysis.profile.ProfileTable.Line;
import org.memtrace.analysis.profile.ProfileTable.Place;
import org.memtrace.analysis.profile.ProfileTable;
import org.memtrace.analysis.profile.ProfileText;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.scene.TitledScene;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.text.NamePattern;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.filters.FilterActions;
import org.memtrace.views.grid.Grid;
import org.memtrace.views.grid.GridColumn;
import org.memtrace.views.grid.GridContent;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Clip;
import org.memtrace.views.util.Icons;
import org.memtrace.views.util.SideBySide;
import org.memtrace.views.util.WhenSeen;
import org.memtrace.views.view.Snapshot;
import org.memtrace.views.view.TraceView;

/** In which regions the producers of a trace of events spend their time: a table, flat or by calling context, and a flame graph. */
public final class ProfileView extends TraceView {
	private static final String KEY_BY = "by";
	private static final String KEY_CONTEXTS = "contexts";
	private static final List<ProfileColumn> COLUMNS = List.of(ProfileColumn.values());
	private static final List<By> BYS = List.of(By.ALL, By.PROCESS, By.THREAD);
	private static final String NO_STATES = "This trace has no states, such as functions that begin and end, so there is nothing to profile.";

	private record Input(OpenTrace trace, ViewState state, By by, boolean contexts) {
	}

	/**
	 * What was computed.
	 *
	 * @param contexts for the flame graph
	 * @param table what the table shows: the same, or flat
	 */
	private record Computed(Profile contexts, Profile table) {
	}

	private Combo bys;
	private Button contextsButton;
	private Text search;
	private Label summary;
	private FlameCanvas flame;
	private Grid grid;
	private WhenSeen load;
	private LatestResult<Input, Computed> computing;
	private By by = By.ALL;
	private boolean contexts = true;
	private Input shownFor;
	private Computed shown;
	private String failure;
	private List<ModelType> types = List.of();
	/** Null as long as nothing is shown. */
	private ProfileTable table;
	private ProfileColumn order = ProfileColumn.EXCLUSIVE;
	private boolean descending = true;
	private final Set<Place> folded = new HashSet<>();
	private Place selected;

	private final class Content implements GridContent {
		@Override
		public int rowCount() {
			return table == null ? 0 : table.lines().size();
		}

		@Override
		public String text(int column, int row) {
			Line line = table.lines().get(row);
			String text = table.text(COLUMNS.get(column), line);
			return column == 0 && line.parts() ? (line.folded() ? "▸ " : "▾ ") + text : text;
		}

		@Override
		public int color(int row) {
			Line line = table.lines().get(row);
			return line.row() == null ? 0 : ScenePainter.palette(grid.control()).color(types.get(line.row().type()));
		}

		@Override
		public int indent(int row) {
			return 14 * table.lines().get(row).depth();
		}
	}

	@Override
	public void init(IViewSite site, IMemento memento) throws PartInitException {
		super.init(site, memento);
		if (memento != null) {
			BYS.stream().filter(b -> b.id().equals(memento.getString(KEY_BY))).forEach(b -> by = b);
			contexts = !Boolean.FALSE.equals(memento.getBoolean(KEY_CONTEXTS));
		}
	}

	@Override
	public void saveState(IMemento memento) {
		super.saveState(memento);
		memento.putString(KEY_BY, by.id());
		memento.putBoolean(KEY_CONTEXTS, contexts);
	}

	@Override
	protected void createContents(Composite parent) {
		Composite area = new Composite(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(0, 2).applyTo(area);
		Composite bar = new Composite(area, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(4).margins(4, 2).applyTo(bar);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(bar);
		bys = new Combo(bar, SWT.READ_ONLY);
		bys.setItems("All together", "Each process", "Each thread");
		bys.setToolTipText("What has rows of its own: all producers together, those below one parent, or each one");
		Accessibility.name(bys, "What has rows of its own");
		bys.addListener(SWT.Selection, e -> choose(BYS.get(bys.getSelectionIndex()), contexts));
		contextsButton = new Button(bar, SWT.CHECK);
		contextsButton.setText("Calling contexts");
		contextsButton.setToolTipText("A row for each region in each context that it is called from, not one for each region");
		contextsButton.addListener(SWT.Selection, e -> choose(by, contextsButton.getSelection()));
		search = new Text(bar, SWT.SEARCH | SWT.ICON_SEARCH | SWT.ICON_CANCEL);
		search.setMessage("Search names");
		search.setToolTipText("A text or a regular expression");
		GridDataFactory.fillDefaults().hint(220, SWT.DEFAULT).align(SWT.FILL, SWT.CENTER).applyTo(search);
		search.addModifyListener(e -> searched());
		summary = new Label(bar, SWT.RIGHT);
		GridDataFactory.fillDefaults().grab(true, false).align(SWT.FILL, SWT.CENTER).applyTo(summary);
		SashForm sash = new SashForm(area, SWT.HORIZONTAL);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(sash);
		flame = new FlameCanvas(sash);
		grid = new Grid(sash, "Profile", COLUMNS.stream().map(c -> new GridColumn(c.title(), c.tip(), width(c), c.isNumber(), true)).toList(),
				new Content(), false);
		sash.setWeights(1, 2);
		SideBySide.when(sash, 2);
		showChoice();
		grid.sortedBy(COLUMNS.indexOf(order), descending);
		grid.onSort(() -> {
			order = COLUMNS.get(grid.sortColumn());
			descending = grid.isDescending();
			showLines();
		});
		grid.onSelect(row -> select(row < 0 ? null : table.lines().get(row).place()));
		grid.onOpen(row -> open(table.lines().get(row)));
		grid.onCopy(() -> Clip.copy(grid.control().getDisplay(), texts(grid.selectedRows(Integer.MAX_VALUE))));
		flame.onSelect(place -> {
			select(place);
			showSelected(true);
		});
		computing = computing(area);
		load = new WhenSeen(area, this::load);
		makeActions();
	}

	private LatestResult<Input, Computed> computing(Composite area) {
		return new LatestResult<>("Profile", area, LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.CAN_WAIT) {
			@Override
			protected Computed compute(Input in, Progress progress) throws MemtraceException {
				return ProfileView.compute(in, progress);
			}

			@Override
			protected void show(Input in, Computed result) {
				ProfileView.this.show(in, result);
			}

			@Override
			protected void failed(Input in, String message) {
				nothing(message);
				shownFor = in;
			}
		};
	}

	private static int width(ProfileColumn c) {
		return switch (c) {
		case REGION -> 190;
		case SHARE, COUNT, SCI -> 74;
		case EXCLUSIVE, INCLUSIVE, MEDIAN -> 92;
		default -> 80;
		};
	}

	private static Computed compute(Input in, Progress progress) throws MemtraceException {
		ViewState s = in.state();
		EventTable events = in.trace().events(s.filters(), progress);
		// by name: bars stay where they are when the window moves
		Profile contexts = Profile.of(events, new Request(in.by(), true, Order.REGION, s.fromNs(), s.toNs(), s.producer(),
				Profile.USUAL_REFERENCE), progress);
		return new Computed(contexts, in.contexts() ? contexts : Profile.of(events, new Request(in.by(), false, Order.EXCLUSIVE, s.fromNs(),
				s.toNs(), s.producer(), Profile.USUAL_REFERENCE), progress));
	}

	private void show(Input in, Computed result) {
		shownFor = in;
		shown = result;
		failure = null;
		types = ModelType.ofEvents(result.contexts().regions());
		flame.show(result.contexts());
		if (flame.look().root() != null && !flame.look().root().isIn(result.contexts())) {
			flame.zoom(null);
		}
		showLines();
		light();
		if (result.contexts().groups().isEmpty()) {
			summary.setText(in.state().filters().isActive() ? "No states pass the filters here." : "No states are here.");
		}
	}

	/** Shows nothing, and says why. */
	private void nothing(String message) {
		failure = message;
		shown = null;
		shownFor = null;
		flame.show(null);
		showLines();
		summary.setText(message);
	}

	/** Takes another division. */
	void choose(By groups, boolean byContext) {
		if (groups != by) {
			folded.clear();
			flame.forget();
			selected = null;
		}
		by = groups;
		contexts = byContext;
		showChoice();
		load.request();
	}

	private void showChoice() {
		bys.select(BYS.indexOf(by));
		contextsButton.setSelection(contexts);
	}

	private void searched() {
		showLines();
		light();
	}

	/** What is searched keeps its colour; without a search, in a flat table, the region that is selected. */
	private void light() {
		Pattern pattern = NamePattern.of(search.getText());
		boolean flat = shownFor != null && !shownFor.contexts();
		if (pattern != null) {
			flame.light(name -> pattern.matcher(name).find());
		} else if (flat && selected != null && !selected.path().isEmpty()) {
			String region = selected.path().getLast();
			flame.light(region::equals);
		} else {
			flame.light(null);
		}
	}

	private void showLines() {
		table = shown == null ? null : ProfileTable.of(shown.table(), new ProfileTable.Look(order, descending,
				NamePattern.of(search.getText()), folded));
		grid.sortedBy(COLUMNS.indexOf(order), descending);
		grid.refresh();
		showSelected(false);
		summary.setText(shown == null ? "" : Units.plural(shown.contexts().producers(), "producer") + " with states, "
				+ Units.plural(table.lines().stream().filter(l -> l.row() != null).count(), "row"));
	}

	private void showSelected(boolean reveal) {
		Place place = selected;
		if (place != null && shownFor != null && !shownFor.contexts() && place.path().size() > 1) {
			place = new Place(place.producer(), List.of(place.path().getLast()));
		}
		grid.select(table == null || place == null ? -1 : table.indexOf(place), reveal);
	}

	private void select(Place place) {
		selected = place;
		flame.select(place);
		light();
		if (place != null && place.producer() >= 0 && trace() != null) {
			trace().selection().mark(place.producer());
		}
	}

	/** Folds or unfolds what has parts; shows what is in anything else. */
	private void open(Line line) {
		Place place = line.place();
		if (line.parts()) {
			if (!folded.remove(place)) {
				folded.add(place);
			}
			showLines();
		} else if (place != null) {
			flame.zoom(place);
		}
	}

	/** Tab-separated texts of rows, as a spreadsheet takes them. */
	private String texts(List<Integer> rows) {
		return rows.isEmpty() ? "" : COLUMNS.stream().map(ProfileColumn::title).collect(Collectors.joining("\t", "", "\n"))
				+ rows.stream().map(r -> COLUMNS.stream().map(c -> table.text(c, table.lines().get(r))).collect(Collectors.joining("\t", "", "\n")))
						.collect(Collectors.joining());
	}

	private void makeActions() {
		Action csv = action("Copy as CSV", () -> {
			if (shown != null) {
				Clip.copy(grid.control().getDisplay(), ProfileText.csv(shown.table()));
			}
		});
		csv.setImageDescriptor(Icons.get("copy"));
		csv.setToolTipText("Copy all rows as CSV, with exact numbers");
		Action stacks = action("Copy as folded stacks", () -> {
			if (shown != null) {
				Clip.copy(grid.control().getDisplay(), ProfileText.folded(shown.contexts()));
			}
		});
		getViewSite().getActionBars().getToolBarManager().appendToGroup(IWorkbenchActionConstants.MB_ADDITIONS, csv);
		for (MenuManager menu : Arrays.asList(new MenuManager(), new MenuManager())) {
			menu.setRemoveAllWhenShown(true);
			menu.addMenuListener(m -> fill((MenuManager) m, csv, stacks));
			if (grid.control().getMenu() == null) {
				grid.menu(menu);
			} else {
				flame.setMenu(menu.createContextMenu(flame));
			}
		}
	}

	private void fill(MenuManager m, Action csv, Action stacks) {
		if (selected != null && shown != null) {
			Place place = selected;
			if (place.isIn(shown.contexts())) {
				m.add(action("Zoom the flame graph to it", () -> flame.zoom(place)));
			}
			if (!place.path().isEmpty()) {
				FilterActions.addType(m, trace(), place.path().getLast());
			} else if (place.producer() >= 0) {
				FilterActions.addProducer(m, trace(), place.producer());
			}
			m.add(new Separator());
		}
		if (flame.look().root() != null) {
			m.add(action("Zoom the flame graph out", () -> flame.zoom(null)));
		}
		if (table != null && !table.foldable().isEmpty()) {
			m.add(action("Fold all", () -> {
				folded.addAll(table.foldable());
				showLines();
			}));
		}
		if (!folded.isEmpty()) {
			m.add(action("Unfold all", () -> {
				folded.clear();
				showLines();
			}));
		}
		m.add(new Separator());
		m.add(csv);
		m.add(stacks);
	}

	@Override
	protected void traceShown(OpenTrace now) {
		computing.cancel();
		folded.clear();
		selected = null;
		flame.forget();
		if (now == null) {
			nothing(nothingShown("No trace is open."));
		} else if (now.hasAccesses()) {
			nothing(NO_STATES);
		} else {
			nothing("Reading the states…");
			failure = null;
			load.request();
		}
	}

	@Override
	protected void openingChanged() {
		if (trace() == null) {
			nothing(nothingShown("No trace is open."));
		}
	}

	@Override
	protected void stateChanged(ViewState old, ViewState now) {
		if (!now.sameAccesses(old)) {
			load.request();
		}
	}

	private void load() {
		if (trace() != null && !trace().hasAccesses()) {
			computing.submit(new Input(trace(), trace().selection().state(), by, contexts));
		}
	}

	@Override
	protected void coloursChanged() {
		flame.coloursChanged();
		grid.control().redraw();
	}

	@Override
	protected Snapshot snapshot() {
		if (shown == null || trace() == null) {
			return null;
		}
		Profile drawn = shown.contexts();
		Profile numbers = shown.table();
		ViewState s = shownFor.state();
		Look look = new Look(flame.look().root(), null, flame.look().lit());
		String title = trace().name() + ", time in states by calling context";
		String warning = trace().lossWarning();
		Map<String, String> parameters = new TreeMap<>();
		parameters.put("trace", trace().name());
		parameters.put("by", by.id());
		parameters.put("contexts", Boolean.toString(shownFor.contexts()));
		parameters.put("from_ns", Long.toString(s.fromNs()));
		parameters.put("to_ns", Long.toString(s.toNs()));
		parameters.put("producer", s.producer() < 0 ? "all" : trace().producers().name(s.producer()));
		parameters.put("filters", s.filters().toJson());
		return new Snapshot(trace().name() + " profile",
				(palette, width, height) -> TitledScene.build(title, warning, Math.max(width, 480), Math.max(height, 200), palette,
						TextMeter.DEFAULT, 12, (w, h) -> FlamePicture.build(drawn, look, w, h, palette, TextMeter.DEFAULT, 12).scene()),
				() -> ProfileText.csv(numbers), parameters);
	}

	@Override
	protected boolean isSettled() {
		return !load.isWaiting() && !computing.isBusy() && flame.isSettled() && (trace() == null || trace().hasAccesses() || failure != null
				|| shownFor != null && shownFor.by() == by && shownFor.contexts() == contexts
						&& shownFor.state().sameAccesses(trace().selection().state()));
	}

	/** For tests. */
	ProfileTable table() {
		return table;
	}

	/** For tests. */
	Grid grid() {
		return grid;
	}

	/** For tests. */
	FlameCanvas flame() {
		return flame;
	}

	/** For tests. */
	Text search() {
		return search;
	}

	/** For tests. */
	Label summary() {
		return summary;
	}

	@Override
	public void setFocus() {
		grid.control().setFocus();
	}

	@Override
	public void dispose() {
		if (computing != null) {
			computing.cancel();
			flame.stop();
		}
		super.dispose();
	}
}
