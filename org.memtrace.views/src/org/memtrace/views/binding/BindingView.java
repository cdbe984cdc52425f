// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.binding;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.SashForm;
import org.eclipse.swt.layout.RowLayout;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Text;
import org.eclipse.ui.IMemento;
import org.eclipse.ui.IViewSite;
import org.eclipse.ui.PartInitException;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.binding.BindingPaste;
import org.memtrace.analysis.binding.BindingPicture;
import org.memtrace.analysis.binding.BindingTable;
import org.memtrace.analysis.binding.BindingText;
import org.memtrace.analysis.binding.CpuDistances;
import org.memtrace.analysis.binding.SharingGraph.Cells;
import org.memtrace.analysis.binding.SharingGraph.Sharing;
import org.memtrace.analysis.binding.SharingGraph;
import org.memtrace.analysis.binding.ThreadBinding;
import org.memtrace.analysis.machine.MachineTopology;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.NoAnswerException;
import org.memtrace.model.Progress;
import org.memtrace.topology.Hwloc;
import org.memtrace.views.grid.Grid;
import org.memtrace.views.grid.GridColumn;
import org.memtrace.views.grid.GridContent;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Buttons;
import org.memtrace.views.util.Clip;
import org.memtrace.views.util.SideBySide;
import org.memtrace.views.util.WhenSeen;
import org.memtrace.views.view.Snapshot;
import org.memtrace.views.view.TraceView;

/**
 * Which threads share pages in what is shown, and the binding that {@code memtrace bind} proposes: its verdict and figures beside those of
 * what was recorded, the matrix of sharing, a table of the threads, and texts to paste.
 */
public final class BindingView extends TraceView {
	private static final String KEY_CELLS = "cells";
	private static final String KEY_SHARING = "sharing";
	/** Threads that are seen in less of the time of the busiest one are left out: the default of the command. */
	private static final double ACTIVE = 0.2;
	private static final int SENTENCES_HEIGHT = 68;
	private static final List<BindingTable.Column> COLUMNS = BindingTable.COLUMNS.stream().filter(c -> c != BindingTable.TASK).toList();
	private static final Map<String, String> TOOLS = new LinkedHashMap<>();

	static {
		TOOLS.put("openmp", "Open&MP");
		TOOLS.put("likwid-pin", "&likwid-pin");
		TOOLS.put("taskset", "&taskset");
	}

	private record Input(OpenTrace trace, ViewState state, SharingGraph.Question question, MachineTopology known) {
	}

	private Text sentences;
	private Combo cells;
	private Combo sharing;
	private final Map<String, Button> copies = new LinkedHashMap<>();
	private SashForm sash;
	private MatrixCanvas canvas;
	private Grid grid;
	private WhenSeen load;
	private LatestResult<Input, ThreadBinding> computing;
	/** Of the trace that is shown; read once. */
	private MachineTopology topology;
	/** What is shown, null while nothing is. */
	private ThreadBinding binding;
	private ViewState shown;
	private Cells countedCells = Cells.INTERVALS;
	private Sharing countedSharing = Sharing.WRITTEN;

	private final class Content implements GridContent {
		@Override
		public int rowCount() {
			return binding == null ? 0 : binding.graph().threads().size();
		}

		@Override
		public String text(int column, int row) {
			return COLUMNS.get(column).text(binding, row);
		}
	}

	@Override
	public void init(IViewSite site, IMemento memento) throws PartInitException {
		super.init(site, memento);
		if (memento != null && Cells.PAGES.name().equals(memento.getString(KEY_CELLS))) {
			countedCells = Cells.PAGES;
		}
		if (memento != null && Sharing.ALL.name().equals(memento.getString(KEY_SHARING))) {
			countedSharing = Sharing.ALL;
		}
	}

	@Override
	public void saveState(IMemento memento) {
		super.saveState(memento);
		memento.putString(KEY_CELLS, countedCells.name());
		memento.putString(KEY_SHARING, countedSharing.name());
	}

