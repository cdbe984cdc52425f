// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import org.eclipse.jface.action.IToolBarManager;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.SashForm;
import org.eclipse.swt.custom.StackLayout;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.widgets.Composite;
import org.memtrace.aggregation.Metric;
import org.memtrace.aggregation.Partition;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.NavigationActions;
import org.memtrace.views.OpenTrace;
import org.memtrace.views.Opening;
import org.memtrace.views.PictureStatus;
import org.memtrace.views.Session;
import org.memtrace.views.Snapshot;
import org.memtrace.views.TraceView;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.state.ViewState;

/**
 * The picture of a trace: follows the {@link TraceSelection}, has the microscopic model and the levels computed when
 * window, producer or viewpoint change, and the scene when only p or the size do. Layout and jobs only: painting and
 * gestures are in {@link PictureCanvas}, the level in {@link LevelPanel}, the bar above in {@link PictureBar}.
 */
public final class OcelotlView extends TraceView {
	static final int DEFAULT_SLICES = 50;
	private static final double FONT_PIXELS = 12;

	private Composite stack;
	private StackLayout layout;
	private Composite pictureArea;
	private Welcome welcome;
	private PictureBar bar;
	private PictureCanvas canvas;
	private LevelPanel level;
	private NavigationActions navigation;
	private LatestResult<Description.Input, Description> describing;
	private LatestResult<Description, Description> refining;
	private LatestResult<ShownPicture.Input, ShownPicture> drawing;
	private Description description;
	private int slices = DEFAULT_SLICES;
	private Metric metric = Metric.ACCESSES;

	private final Session.Listener followSession = new Session.Listener() {
		@Override
		public void opening(Opening state) {
			welcome.opening(state);
			if (trace() != null) {
				bar.busy(state != null, state == null ? "" : state.step(), state == null ? -1 : state.fraction());
			}
		}

		@Override
		public void catalogueChanged() {
			welcome.refresh();
		}
	};

