// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.sql;

import static org.memtrace.views.util.MenuActions.action;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.IMenuManager;
import org.eclipse.jface.action.IToolBarManager;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.action.Separator;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.SashForm;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.layout.FillLayout;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.FileDialog;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Menu;
import org.eclipse.swt.widgets.MenuItem;
import org.eclipse.ui.IWorkbenchActionConstants;
import org.memtrace.analysis.answer.AnswerChart;
import org.memtrace.analysis.answer.AnswerColumn;
import org.memtrace.analysis.answer.AnswerPlace;
import org.memtrace.analysis.answer.AnswerTable;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.CataloguePlace;
import org.memtrace.sql.SqlCompletion;
import org.memtrace.sql.SqlExample;
import org.memtrace.sql.SqlView;
import org.memtrace.views.editor.CodeEditor;
import org.memtrace.views.filters.FilterActions;
import org.memtrace.views.grid.Grid;
import org.memtrace.views.grid.GridColumn;
import org.memtrace.views.grid.GridContent;
import org.memtrace.views.jobs.FileJob;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.jobs.OnDisplay;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Appearance;
import org.memtrace.views.util.Buttons;
import org.memtrace.views.util.Clip;
import org.memtrace.views.util.Icons;
import org.memtrace.views.view.SceneSource;
import org.memtrace.views.view.Snapshot;
import org.memtrace.views.view.TraceView;

/**
 * Questions in SQL about the trace that is shown: a statement, its answer as a table and a chart. Selecting a row marks what it is about
 * in all views. Nothing is loaded or computed before the first question.
 */
public final class SqlPage extends TraceView {
	/** Where the statement stands beside the answer and not above it. */
	private static final double WIDE = 1.6;
	private static final int MOST_SELECTED = 1000;
	private static final int MOST_IN_MENU = 30;
	private static final int MENU_WIDTH = 90;
	/** Height of the font of tables, on a desktop with the usual one. */
	private static final double FONT_PIXELS = 14;
	private static final int LEAST_COLUMN = 60;
	private static final int MOST_COLUMN = 320;
	private static final int ROWS_FOR_WIDTH = 200;
	private static final String READY = "Ctrl+Enter runs the statement, Ctrl+Space proposes.";

	private SashForm parts;
	private CodeEditor editor;
	private Button run;
	private Button stop;
	private Label status;
	private Composite gridArea;
	private Grid grid;
	private Composite chartArea;
	private Combo value;
	private Combo by;
	private ChartCanvas canvas;
	private Action copy;
	private Action export;
	private List<SqlExample> examples;
	/** What is shown, with its question; null nothing. */
	private Question question;
	private Question.Answer answer;
	private int[] order = {};
	private LatestResult<Question, Question.Answer> asking;
	/** Whether somebody waits for an answer; false as soon as it is stopped. */
	private boolean waiting;

	private final class Content implements GridContent {
		@Override
		public int rowCount() {
			return order.length;
		}

		@Override
		public String text(int column, int row) {
			return table().text(column, order[row]);
		}
	}

