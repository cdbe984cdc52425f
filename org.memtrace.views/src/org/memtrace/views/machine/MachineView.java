// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.machine;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.IAction;
import org.eclipse.jface.action.IToolBarManager;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.ui.IMemento;
import org.eclipse.ui.IViewSite;
import org.eclipse.ui.IWorkbenchActionConstants;
import org.eclipse.ui.PartInitException;
import org.memtrace.aggregation.place.AccessPlaces;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.machine.MachineFilters;
import org.memtrace.analysis.machine.MachineMonitors;
import org.memtrace.analysis.machine.MachinePicture.Arrangement;
import org.memtrace.analysis.machine.MachinePicture.Colouring;
import org.memtrace.analysis.machine.MachinePicture;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology;
import org.memtrace.analysis.machine.MachineUse;
import org.memtrace.analysis.machine.MonitorFrame;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.session.MachineChoice;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.util.Icons;
import org.memtrace.views.view.Snapshot;
import org.memtrace.views.view.TraceView;

/**
 * The machine of the trace as nested boxes or as rings; a click filters all views to a CPU or a node. Of a trace of monitors it is their
 * replay.
 */
public final class MachineView extends TraceView {
	private static final String KEY_COLOURING = "colouring";
	private static final String KEY_LAYOUT = "layout";

	/** One of the two. */
	private record Result(MachineUse use, MachineMonitors monitors) {
	}

	private record Input(OpenTrace trace, MachineTopology known, ViewState state) {
	}

	private MachineCanvas canvas;
	/** Below the canvas; seen while values of monitors are shown. */
	private ReplayBar bar;
	private LatestResult<Input, Result> computing;
	/** Of the trace that is shown; read once. */
	private MachineTopology topology;
	/** What was asked for when it was read. */
	private String topologyOf = "";
	private ViewState shown;
	private String failure;
	/** Whether it is a trace of monitors. */
	private boolean hasPlaces;
	private Colouring colouring = Colouring.ACCESSES;
	private Arrangement arrangement = Arrangement.AUTO;

	@Override
	public void init(IViewSite site, IMemento memento) throws PartInitException {
		super.init(site, memento);
		if (memento != null && Colouring.LOCALITY.name().equals(memento.getString(KEY_COLOURING))) {
			colouring = Colouring.LOCALITY;
		}
		for (Arrangement a : Arrangement.values()) {
			if (memento != null && a.name().equals(memento.getString(KEY_LAYOUT))) {
				arrangement = a;
			}
		}
	}

	@Override
	public void saveState(IMemento memento) {
		super.saveState(memento);
		memento.putString(KEY_COLOURING, colouring.name());
		memento.putString(KEY_LAYOUT, arrangement.name());
	}

