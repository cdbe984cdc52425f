// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Link;
import org.eclipse.swt.widgets.ProgressBar;
import org.memtrace.aggregation.Metric;
import org.memtrace.aggregation.Viewpoint;
import org.memtrace.model.ProducerTree;
import org.memtrace.views.OpenTrace;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.state.ViewState;
import org.memtrace.analysis.Units;

/** The bar above the picture: viewpoint, metric, slices, where one is in the trace, and what is being computed. */
final class PictureBar extends Composite {
	/** What the view does for the bar. */
	interface Listener {
		void slicesChosen(int count);

		void metricChosen(Metric metric);

		void cancelled();
	}

	private static final int[] SLICES = { 20, 30, 50, 75, 100, 150, 200 };
	private static final String[] VIEWPOINTS = { "Private and shared", "Threads", "Reads and writes", "CPUs",
			"NUMA nodes" };
	private static final String[] METRICS = { "Accesses", "Reads", "Writes", "Records", "Thread uses" };
	private static final int STEPS = 1000;
	/** Shorter computations show no progress: it would only flicker. */
	private static final int SHOW_AFTER_MS = 250;

	private final Combo viewpoint;
	private final Combo slices;
	private final Link where;
	private final Composite progress;
	private final Label step;
	private final ProgressBar bar;
	private OpenTrace trace;
	private boolean busy;
	private String error;

	PictureBar(Composite parent, Listener listener) {
		super(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(8).margins(8, 4).spacing(6, 0).applyTo(this);
		new Label(this, SWT.NONE).setText("&Colour by");
		viewpoint = new Combo(this, SWT.READ_ONLY);
		viewpoint.setItems(VIEWPOINTS);
		viewpoint.setToolTipText("What the colours stand for; window and level of detail stay");
		viewpoint.addListener(SWT.Selection, e -> {
			if (trace != null) {
				trace.selection().viewpoint(Viewpoint.values()[viewpoint.getSelectionIndex()]);
			}
		});
		Combo metric = new Combo(this, SWT.READ_ONLY);
		metric.setItems(METRICS);
		metric.select(Metric.ACCESSES.ordinal());
		metric.setToolTipText("What is counted");
		metric.addListener(SWT.Selection, e -> listener.metricChosen(Metric.values()[metric.getSelectionIndex()]));
		new Label(this, SWT.NONE).setText("in");
		slices = new Combo(this, SWT.READ_ONLY);
		for (int n : SLICES) {
			slices.add(n + " slices");
		}
		slices.select(2);
		slices.setToolTipText("Number of time slices of the picture");
		slices.addListener(SWT.Selection, e -> listener.slicesChosen(SLICES[slices.getSelectionIndex()]));

		where = new Link(this, SWT.NONE);
		GridDataFactory.fillDefaults().grab(true, false).indent(10, 0).align(SWT.FILL, SWT.CENTER).applyTo(where);
		where.addListener(SWT.Selection, e -> {
			if (trace != null) {
				ViewState s = trace.selection().state();
				trace.selection().zoom(s.fromNs(), s.toNs(), Integer.parseInt(e.text));
			}
		});

		progress = new Composite(this, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(3).spacing(6, 0).applyTo(progress);
		GridDataFactory.fillDefaults().align(SWT.END, SWT.CENTER).applyTo(progress);
		step = new Label(progress, SWT.RIGHT);
		GridDataFactory.fillDefaults().hint(170, SWT.DEFAULT).align(SWT.END, SWT.CENTER).applyTo(step);
		bar = new ProgressBar(progress, SWT.HORIZONTAL);
		bar.setMaximum(STEPS);
		GridDataFactory.fillDefaults().hint(90, SWT.DEFAULT).align(SWT.FILL, SWT.CENTER).applyTo(bar);
		Button cancel = new Button(progress, SWT.PUSH);
		cancel.setText("Stop");
		cancel.setToolTipText("Stop computing; the picture before stays");
		cancel.addListener(SWT.Selection, e -> listener.cancelled());
		showProgress(false);
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
		if (t == null) {
			where.setText("");
			return;
		}
		ViewState s = t.selection().state();
		if (viewpoint.getSelectionIndex() != s.viewpoint().ordinal()) {
			viewpoint.select(s.viewpoint().ordinal());
		}
		showPlace();
	}

	/** Path to the shown producer and time window. */
	private void showPlace() {
		if (error != null) {
			where.setText(escape(error));
			where.setForeground(ScenePainter.warning(this));
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
				String name = escape(id == top ? "All memory" : tree.name(id));
				text.append(i == last ? name : "<a href=\"" + id + "\">" + name + "</a>  ›  ");
			} else if (i == 2) {
				text.append("…  ›  ");
			}
			i++;
		}
		ViewState whole = trace.selection().initial();
		if (s.fromNs() != whole.fromNs() || s.toNs() != whole.toNs()) {
			text.append(String.format(Locale.ROOT, "    %s from %s", Units.duration(s.durationNs()),
					Units.duration(s.fromNs() - whole.fromNs())));
		}
		where.setText(text.toString());
		layout();
		where.setToolTipText("Where the picture is; click a part of the path to go there");
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

	Combo viewpoint() {
		return viewpoint;
	}
}
