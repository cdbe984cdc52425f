// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.paint;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.eclipse.jface.util.IPropertyChangeListener;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.widgets.Canvas;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Display;
import org.eclipse.swt.widgets.Shell;
import org.memtrace.analysis.scene.PlotColumns;
import org.memtrace.analysis.scene.PlotColumns.Edges;
import org.memtrace.analysis.scene.PlotColumns.Plot;
import org.memtrace.analysis.scene.PlotMargins;
import org.memtrace.views.jobs.OnDisplay;
import org.memtrace.views.preferences.Settings;

/**
 * A plot with an axis of time, as one of those in a window. What is seen of them and lies above each other gets the same left and right
 * edges ({@link PlotColumns}), whatever trace it shows: each tells what it needs beside its plot, and is told what there has to be.
 * Display thread.
 */
public final class AlignedPlot {
	private static final String KEY = AlignedPlot.class.getName();

	/** All plots of a display. */
	private static final class All {
		private final Display display;
		private final List<AlignedPlot> plots = new ArrayList<>();
		private boolean pending;

		All(Display display) {
			this.display = display;
			// whatever moves a view or shows another one: sashes, tabs, filters above it, another size of the window
			for (int type : new int[] {SWT.Resize, SWT.Move, SWT.Show, SWT.Hide}) {
				display.addFilter(type, e -> later());
			}
			IPropertyChangeListener settings = e -> {
				if (e.getProperty().equals(Settings.ALIGN)) {
					later();
				}
			};
			Settings.store().addPropertyChangeListener(settings);
		}

		static All of(Display display) {
			All all = (All) display.getData(KEY);
			if (all == null) {
				all = new All(display);
				display.setData(KEY, all);
			}
			return all;
		}

		/** Once for all that happens until the display thread has time. */
		void later() {
			if (!pending && !plots.isEmpty()) {
				pending = true;
				OnDisplay.later(display, () -> {
					pending = false;
					align();
				});
			}
		}

		private void align() {
			Map<Shell, List<AlignedPlot>> seen = new LinkedHashMap<>();
			for (AlignedPlot p : plots) {
				if (p.needs != null && p.canvas.isVisible() && p.canvas.getClientArea().width > 0) {
					seen.computeIfAbsent(p.canvas.getShell(), s -> new ArrayList<>()).add(p);
				}
			}
			boolean wanted = Settings.alignPlots();
			for (List<AlignedPlot> window : seen.values()) {
				List<Edges> edges = PlotColumns.edges(window.stream().map(AlignedPlot::plot).toList());
				for (int i = 0; i < window.size(); i++) {
					AlignedPlot p = window.get(i);
					int x = p.canvas.toDisplay(0, 0).x;
					p.give(wanted ? new PlotMargins(edges.get(i).left() - x, x + p.canvas.getClientArea().width - edges.get(i).right())
							: PlotMargins.NONE);
				}
			}
		}
	}

	private final Canvas canvas;
	private final Control view;
	private final Runnable changed;
	private final All all;
	/** Null while there is no axis of time. */
	private PlotMargins needs;
	private PlotMargins given = PlotMargins.NONE;

	/**
	 * @param canvas which has the plot; until it is disposed
	 * @param view all of the view, by which it is known what lies above each other
	 * @param changed draws again, with other {@link #margins}
	 */
	public AlignedPlot(Canvas canvas, Control view, Runnable changed) {
		this.canvas = canvas;
		this.view = view;
		this.changed = changed;
		all = All.of(canvas.getDisplay());
		all.plots.add(this);
		canvas.addListener(SWT.Dispose, e -> {
			all.plots.remove(this);
			all.later();
		});
	}

	/** Says what the plot needs, without regard to what it was given; null while it shows no time. */
	public void needs(PlotMargins now) {
		if (now == null ? needs != null : !now.equals(needs)) {
			needs = now;
			all.later();
		}
	}

	/** What there has to be beside the plot at least. */
	public PlotMargins margins() {
		return given;
	}

	/** Whether margins may change yet without anything else happening; for tests. */
	public boolean isPending() {
		return all.pending;
	}

	private Plot plot() {
		Point at = canvas.toDisplay(0, 0);
		int viewLeft = view.toDisplay(0, 0).x;
		return new Plot(viewLeft, viewLeft + view.getSize().x, at.x + needs.left(), at.x + canvas.getClientArea().width - needs.right());
	}

	private void give(PlotMargins now) {
		if (!now.equals(given)) {
			given = now;
			changed.run();
		}
	}
}