	@Override
	protected void createContents(Composite parent) {
		Composite area = new Composite(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(0, 0).applyTo(area);
		canvas = new MachineCanvas(area, this::clicked);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(canvas);
		bar = new ReplayBar(area, canvas::show);
		canvas.colouring(colouring);
		canvas.arrangement(arrangement);
		computing = new LatestResult<>("Accesses on the machine", canvas, LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.CAN_WAIT) {
			@Override
			protected Result compute(Input in, Progress progress) throws MemtraceException {
				MachineTopology machine = in.known();
				if (machine == null) {
					machine = MachineChoice.topology(in.trace(), in.state().machine());
				}
				ViewState s = in.state();
				return in.trace().hasAccesses() ? new Result(MachineUse.of(machine,
						AccessPlaces.of(in.trace().accesses(s.filters(), progress), s.producer(), s.fromNs(), s.toNs(), progress)), null)
						: new Result(null, MachineMonitors.of(machine, in.trace().events(s.filters(), progress)));
			}

			@Override
			protected void show(Input in, Result result) {
				failure = null;
				shown = in.state();
				topologyOf = in.state().machine();
				if (result.monitors() != null) {
					topology = result.monitors().topology();
					bar.show(result.monitors(), in.state().fromNs(), in.state().toNs());
					return;
				}
				topology = result.use().topology();
				canvas.show(result.use(), MachineFilters.cpus(in.state().filters()), MachineFilters.nodes(in.state().filters()));
			}

			@Override
			protected void failed(Input in, String message) {
				failure = message;
				shown = in.state();
				canvas.message(message);
			}
		};
		makeActions();
	}

	private void makeActions() {
		IToolBarManager tools = getViewSite().getActionBars().getToolBarManager();
		for (Colouring c : Colouring.values()) {
			Action a = new Action("Colour by " + c.title(), IAction.AS_RADIO_BUTTON) {
				@Override
				public void run() {
					if (isChecked()) {
						colouring = c;
						canvas.colouring(c);
					}
				}
			};
			a.setImageDescriptor(Icons.get(c == Colouring.ACCESSES ? "accesses" : "locality"));
			a.setToolTipText(c == Colouring.ACCESSES ? "Colour by the amount per CPU and pages per node"
					: "Colour by how much is local and remote");
			a.setChecked(c == colouring);
			tools.appendToGroup(IWorkbenchActionConstants.MB_ADDITIONS, a);
			getViewSite().getActionBars().getMenuManager().add(a);
		}
		MenuManager layouts = new MenuManager("Layout");
		for (Arrangement kind : Arrangement.values()) {
			layouts.add(layoutAction(kind));
		}
		getViewSite().getActionBars().getMenuManager().add(layouts);
		getViewSite().getActionBars().getMenuManager().add(MachineChoice.menu(getSite().getShell(), this::trace));
	}

	private Action layoutAction(Arrangement kind) {
		Action a = new Action(kind.menuText(), IAction.AS_RADIO_BUTTON) {
			@Override
			public void run() {
				if (isChecked()) {
					arrangement = kind;
					canvas.arrangement(kind);
				}
			}
		};
		a.setChecked(kind == arrangement);
		return a;
	}

	private void clicked(MachineObject object, boolean add) {
		if (trace() != null && trace().hasAccesses()) { // values of monitors are not filtered by places
			FilterSet old = trace().selection().state().filters();
			FilterSet now = MachineFilters.clicked(old, object, add);
			if (!now.equals(old)) {
				trace().selection().filters(now);
			}
		}
	}

	@Override
	protected void traceShown(OpenTrace now) {
		computing.cancel();
		topology = null;
		shown = null;
		failure = null;
		bar.hide();
		hasPlaces = now != null && !now.hasAccesses() && MachineMonitors.hasPlaces(now.producers());
		if (now == null) {
			canvas.message(nothingShown("No trace is open."));
		} else if (!isShown(now)) {
			canvas.message("This trace is neither of memory nor of monitors, so nothing is known of its places.");
		} else {
			canvas.message("Reading the machine of the trace…");
			update();
		}
	}

	@Override
	protected void openingChanged() {
		canvas.message(nothingShown("No trace is open."));
	}

	@Override
	protected void stateChanged(ViewState old, ViewState now) {
		// colours and detail of the picture make no difference here
		if (old != null && trace() != null && !trace().hasAccesses() && old.filters().equals(now.filters())
				&& old.machine().equals(now.machine())) {
			if (bar.isShown()) { // values are there already; only the window of the replay is another one
				shown = now;
				bar.window(now.fromNs(), now.toNs());
			}
			return;
		}
		if (old == null || old.fromNs() != now.fromNs() || old.toNs() != now.toNs() || old.producer() != now.producer()
				|| !old.filters().equals(now.filters()) || !old.machine().equals(now.machine())) {
			update();
		}
	}

	@Override
	protected void timePointed(long timeNs) {
		bar.glance(timeNs);
	}

	/** Whether there is something to show of a trace. */
	private boolean isShown(OpenTrace trace) {
		return trace.hasAccesses() || hasPlaces;
	}

	private void update() {
		if (trace() != null && isShown(trace())) {
			computing.submit(new Input(trace(), trace().selection().state().machine().equals(topologyOf) ? topology : null,
					trace().selection().state()));
		}
	}

	@Override
	protected void coloursChanged() {
		canvas.redraw();
	}

	@Override
	protected Snapshot snapshot() {
		MachineUse use = canvas.use();
		MonitorFrame frame = canvas.frame();
		if (use == null && frame == null || trace() == null || shown == null) {
			return null;
		}
		Map<String, String> parameters = new TreeMap<>();
		parameters.put("trace", trace().name());
		MachineTopology machine = use != null ? use.topology() : frame.topology();
		parameters.put("machine", machine.origin());
		parameters.put("layout", arrangement.name().toLowerCase(Locale.ROOT));
		parameters.put("colours", use != null ? colouring.name().toLowerCase(Locale.ROOT) : frame.summary());
		parameters.put("from_ns", Long.toString(shown.fromNs() - trace().info().startNs()));
		parameters.put("to_ns", Long.toString(shown.toNs() - trace().info().startNs()));
		parameters.put("producer", shown.producer() < 0 ? "all" : trace().producers().name(shown.producer()));
		parameters.put("filters", shown.filters().toJson());
		MachinePicture.Options options = canvas.options();
		String title = trace().name() + ": " + machine.summary();
		return new Snapshot(trace().name() + " machine", (palette, width, height) -> {
			MachinePicture.Options o = new MachinePicture.Options();
			o.colouring = options.colouring;
			o.arrangement = options.arrangement;
			o.filteredCpus = options.filteredCpus;
			o.filteredNodes = options.filteredNodes;
			o.palette = palette;
			o.width = width;
			o.height = height;
			o.title = title;
			return (use != null ? MachinePicture.of(use, o) : MachinePicture.of(frame, o)).scene();
		}, use != null ? use::toCsv : frame::toCsv, parameters);
	}

	@Override
	protected boolean isSettled() {
		return !computing.isBusy() && (trace() == null || !isShown(trace()) || failure != null
				|| (canvas.use() != null || canvas.frame() != null) && shown != null && same(shown, trace().selection().state()));
	}

	private static boolean same(ViewState a, ViewState b) {
		return a.fromNs() == b.fromNs() && a.toNs() == b.toNs() && a.producer() == b.producer() && a.filters().equals(b.filters())
				&& a.machine().equals(b.machine());
	}

	@Override
	public void setFocus() {
		canvas.setFocus();
	}

	@Override
	public void dispose() {
		if (computing != null) {
			computing.cancel();
		}
		super.dispose();
	}

	ReplayBar bar() {
		return bar;
	}

	MachineCanvas canvas() {
		return canvas;
	}
}
