// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.gantt;

import java.util.List;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Text;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.util.Buttons;

/** The bar above the chart: what the rows are, what the colours stand for, search, and what is being done. */
final class GanttBar extends Composite {
	/** What the view does for the bar. */
	interface Listener {
		void grouping(Grouping grouping);

		void viewpoint(Dimension viewpoint);

		void find(String pattern, boolean forward);

		void cancelled();
	}

	private static final String[] ROWS = { "Producers", "Threads", "CPUs" };
	private final List<Dimension> viewpoints = Dimensions.of(Dimension.Use.COLOUR);
	/** Shorter computations show no progress: it would only flicker. */
	private static final int SHOW_AFTER_MS = 250;

	private final Combo grouping;
	private final Combo viewpoint;
	private final Text search;
	private final Label info;
	private final Button stop;
	private boolean busy;
	private String text = "";
	private boolean warning;

	GanttBar(Composite parent, Listener listener) {
		super(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(9).margins(8, 4).spacing(6, 0).applyTo(this);
		new Label(this, SWT.NONE).setText("&Rows");
		grouping = new Combo(this, SWT.READ_ONLY);
		grouping.setItems(ROWS);
		grouping.select(0);
		grouping.setToolTipText("What the rows at the top are; below them are producers");
		grouping.addListener(SWT.Selection, e -> listener.grouping(Grouping.values()[grouping.getSelectionIndex()]));
		new Label(this, SWT.NONE).setText("&Colour by");
		viewpoint = new Combo(this, SWT.READ_ONLY);
		viewpoint.setItems(choices());
		viewpoint.select(0);
		viewpoint.setToolTipText("What the colours stand for, in all views");
		viewpoint.addListener(SWT.Selection, e -> listener.viewpoint(viewpoints.get(viewpoint.getSelectionIndex())));
		search = new Text(this, SWT.SEARCH | SWT.ICON_SEARCH | SWT.ICON_CANCEL);
		search.setMessage("Find row");
		search.setToolTipText("Name of a row, as a regular expression: Enter next, Shift+Enter previous, F3 and Shift+F3 in the chart");
		GridDataFactory.fillDefaults().hint(130, SWT.DEFAULT).align(SWT.FILL, SWT.CENTER).applyTo(search);
		search.addListener(SWT.KeyDown, e -> {
			if (e.keyCode == SWT.CR || e.keyCode == SWT.KEYPAD_CR || e.keyCode == SWT.F3) {
				e.doit = false;
				listener.find(search.getText(), (e.stateMask & SWT.SHIFT) == 0);
			}
		});
		Button previous = new Button(this, SWT.ARROW | SWT.UP);
		previous.setToolTipText("Previous row with this name (Shift+F3)");
		previous.addListener(SWT.Selection, e -> listener.find(search.getText(), false));
		Button next = new Button(this, SWT.ARROW | SWT.DOWN);
		next.setToolTipText("Next row with this name (F3)");
		next.addListener(SWT.Selection, e -> listener.find(search.getText(), true));
		info = new Label(this, SWT.NONE);
		GridDataFactory.fillDefaults().grab(true, false).indent(8, 0).align(SWT.FILL, SWT.CENTER).applyTo(info);
		stop = Buttons.push(this, "Stop", "Stop computing; the picture before stays", () -> listener.cancelled());
		GridDataFactory.fillDefaults().exclude(true).applyTo(stop);
		stop.setVisible(false);
	}

	private String[] choices() {
		return viewpoints.stream().map(Dimension::choice).toArray(String[]::new);
	}

	/** What can be chosen: threads and CPUs only where they are known, a viewpoint only for accesses. */
	void update(boolean enabled, boolean threads, boolean cpus, boolean accesses, Grouping now, Dimension view) {
		grouping.setEnabled(enabled && (threads || cpus));
		viewpoint.setEnabled(enabled && accesses);
		grouping.select(now.ordinal());
		if (enabled && !accesses) {
			viewpoint.setItems("Event types");
			viewpoint.select(0);
		} else {
			if (viewpoint.getItemCount() != viewpoints.size()) {
				viewpoint.setItems(choices());
			}
			viewpoint.select(Math.max(0, viewpoints.indexOf(view)));
		}
	}

	/** A sentence at the right; a warning stays until the next one. */
	void info(String sentence, boolean isWarning) {
		text = sentence;
		warning = isWarning;
		show(sentence, isWarning);
	}

	private void show(String sentence, boolean isWarning) {
		info.setText(sentence.replace("&", "&&"));
		info.setToolTipText(sentence.isEmpty() ? null : sentence.replace("&", "&&"));
		info.setForeground(isWarning ? ScenePainter.warning(this) : null);
	}

	/** What is being computed; {@code fraction} -1 when not known. */
	void busy(boolean now, String what, double fraction) {
		boolean was = busy;
		busy = now;
		if (!now) {
			if (stop.getVisible()) {
				stop(false);
				show(text, warning);
			}
			return;
		}
		if (stop.getVisible()) {
			show((what.isEmpty() ? "Computing" : what) + (fraction >= 0 ? " " + Math.round(100 * fraction) + " %" : "") + "…", false);
		}
		if (!was) {
			getDisplay().timerExec(SHOW_AFTER_MS, () -> {
				if (!isDisposed() && busy) {
					stop(true);
				}
			});
		}
	}

	private void stop(boolean visible) {
		stop.setVisible(visible);
		((GridData) stop.getLayoutData()).exclude = !visible;
		layout();
	}

	Combo grouping() {
		return grouping;
	}

	Combo viewpoint() {
		return viewpoint;
	}

	Text search() {
		return search;
	}

	String text() {
		return text;
	}
}