	@Override
	protected void createContents(Composite parent) {
		stack = new Composite(parent, SWT.NONE);
		layout = new StackLayout();
		stack.setLayout(layout);
		welcome = new Welcome(stack, session(), getSite().getWorkbenchWindow());

		pictureArea = new Composite(stack, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(0, 0).applyTo(pictureArea);
		bar = new PictureBar(pictureArea, new PictureBar.Listener() {
			@Override
			public void slicesChosen(int count) {
				slices = count;
				describe();
			}

			@Override
			public void metricChosen(Metric chosen) {
				metric = chosen;
				describe();
			}

			@Override
			public void cancelled() {
				describing.cancel();
				session().opener().cancel();
			}
		});
		GridDataFactory.fillDefaults().grab(true, false).applyTo(bar);
		SashForm sash = new SashForm(pictureArea, SWT.HORIZONTAL | SWT.SMOOTH);
		sash.setSashWidth(5);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(sash);
		PictureCanvas.Levels levels = new PictureCanvas.Levels() {
			@Override
			public void step(boolean finer) {
				level.step(finer);
			}

			@Override
			public void automatic() {
				level.automatic();
			}
		};
		canvas = new PictureCanvas(sash, levels);
		level = new LevelPanel(sash);
		sash.setWeights(78, 22);
		canvas.addListener(SWT.Resize, e -> draw());

		makeJobs();
		makeActions();
		session().addListener(followSession);
	}

	private void makeJobs() {
		describing = new LatestResult<>("Aggregate", canvas, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected Description compute(Description.Input input, Progress progress) throws MemtraceException {
				return Description.compute(input, progress);
			}

			@Override
			protected void show(Description.Input input, Description result) {
				description = result;
				bar.error(null);
				level.setDescription(result);
				draw();
				refining.submit(result);
			}

			@Override
			protected void failed(Description.Input input, String message) {
				bar.error(message);
			}

			@Override
			protected void progress(String step, double fraction) {
				bar.busy(true, step, fraction);
			}

			@Override
			protected void busy(boolean busy) {
				bar.busy(busy, "", -1);
			}
		};
		refining = new LatestResult<>("Find all levels", canvas, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected Description compute(Description input, Progress progress) throws CancelledException {
				input.refine(progress);
				return input;
			}

			@Override
			protected void show(Description input, Description result) {
				if (description == result) {
					level.refresh();
				}
			}
		};
		drawing = new LatestResult<>("Draw", canvas, LatestResult.Policy.KEEP_UP) {
			@Override
			protected ShownPicture compute(ShownPicture.Input input, Progress progress) throws CancelledException {
				return ShownPicture.compute(input);
			}

			@Override
			protected void show(ShownPicture.Input input, ShownPicture result) {
				if (trace() == null || input.description().input().trace() != trace()) {
					return;
				}
				canvas.setPicture(result);
				level.setPicture(result);
				Partition partition = result.partition();
				status(new PictureStatus(true, input.p(), partition.blockCount(), partition.lossPercent(),
						partition.reductionPercent()));
			}

			@Override
			protected void failed(ShownPicture.Input input, String message) {
				bar.error(message);
			}
		};
	}

	private void makeActions() {
		navigation = new NavigationActions();
		IToolBarManager tools = getViewSite().getActionBars().getToolBarManager();
		navigation.fill(tools);
	}

	@Override
	protected void stateChanged(ViewState old, ViewState now) {
		if (now.sameModel(old)) {
			draw();
		} else {
			describe();
			canvas.redraw();
		}
		bar.update(trace());
	}

	@Override
	protected void markChanged(int producer) {
		canvas.redraw();
	}

	@Override
	protected void coloursChanged() {
		draw();
	}

	@Override
	protected void traceShown(OpenTrace now) {
		navigation.follow(now);
		description = null;
		describing.cancel();
		refining.cancel();
		drawing.cancel();
		canvas.setSelection(now == null ? null : now.selection());
		level.setSelection(now == null ? null : now.selection());
		bar.update(now);
		bar.error(null);
		layout.topControl = now == null ? welcome : pictureArea;
		stack.layout();
		if (now != null) {
			describe();
			if (canvas.getDisplay().getActiveShell() == canvas.getShell()) {
				canvas.setFocus(); // but never away from a dialog
			}
		} else {
			welcome.refresh();
		}
	}

	@Override
	protected Snapshot snapshot() {
		ShownPicture shown = canvas.picture();
		return trace() == null || shown == null ? null : shown.snapshot();
	}

	/** The model is no longer that of the state. */
	private void describe() {
		if (trace() != null) {
			refining.cancel();
			describing.submit(new Description.Input(trace(), trace().selection().state(), slices, metric));
		}
	}

	/** Only p or the size changed. */
	private void draw() {
		if (trace() == null || description == null) {
			return;
		}
		ViewState state = trace().selection().state();
		level.refresh();
		if (!state.sameModel(description.input().state())) {
			return; // a new description is under way and will draw
		}
		Point size = canvas.getSize();
		if (size.x > 50 && size.y > 50) {
			drawing.submit(new ShownPicture.Input(description, state, size.x, size.y, FONT_PIXELS,
					ScenePainter.palette(canvas)));
		}
	}

	@Override
	public void setFocus() {
		if (layout.topControl == pictureArea) {
			if (canvas.getDisplay().getActiveShell() == canvas.getShell()) {
				canvas.setFocus(); // but never away from a dialog
			}
		} else {
			welcome.setFocus();
		}
	}

	@Override
	public void dispose() {
		if (canvas != null) {
			session().removeListener(followSession);
			navigation.dispose();
			describing.cancel();
			refining.cancel();
			drawing.cancel();
		}
		super.dispose();
	}

	PictureCanvas canvas() {
		return canvas;
	}

	LevelPanel level() {
		return level;
	}

	PictureBar bar() {
		return bar;
	}

	/** Whether the picture is that of the current state. */
	@Override
	protected boolean isSettled() {
		return !describing.isBusy() && !drawing.isBusy() && (trace() == null || canvas.picture() != null
				&& canvas.picture().state().equals(trace().selection().state()));
	}
}
