// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Locale;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.layout.RowData;
import org.eclipse.swt.layout.RowLayout;

import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Link;
import org.eclipse.swt.widgets.ProgressBar;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.machine.MachineSide;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CountUnit;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Buttons;

/** The bar above the picture: viewpoint, metric, slices, where one is in the trace, and what is being computed. */
final class PictureBar extends Composite {
	/** What the view does for the bar. */
	interface Listener {
		Choice choice();

		void chosen(Choice choice);

		/** The tree of another address space. */
		void spaceChosen(AddressSpace space);

		void cancelled();
	}

	private static final List<Integer> SLICES = List.of(20, 30, 50, 75, 100, 150, 200);
	private static final List<Metric> OF_EVENTS = List.of(Metric.STATE_TIME, Metric.STATE_DURATION, Metric.STATE_MEAN,
			Metric.VARIABLE_MEAN, Metric.EVENTS);
	private static final int STEPS = 1000;
	/** Shorter computations show no progress: it would only flicker. */
	private static final int SHOW_AFTER_MS = 250;
	/** What the path needs at least beside the choices; with less it is in a second line. */
	private static final int PLACE_WIDTH = 160;

	private final Listener listener;
	private final Combo kind;
	private final Combo space;
	private final Combo viewpoint;
	/** What the lists offer: bundles bring dimensions and metrics and take them away. */
	private List<Dimension> viewpoints = Dimensions.of(Dimension.Use.COLOUR);
	private List<Metric> metricsOfAccesses = List.of();
	private final Combo metric;
	private final Combo slices;
	/** Seen where columns are slices of time. */
	private final Composite slicing;
	private final Link where;
	/** Wraps where it is narrow. */
	private final Composite choices;
	/** What is counted, in how many slices. */
	private final Composite in;
	private final Composite progress;
	private final Label step;
	private final ProgressBar bar;
	private OpenTrace trace;
	private List<Integer> shownSlices = SLICES;
	private boolean busy;
	private String error;
	private MachineSide machine;