	@Override
	protected void createContents(Composite parent) {
		parts = new SashForm(parent, SWT.HORIZONTAL);
		Composite left = new Composite(parts, SWT.NONE);
		GridLayoutFactory.fillDefaults().margins(4, 4).spacing(4, 4).applyTo(left);
		List<SqlView> tables = Question.documented();
		editor = new CodeEditor(left, "SQL statement", "select … — Ctrl+Space proposes, Ctrl+Enter runs",
				(sql, caret) -> SqlCompletion.at(sql, caret, tables), this::run);
		GridDataFactory.fillDefaults().grab(true, true).hint(200, 60).applyTo(editor.control());
		Composite bar = new Composite(left, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(4).spacing(4, 0).applyTo(bar);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(bar);
		run = Buttons.push(bar, "&Run", "Run the statement (Ctrl+Enter)", this::run);
		stop = Buttons.push(bar, "Stop", "Stop the statement", this::stop);
		stop.setEnabled(false);
		Button queries = Buttons.push(bar, "Queries ▾", "Choose one of the useful queries of the help", () -> {
		});
		queries.addListener(SWT.Selection, e -> popUp(queries, this::fillQueries));
		Button history = Buttons.push(bar, "History ▾", "Choose a statement that you ran before", () -> {
		});
		history.addListener(SWT.Selection, e -> popUp(history, this::fillHistory));
		status = new Label(left, SWT.WRAP);
		GridDataFactory.fillDefaults().grab(true, false).hint(200, SWT.DEFAULT).applyTo(status);
		gridArea = new Composite(parts, SWT.NONE);
		gridArea.setLayout(new FillLayout());
		makeChart();
		parts.setWeights(33, 37, 30);
		gridArea.setVisible(false);
		chartArea.setVisible(false);
		parts.addListener(SWT.Resize, e -> arrange());
		makeActions();
		asking = asking();
	}

	private LatestResult<Question, Question.Answer> asking() {
		return new LatestResult<>("SQL", parts, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected Question.Answer compute(Question input, Progress progress) throws MemtraceException {
				return input.ask(progress);
			}

			@Override
			protected void show(Question input, Question.Answer result) {
				if (result.error() == null) {
					KeptStatements.add(input.sql());
				}
				SqlPage.this.show(input, result);
			}

			@Override
			protected void failed(Question input, String message) {
				SqlPage.this.show(input, new Question.Answer(null, "", message));
			}

			@Override
			protected void progress(String step, double fraction) {
				if (!waiting) {
					return;
				}
				say(step + (fraction < 0 ? "…" : String.format(Locale.ROOT, ": %.0f %%", 100 * fraction)));
			}

			@Override
			protected void busy(boolean busy) {
				stop.setEnabled(busy);
				run.setEnabled(!busy && trace() != null);
			}
		};
	}

	private void makeChart() {
		chartArea = new Composite(parts, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(4).margins(4, 4).spacing(4, 2).applyTo(chartArea);
		new Label(chartArea, SWT.NONE).setText("Chart of");
		value = choice("Numbers of the chart");
		new Label(chartArea, SWT.NONE).setText("by");
		by = choice("Labels of the chart");
		canvas = new ChartCanvas(chartArea);
		GridDataFactory.fillDefaults().grab(true, true).span(4, 1).hint(120, 60).applyTo(canvas);
	}

	private Combo choice(String name) {
		Combo combo = new Combo(chartArea, SWT.READ_ONLY | SWT.DROP_DOWN);
		Accessibility.name(combo, name);
		GridDataFactory.fillDefaults().grab(true, false).hint(60, SWT.DEFAULT).applyTo(combo);
		combo.addListener(SWT.Selection, e -> {
			if (table() != null && value.getSelectionIndex() >= 0 && by.getSelectionIndex() >= 0) {
				canvas.show(new AnswerChart(table(), by.getSelectionIndex(), AnswerChart.values(table()).get(value.getSelectionIndex())));
			}
		});
		return combo;
	}

	private void makeActions() {
		copy = new Action("Copy as CSV", Icons.get("copy")) {
			@Override
			public void run() {
				copy(order);
			}
		};
		copy.setToolTipText("Copy all rows that are shown as CSV, with exact numbers");
		export = new Action("Export…", Icons.get("table-export")) {
			@Override
			public void run() {
				askForFile();
			}
		};
		export.setToolTipText("Write all rows of the answer to a file: CSV, JSON or text");
		IToolBarManager tools = getViewSite().getActionBars().getToolBarManager();
		tools.appendToGroup(IWorkbenchActionConstants.MB_ADDITIONS, copy);
		tools.appendToGroup(IWorkbenchActionConstants.MB_ADDITIONS, export);
		copy.setEnabled(false);
		export.setEnabled(false);
	}

	/** Beside each other where the view is wide, else one below the other. */
	private void arrange() {
		Point size = parts.getSize();
		int wanted = size.x > WIDE * size.y ? SWT.HORIZONTAL : SWT.VERTICAL;
		if (parts.getOrientation() != wanted) {
			parts.setOrientation(wanted);
		}
	}

	private static void popUp(Button button, Consumer<Menu> fill) {
		Menu menu = new Menu(button);
		fill.accept(menu);
		Rectangle b = button.getBounds();
		menu.setLocation(button.getParent().toDisplay(b.x, b.y + b.height));
		menu.addListener(SWT.Hide, e -> OnDisplay.later(menu, menu::dispose)); // the entry is told after that
		menu.setVisible(true);
	}

	/** The queries of docs/reference/sql-queries.md, which is a page of the help. */
	List<SqlExample> examples() {
		if (examples == null) {
			try (InputStream in = SqlPage.class.getResourceAsStream("/help/reference/sql-queries.md")) {
				examples = in == null ? List.of() : SqlExample.of(new String(in.readAllBytes(), StandardCharsets.UTF_8));
			} catch (IOException e) {
				ILog.of(SqlPage.class).warn("The queries of the help cannot be read: " + e.getMessage(), e);
				examples = List.of();
			}
		}
		return examples;
	}

	private void fillQueries(Menu menu) {
		Menu group = null;
		String heading = null;
		for (SqlExample e : examples()) {
			if (!e.group().equals(heading)) {
				heading = e.group();
				MenuItem item = new MenuItem(menu, SWT.CASCADE);
				item.setText(heading);
				group = new Menu(item);
				item.setMenu(group);
			}
			entry(group, e.title(), e.sql());
		}
		if (examples().isEmpty()) {
			new MenuItem(menu, SWT.NONE).setText("The page about SQL is missing in the installation");
			menu.getItem(0).setEnabled(false);
		}
	}

	private void fillHistory(Menu menu) {
		KeptStatements.get().statements().stream().limit(MOST_IN_MENU).forEach(s -> entry(menu, s.replaceAll("\\s+", " "), s));
		if (menu.getItemCount() == 0) {
			new MenuItem(menu, SWT.NONE).setText("Nothing was asked yet");
			menu.getItem(0).setEnabled(false);
		}
	}

	private void entry(Menu menu, String text, String sql) {
		MenuItem item = new MenuItem(menu, SWT.NONE);
		item.setText((text.length() > MENU_WIDTH ? text.substring(0, MENU_WIDTH - 1) + "…" : text).replace("&", "&&"));
		item.setToolTipText(sql);
		item.addListener(SWT.Selection, e -> {
			editor.text(sql);
			editor.control().setFocus();
		});
	}

	@Override
	protected void traceShown(OpenTrace now) {
		waiting = false;
		asking.cancel();
		clear();
		run.setEnabled(now != null && !asking.isBusy());
		say(now == null ? nothingShown("Open a trace to ask it questions.") : READY);
	}

	@Override
	protected void openingChanged() {
		say(nothingShown("Open a trace to ask it questions."));
	}

	@Override
	protected void coloursChanged() {
		canvas.sceneChanged();
	}

	void say(String text) {
		status.setText(text.replace("&", "&&"));
		status.setToolTipText(text.replace("&", "&&"));
		status.requestLayout();
	}

	/** Runs what stands in the editor. */
	void run() {
		if (trace() == null) {
			return;
		}
		if (editor.text().isBlank()) {
			say("Write a statement, or choose one of the queries.");
			return;
		}
		say("Asking…");
		waiting = true;
		asking.submit(new Question(trace(), database(trace()), editor.text().strip()));
	}

	/** Ends the statement that is running. */
	void stop() {
		waiting = false;
		asking.cancel();
		say("Stopped.");
	}

	/** A file, or an address; null for a trace in memory. */
	private String database(OpenTrace of) {
		if (of.file() != null) {
			return of.file().path().toString();
		}
		try {
			CataloguePlace place = session().catalogue().place();
			return place == null ? null : place.trace(of.info().databaseName());
		} catch (MemtraceException e) {
			return null; // the catalogue cannot be read any more, which its list says
		}
	}

	private void clear() {
		question = null;
		answer = null;
		order = new int[0];
		canvas.show(null);
		if (grid != null) {
			grid.control().dispose();
			grid = null;
		}
		gridArea.setVisible(false);
		chartArea.setVisible(false);
		copy.setEnabled(false);
		export.setEnabled(false);
		parts.layout(true, true);
	}

	private void show(Question asked, Question.Answer given) {
		if (given.error() != null) {
			say(given.error()); // the answer before stays: the statement is being mended
			return;
		}
		clear();
		question = asked;
		answer = given;
		if (table() == null) {
			say("Done: the statement has no answer.");
			return;
		}
		order = IntStream.range(0, table().rows().size()).toArray();
		makeGrid();
		AnswerChart chart = AnswerChart.of(table());
		if (chart != null) {
			value.setItems(AnswerChart.values(table()).stream().map(c -> table().columns().get(c).name()).toArray(String[]::new));
			value.select(AnswerChart.values(table()).indexOf(chart.value()));
			by.setItems(table().columns().stream().map(AnswerColumn::name).toArray(String[]::new));
			by.select(chart.by());
			canvas.show(chart);
		}
		gridArea.setVisible(true);
		chartArea.setVisible(chart != null);
		copy.setEnabled(!table().rows().isEmpty());
		export.setEnabled(true);
		say(table().isCut()
				? String.format(Locale.ROOT, "The first %s are shown, sorted and drawn; the answer has more. Export writes all of them.",
						Units.plural(table().rows().size(), "row"))
				: Units.plural(table().rows().size(), "row"));
		parts.layout(true, true);
	}

	private AnswerTable table() {
		return answer == null ? null : answer.table();
	}

	private void makeGrid() {
		List<GridColumn> columns = new ArrayList<>();
		double size = FONT_PIXELS * Appearance.textScale(parts.getDisplay());
		for (int c = 0; c < table().columns().size(); c++) {
			AnswerColumn column = table().columns().get(c);
			double width = TextMeter.DEFAULT.width(column.name(), size, true) + 24; // the arrow of the order
			for (int row = 0; row < Math.min(ROWS_FOR_WIDTH, order.length); row++) {
				width = Math.max(width, TextMeter.DEFAULT.width(table().text(c, row), size, false) + 16);
			}
			columns.add(new GridColumn(column.name(), column.name() + ", " + column.type() + (column.isAddress() ? ", hexadecimal" : ""),
					(int) Math.min(MOST_COLUMN, Math.max(LEAST_COLUMN, width)), column.isNumber(), true));
		}
		grid = new Grid(gridArea, "Answer", columns, new Content(), false);
		grid.onSort(() -> {
			order = table().order(grid.sortColumn(), grid.isDescending());
			grid.refresh();
		});
		grid.onSelect(this::mark);
		grid.onOpen(this::zoom);
		grid.onCopy(() -> copy(selected()));
		MenuManager menu = new MenuManager();
		menu.setRemoveAllWhenShown(true);
		menu.addMenuListener(this::fillMenu);
		grid.menu(menu);
	}

	private int[] selected() {
		return grid.selectedRows(Integer.MAX_VALUE).stream().mapToInt(r -> order[r]).toArray();
	}

	/** Producers of a row that is shown. */
	private int[] producers(int row) {
		return row < 0 || row >= order.length || trace() == null ? new int[0]
				: AnswerPlace.producers(table(), order[row], trace().producers(), trace().structures());
	}

	private void mark(int row) {
		int[] producers = producers(row);
		if (producers.length > 0) {
			trace().selection().markAll(producers);
		}
	}

	private void zoom(int row) {
		int[] producers = producers(row);
		if (producers.length > 0) {
			ViewState s = trace().selection().state();
			trace().selection().zoom(s.fromNs(), s.toNs(), trace().selection().commonProducer(producers[0], producers[producers.length - 1]));
		}
	}

	private void fillMenu(IMenuManager menu) {
		int row = grid.selectedRow();
		if (row >= 0 && trace() != null) {
			int[] producers = grid.selectedRows(MOST_SELECTED).stream().flatMapToInt(r -> IntStream.of(producers(r))).sorted().distinct().toArray();
			int thread = AnswerPlace.thread(table(), order[row], trace().threads());
			if (producers.length > 0) {
				menu.add(action("Zoom to this memory\tEnter", () -> zoom(row)));
				menu.add(new Separator());
				FilterActions.add(menu, trace(), producers.length == 1 ? "this memory" : "these " + producers.length + " parts of the memory",
						Condition.Subtree.of(trace().producers(), producers));
			}
			if (thread >= 0) {
				FilterActions.addThread(menu, trace(), thread);
			}
			menu.add(new Separator());
			menu.add(action("Copy rows\tCtrl+C", () -> copy(selected())));
		}
		menu.add(copy);
		menu.add(export);
	}

	private void copy(int[] rows) {
		if (table() != null && rows.length > 0) {
			Clip.copy(parts.getDisplay(), table().toCsv(rows));
		}
	}

	private void askForFile() {
		FileDialog dialog = new FileDialog(getSite().getShell(), SWT.SAVE);
		dialog.setText("Export the answer");
		dialog.setFilterNames(new String[] {"CSV", "JSON", "Text"});
		dialog.setFilterExtensions(new String[] {"*.csv", "*.json", "*.txt"});
		dialog.setFileName(trace().name().replaceAll("[^\\w.-]+", "_") + ".csv");
		dialog.setOverwrite(true);
		String chosen = dialog.open();
		if (chosen != null && table() != null) {
			export(Path.of(chosen));
		}
	}

	/** Writes all rows in the background; the ending of the name says how. Display thread. */
	Job export(Path file) {
		Question asked = question;
		Question.Answer shown = answer;
		String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
		String format = name.endsWith(".json") ? "json" : name.endsWith(".txt") ? "text" : "csv";
		long[] rows = new long[1];
		FileJob.Work write = (temporary, progress) -> rows[0] = asked.export(shown, temporary, format, progress);
		return FileJob.start("Export to " + file, file, write, error -> {
			if (parts.isDisposed()) {
				return;
			}
			if (error == null) {
				say(Units.plural(rows[0], "row") + " written to " + file);
			} else {
				MessageDialog.openError(getSite().getShell(), "Export", error);
			}
		});
	}

	@Override
	protected Snapshot snapshot() {
		AnswerTable shown = table();
		if (shown == null) {
			return null;
		}
		int[] rows = order;
		AnswerChart chart = canvas.chart();
		SceneSource picture = chart == null ? null : (palette, width, height) -> chart.scene(width, height, palette, TextMeter.DEFAULT, 12);
		return new Snapshot(trace().name() + " SQL", picture, () -> shown.toCsv(rows),
				Map.of("trace", trace().name(), "sql", question.sql(), "rows", shown.rows().size() + (shown.isCut() ? ", cut off" : "")));
	}

	@Override
	protected boolean isSettled() {
		return !asking.isBusy();
	}

	/** For tests. */
	CodeEditor editor() {
		return editor;
	}

	/** For tests. */
	Grid grid() {
		return grid;
	}

	/** Text of a cell that is shown; for tests. */
	String text(int column, int row) {
		return table().text(column, order[row]);
	}

	/** Number of rows that are shown; for tests. */
	int rowCount() {
		return order.length;
	}

	/** What is drawn, null nothing; for tests. */
	AnswerChart chart() {
		return canvas.chart();
	}

	/** What the view says; for tests. */
	String status() {
		return status.getText().replace("&&", "&");
	}

	@Override
	public void setFocus() {
		editor.control().setFocus();
	}

	@Override
	public void dispose() {
		if (asking != null) {
			asking.cancel();
		}
		super.dispose();
	}
}