	@Override
	protected void createContents(Composite parent) {
		sash = new SashForm(parent, SWT.HORIZONTAL | SWT.SMOOTH);
		canvas = new MatrixCanvas(sash, row -> grid.select(row, true));
		Composite side = new Composite(sash, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(0, 2).applyTo(side);
		sentences = new Text(side, SWT.MULTI | SWT.WRAP | SWT.READ_ONLY | SWT.V_SCROLL);
		GridDataFactory.fillDefaults().grab(true, false).hint(200, SENTENCES_HEIGHT).indent(4, 2).applyTo(sentences);
		Accessibility.name(sentences, "The proposed binding");
		Composite bar = new Composite(side, SWT.NONE);
		RowLayout wrapped = new RowLayout(SWT.HORIZONTAL);
		wrapped.center = true;
		bar.setLayout(wrapped);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(bar);
		cells = combo(bar, "When both must use a page: in the same interval of the recording, or at any time", "In one interval", "At any time");
		cells.select(countedCells.ordinal());
		sharing = combo(bar, "Which pages count: those that one of both wrote, or also those that are only read", "Written pages", "All pages");
		sharing.select(countedSharing.ordinal());
		new Label(bar, SWT.NONE).setText("Copy for");
		TOOLS.forEach((tool, title) -> copies.put(tool, Buttons.push(bar, title, null, () -> copy(tool))));
		grid = new Grid(side, "Threads and their CPUs", COLUMNS.stream().map(c -> new GridColumn(title(c.title()), c.tip(), width(c),
				c.number(), false)).toList(), new Content(), false);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(grid.control());
		grid.onCopy(() -> Clip.copy(grid.control().getDisplay(), texts(grid.selectedRows(Integer.MAX_VALUE))));
		sash.setWeights(43, 57);
		SideBySide.when(sash, 1.7);
		computing = computing();
		load = new WhenSeen(canvas, this::load);
		show(null);
	}

	private LatestResult<Input, ThreadBinding> computing() {
		return new LatestResult<>("Binding of threads", sash, LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.CAN_WAIT) {
			@Override
			protected ThreadBinding compute(Input in, Progress progress) throws MemtraceException {
				return BindingView.compute(in, progress);
			}

			@Override
			protected void show(Input in, ThreadBinding result) {
				topology = result.machine().topology();
				shown = in.state();
				BindingView.this.show(result);
			}

			@Override
			protected void failed(Input in, String message) {
				shown = in.state();
				BindingView.this.show(null);
				sentences.setText(message);
			}

			@Override
			protected void progress(String step, double fraction) {
				if (binding == null) {
					sentences.setText(step + (fraction < 0 ? "…" : "… " + (int) (100 * fraction) + " %"));
				}
			}
		};
	}

	private Combo combo(Composite bar, String tip, String... items) {
		Combo c = new Combo(bar, SWT.READ_ONLY);
		c.setItems(items);
		c.setToolTipText(tip);
		Accessibility.name(c, tip);
		c.addListener(SWT.Selection, e -> {
			countedCells = Cells.values()[cells.getSelectionIndex()];
			countedSharing = Sharing.values()[sharing.getSelectionIndex()];
			load.request();
		});
		return c;
	}

	private static String title(String column) {
		return column.substring(0, 1).toUpperCase(Locale.ROOT) + column.substring(1);
	}

	private static int width(BindingTable.Column c) {
		return c == BindingTable.THREAD ? 110 : BindingTable.PLACES.contains(c) ? 92 : 160;
	}

	/** A pass over the records of what is shown, and the search; with hundreds of threads some seconds. */
	private static ThreadBinding compute(Input in, Progress progress) throws MemtraceException {
		MachineTopology machine = in.known();
		if (machine == null) {
			try (OpenTrace.Lease lease = in.trace().lease()) {
				machine = Hwloc.load().of(lease.store());
			}
			if (!machine.isRecorded()) {
				throw new NoAnswerException("'" + in.trace().name() + "' does not tell on which machine it was recorded; memtrace bind --topology"
						+ " proposes a binding for another one.");
			}
		}
		ViewState s = in.state();
		AccessTable table = in.trace().accesses(s.filters(), progress);
		SharingGraph graph = SharingGraph.of(table, table.query(s.producer(), s.fromNs(), s.toNs()), in.question(), progress);
		return ThreadBinding.of(graph, new CpuDistances(machine), false, ThreadBinding.Places.RECORDED, progress);
	}

	private void load() {
		if (trace() != null && trace().hasAccesses()) {
			computing.submit(new Input(trace(), trace().selection().state(), new SharingGraph.Question(countedSharing, countedCells, ACTIVE),
					topology));
		}
	}

	private String command() {
		return trace() == null ? "" : trace().info().properties().getOrDefault("command", "");
	}

	/** @param now null for nothing */
	private void show(ThreadBinding now) {
		binding = now;
		canvas.show(now);
		grid.refresh();
		boolean any = trace() != null && trace().hasAccesses();
		cells.setEnabled(any);
		sharing.setEnabled(any);
		copies.forEach((tool, button) -> {
			String text = now == null ? "" : BindingPaste.text(now, command(), tool);
			button.setEnabled(!text.isEmpty());
			String remark = now == null ? null : BindingPaste.remark(now, command(), tool) + (text.isEmpty() ? "" : ":\n" + text);
			button.setToolTipText(remark == null ? null : remark.replace("&", "&&"));
		});
		if (now != null) {
			sentences.setText(now.verdict() + (now.graph().total() == 0 ? "" : "\n" + BindingText.figures(now)) + "\n"
					+ String.join("\n", BindingText.notes(now)));
		}
	}

	private void copy(String tool) {
		if (binding != null) {
			Clip.copy(sentences.getDisplay(), BindingPaste.text(binding, command(), tool));
		}
	}

	private String texts(List<Integer> rows) {
		return rows.isEmpty() ? "" : COLUMNS.stream().map(BindingTable.Column::title).collect(Collectors.joining("\t", "", "\n"))
				+ rows.stream().map(r -> IntStream.range(0, COLUMNS.size()).mapToObj(c -> COLUMNS.get(c).text(binding, r))
						.collect(Collectors.joining("\t", "", "\n"))).collect(Collectors.joining());
	}

	@Override
	protected void traceShown(OpenTrace now) {
		computing.cancel();
		topology = null;
		shown = null;
		show(null);
		if (now == null) {
			sentences.setText(nothingShown("No trace is shown."));
		} else if (!now.hasAccesses()) {
			sentences.setText("This trace has no memory accesses, so nothing is known of what its threads share.");
		} else {
			sentences.setText("Looking for what threads share…");
			load.request();
		}
	}

	@Override
	protected void openingChanged() {
		sentences.setText(nothingShown("No trace is shown."));
	}

	@Override
	protected void stateChanged(ViewState old, ViewState now) {
		if (!now.sameAccesses(old)) { // colours and detail of the picture make no difference here
			load.request();
		}
	}

	@Override
	protected void coloursChanged() {
		canvas.sceneChanged();
	}

	@Override
	protected Snapshot snapshot() {
		ThreadBinding drawn = binding;
		if (drawn == null || shown == null || trace() == null) {
			return null;
		}
		Map<String, String> parameters = new TreeMap<>();
		parameters.put("trace", trace().name());
		parameters.put("machine", drawn.machine().topology().origin());
		parameters.put("count", countedCells.name().toLowerCase(Locale.ROOT));
		parameters.put("sharing", countedSharing.name().toLowerCase(Locale.ROOT));
		parameters.put("from_ns", Long.toString(shown.fromNs() - trace().info().startNs()));
		parameters.put("to_ns", Long.toString(shown.toNs() - trace().info().startNs()));
		parameters.put("producer", shown.producer() < 0 ? "all" : trace().producers().name(shown.producer()));
		parameters.put("filters", shown.filters().toJson());
		String title = trace().name() + ": sharing of threads";
		return new Snapshot(trace().name() + " binding",
				(palette, width, height) -> BindingPicture.of(drawn, Math.max(width, 480), Math.max(height, 240), palette, title),
				() -> BindingText.csv(drawn), parameters);
	}

	@Override
	protected boolean isSettled() {
		return !load.isWaiting() && !computing.isBusy() && (trace() == null || !trace().hasAccesses()
				|| shown != null && shown.sameAccesses(trace().selection().state()));
	}

	@Override
	public void setFocus() {
		grid.control().setFocus();
	}

	@Override
	public void dispose() {
		if (computing != null) {
			computing.cancel();
		}
		super.dispose();
	}

	/** What stands at the top. */
	String sentences() {
		return sentences.getText();
	}

	/** For tests: what is shown, null while nothing is. */
	ThreadBinding binding() {
		return binding;
	}

	/** For tests. */
	MatrixCanvas canvas() {
		return canvas;
	}

	/** For tests. */
	Grid grid() {
		return grid;
	}

	/** For tests: the lists that say what counts. */
	List<Combo> counted() {
		return List.of(cells, sharing);
	}

	/** For tests: the button of a tool. */
	Button copyOf(String tool) {
		return copies.get(tool);
	}
}