	PictureBar(Composite parent, Listener listener) {
		super(parent, SWT.NONE);
		this.listener = listener;
		GridLayoutFactory.fillDefaults().numColumns(4).margins(8, 4).spacing(6, 2).applyTo(this);
		choices = makeChoices();
		kind = new Combo(choices, SWT.READ_ONLY);
		kind.setItems(kinds());
		kind.setLayoutData(new RowData());
		Accessibility.name(kind, "Picture");
		kind.addListener(SWT.Selection, e -> listener.chosen(listener.choice().withKind(
				PictureKind.of(isOfAccesses()).get(kind.getSelectionIndex()))));
		space = new Combo(choices, SWT.READ_ONLY);
		space.setItems("Structures", "NUMA nodes, frames");
		space.setToolTipText("Which memory: that of the program by structures, or that of the machine by NUMA nodes and page frames");
		Accessibility.name(space, "Memory");
		space.addListener(SWT.Selection, e -> listener.spaceChosen(AddressSpace.values()[space.getSelectionIndex()]));
		space.setLayoutData(new RowData());
		((RowData) space.getLayoutData()).exclude = true;
		space.setVisible(false);
		Composite by = labelled(choices, "&by");
		viewpoint = new Combo(by, SWT.READ_ONLY);
		viewpoint.setItems(choices().toArray(String[]::new));
		viewpoint.setToolTipText("What the colours stand for; window and level of detail stay");
		viewpoint.addListener(SWT.Selection, e -> {
			if (trace != null && trace.hasAccesses()) {
				trace.selection().viewpoint(viewpoints.get(viewpoint.getSelectionIndex()));
			}
		});
		Accessibility.name(viewpoint, "Colours stand for");
		in = new Composite(this, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2).spacing(6, 0).applyTo(in);
		metric = new Combo(in, SWT.READ_ONLY);
		metric.setToolTipText("What is counted");
		Accessibility.name(metric, "Counted");
		metric.addListener(SWT.Selection, e -> listener.chosen(listener.choice().withMetric(
				metric.getSelectionIndex() == 0 && !isOfAccesses() ? null : metrics().get(metricIndex()))));
		slicing = labelled(in, "in");
		GridDataFactory.fillDefaults().applyTo(slicing);
		slices = new Combo(slicing, SWT.READ_ONLY);
		slices.setToolTipText("Number of time slices of the picture");
		Accessibility.name(slices, "Time slices");
		slices.addListener(SWT.Selection, e -> listener.chosen(listener.choice().withSlices(shownSlices.get(
				slices.getSelectionIndex()))));

		where = makePath();

		progress = new Composite(this, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(3).spacing(6, 0).applyTo(progress);
		GridDataFactory.fillDefaults().align(SWT.END, SWT.CENTER).applyTo(progress);
		step = new Label(progress, SWT.RIGHT);
		GridDataFactory.fillDefaults().hint(170, SWT.DEFAULT).align(SWT.END, SWT.CENTER).applyTo(step);
		bar = new ProgressBar(progress, SWT.HORIZONTAL);
		bar.setMaximum(STEPS);
		GridDataFactory.fillDefaults().hint(90, SWT.DEFAULT).align(SWT.FILL, SWT.CENTER).applyTo(bar);
		Buttons.push(progress, "Stop", "Stop computing; the picture before stays", () -> listener.cancelled());
		showProgress(false);
	}

	private Composite makeChoices() {
		Composite area = new Composite(this, SWT.NONE);
		RowLayout wrapping = new RowLayout(SWT.HORIZONTAL);
		wrapping.center = true;
		wrapping.spacing = 6;
		wrapping.marginLeft = wrapping.marginRight = wrapping.marginTop = wrapping.marginBottom = 0;
		area.setLayout(wrapping);
		GridDataFactory.fillDefaults().align(SWT.FILL, SWT.CENTER).applyTo(area);
		return area;
	}

	/** The producers above what is shown, as links. */
	private Link makePath() {
		Link path = new Link(this, SWT.NONE);
		path.setText("M");
		// one line: a link wraps as soon as it is narrow, and the bar would be as high as the picture
		int line = path.computeSize(SWT.DEFAULT, SWT.DEFAULT).y;
		path.setText("");
		GridDataFactory.fillDefaults().grab(true, false).hint(40, line).indent(10, 0).align(SWT.FILL, SWT.CENTER).applyTo(path);
		path.addListener(SWT.Selection, e -> {
			if (trace != null) {
				ViewState s = trace.selection().state();
				trace.selection().zoom(s.fromNs(), s.toNs(), Integer.parseInt(e.text));
			}
		});
		return path;
	}

	/** A label and its combo, which stay in one line. */
	private static Composite labelled(Composite parent, String text) {
		Composite c = new Composite(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2).spacing(6, 0).applyTo(c);
		Label label = new Label(c, SWT.NONE);
		label.setText(text);
		GridDataFactory.fillDefaults().align(SWT.BEGINNING, SWT.CENTER).applyTo(label);
		return c;
	}

	/** In narrow views, such as two beside each other, what is counted and the place are in a second line. */
	void fit(boolean changed) {
		int width = getParent().getClientArea().width;
		((RowData) kind.getLayoutData()).width = SWT.DEFAULT;
		boolean narrow = width > 0 && width < choices.computeSize(SWT.DEFAULT, SWT.DEFAULT).x
				+ in.computeSize(SWT.DEFAULT, SWT.DEFAULT).x + PLACE_WIDTH;
		GridData data = (GridData) choices.getLayoutData();
		int before = data.horizontalSpan;
		int span = narrow ? 4 : 1;
		if (changed || data.horizontalSpan != span) {
			data.horizontalSpan = span;
			data.grabExcessHorizontalSpace = narrow;
		}
		if (narrow) {
			((RowData) kind.getLayoutData()).width = widthOfShown(kind);
		}
		if (changed || data.horizontalSpan != before) {
			getParent().layout(true, true);
		}
	}

	/** Less than the widest of its items needs. */
	private static int widthOfShown(Combo combo) {
		GC gc = new GC(combo);
		try {
			int widest = 0;
			for (String item : combo.getItems()) {
				widest = Math.max(widest, gc.textExtent(item).x);
			}
			return combo.computeSize(SWT.DEFAULT, SWT.DEFAULT).x - widest + gc.textExtent(combo.getText()).x;
		} finally {
			gc.dispose();
		}
	}

	private boolean isOfAccesses() {
		return trace == null || trace.hasAccesses();
	}

	private String[] kinds() {
		return PictureKind.of(isOfAccesses()).stream().map(k -> k.title(isOfAccesses())).toArray(String[]::new);
	}

	private List<String> choices() {
		return viewpoints.stream().map(Dimension::choice).toList();
	}

	private List<Metric> metrics() {
		return isOfAccesses() ? metricsOfAccesses : OF_EVENTS;
	}

	/** Events have an entry for what suits the trace before the metrics. */
	private int metricIndex() {
		return metric.getSelectionIndex() - (isOfAccesses() ? 0 : 1);
	}

	/** Shows what is chosen. */
	private void showChoice() {
		Choice c = listener.choice();
		viewpoints = Dimensions.of(Dimension.Use.COLOUR);
		metricsOfAccesses = Arrays.stream(Metric.values()).filter(Metric::ofAccesses).toList();
		int kindAt = Math.max(0, PictureKind.of(isOfAccesses()).indexOf(c.kind()));
		boolean other = kind.getSelectionIndex() != kindAt;
		other |= items(kind, List.of(kinds()));
		kind.setToolTipText("What is drawn: " + (isOfAccesses() ? "memory over time, time alone, or memory and the machine"
				: "event producers over time, or time alone"));
		select(kind, kindAt);
		List<String> names = new ArrayList<>();
		if (!isOfAccesses()) {
			names.add("What suits the trace");
		}
		for (Metric m : metrics()) {
			String text = ModelText.metric(m, isOfAccesses(), trace == null ? CountUnit.RECORDS : trace.info().counts());
			names.add(Character.toUpperCase(text.charAt(0)) + text.substring(1));
		}
		other |= items(metric, names);
		int at = c.metric() == null ? -1 : metrics().indexOf(c.metric()); // null: what suits the trace
		select(metric, isOfAccesses() ? Math.max(0, at) : at + 1);
		List<Integer> counts = new ArrayList<>(SLICES);
		if (!counts.contains(c.slices())) {
			counts.add(c.slices());
			counts.sort(null);
		}
		shownSlices = counts;
		other |= items(slices, counts.stream().map(n -> n + " slices").toList());
		select(slices, counts.indexOf(c.slices()));
		other |= items(viewpoint, isOfAccesses() ? choices() : List.of("Event types"));
		boolean time = c.kind().sides().columnsAreTime();
		if (slicing.getVisible() != time) {
			slicing.setVisible(time);
			((GridData) slicing.getLayoutData()).exclude = !time;
			other = true;
		}
		if (other) {
			fit(true);
		}
	}

	/** There is a choice only when frames or nodes were recorded. */
	private void showSpace() {
		boolean several = trace != null && trace.spaces().size() > 1;
		if (several) {
			select(space, trace.space().ordinal());
		}
		if (space.getVisible() != several) {
			space.setVisible(several);
			((RowData) space.getLayoutData()).exclude = !several;
			fit(true);
		}
	}

	private static boolean items(Combo combo, List<String> texts) {
		boolean other = !Arrays.equals(combo.getItems(), texts.toArray());
		if (other) {
			combo.setItems(texts.toArray(String[]::new));
		}
		return other;
	}

	private static void select(Combo combo, int index) {
		if (combo.getSelectionIndex() != index) {
			combo.select(index);
		}
	}

	/** The place of the progress belongs to the path while nothing is computed. */
	private void showProgress(boolean visible) {
		progress.setVisible(visible);
		((GridData) progress.getLayoutData()).exclude = !visible;
		layout();
	}

	/** Shows viewpoint and place of a trace; null none. */
	void update(OpenTrace t) {
		trace = t;
		viewpoint.setEnabled(t != null);
		slices.setEnabled(t != null);
		metric.setEnabled(t != null);
		kind.setEnabled(t != null);
		showChoice();
		showSpace();
		if (t == null) {
			where.setText("");
			return;
		}
		ViewState s = t.selection().state();
		select(viewpoint, isOfAccesses() ? Math.max(0, viewpoints.indexOf(s.viewpoint())) : 0);
		showPlace();
	}

	/** Path to the shown producer and time window. */
	private void showPlace() {
		if (error != null) {
			where.setText(escape(error));
			where.setForeground(ScenePainter.warning(this));
			where.setToolTipText(error.replace("&", "&&"));
			return;
		}
		where.setForeground(null);
		ViewState s = trace.selection().state();
		ProducerTree tree = trace.producers();
		Deque<Integer> path = new ArrayDeque<>();
		int top = trace.selection().initial().producer();
		for (int id = s.producer(); id != top; id = tree.parent(id)) {
			path.push(id);
		}
		path.push(top);
		StringBuilder text = new StringBuilder();
		int i = 0;
		int last = path.size() - 1;
		for (int id : path) {
			boolean elided = last > 4 && i > 1 && i < last - 1;
			if (!elided) {
				String name = escape(id == top ? isOfAccesses() ? "All memory" : "All producers" : tree.name(id));
				text.append(i == last ? name : "<a href=\"" + id + "\">" + name + "</a>  ›  ");
			} else if (i == 2) {
				text.append("…  ›  ");
			}
			i++;
		}
		ViewState whole = trace.selection().initial();
		if (s.fromNs() != whole.fromNs() || s.toNs() != whole.toNs()) {
			text.append(String.format(Locale.ROOT, "    %s from %s", Units.duration(trace.info(), s.durationNs()),
					Units.duration(trace.info(), s.fromNs() - whole.fromNs())));
		}
		boolean left = machine != null && !machine.leftOutShare().isEmpty();
		where.setText(text + (left ? "    " + escape(machine.leftOutShare()) + " without CPU" : ""));
		layout();
		where.setToolTipText("Where the picture is; click a part of the path to go there"
				+ (machine == null || machine.notes().isEmpty() ? "" : "\n" + String.join("\n", machine.notes()).replace("&", "&&")));
	}

	private static String escape(String text) {
		return text.replace("&", "&&").replace("<", "‹").replace(">", "›");
	}

	/** A sentence that says why there is no new picture; null: all is well. */
	void error(String message) {
		error = message;
		if (trace != null) {
			showPlace();
		}
	}

	/** The machine that is a side of the picture; what is at no CPU of it is told. Null: none is. */
	void machine(MachineSide now) {
		machine = now;
		if (trace != null) {
			showPlace();
		}
	}

	/** What is being computed; {@code fraction} -1 when not known. */
	void busy(boolean now, String what, double fraction) {
		boolean was = busy;
		busy = now;
		if (!now) {
			if (progress.getVisible()) {
				showProgress(false);
			}
			return;
		}
		step.setText(what.isEmpty() ? "Computing…" : what);
		bar.setSelection(fraction < 0 ? 0 : (int) (STEPS * fraction));
		if (!was) {
			getDisplay().timerExec(SHOW_AFTER_MS, () -> {
				if (!isDisposed() && busy) {
					showProgress(true);
				}
			});
		}
	}

	/** What stands at the right: where one is. */
	String place() {
		return where.getText();
	}

	Combo viewpoint() {
		return viewpoint;
	}

	Combo space() {
		return space;
	}

	Combo kind() {
		return kind;
	}
}
