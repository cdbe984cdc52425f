// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.density;

import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Label;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.scene.TitledScene;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.statistics.DensityModel;
import org.memtrace.analysis.statistics.DensityPicture;
import org.memtrace.analysis.statistics.Statistics.Sum;
import org.memtrace.model.CountUnit;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.WhenSeen;
import org.memtrace.views.view.Snapshot;
import org.memtrace.views.view.TraceView;

/** How much happens when, over the window that is shown: a histogram, stacked. A drag zooms, the wheel too. */
public final class DensityView extends TraceView {
	private Combo sums;
	private Combo stacks;
	private Label message;
	private DensityCanvas canvas;
	private WhenSeen load;
	private LatestResult<Input, DensityModel> loading;
	private List<Sum> sumChoices = List.of();
	/** What the choices are named after. */
	private CountUnit unit = CountUnit.RECORDS;
	private List<Dimension> stackChoices = List.of();
	private Sum sum = Sum.ACCESSES;
	/** Null for one series. */
	private Dimension stack = BasicDimensions.TYPE;
	private boolean ofEvents;
	private ViewState shownState;

	private record Input(OpenTrace trace, ViewState state, Sum sum, Dimension stack, int bins) {
	}

	@Override
	protected void createContents(Composite parent) {
		Composite area = new Composite(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(0, 0).applyTo(area);
		Composite bar = new Composite(area, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(3).margins(4, 2).applyTo(bar);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(bar);
		sums = new Combo(bar, SWT.READ_ONLY);
		sums.setToolTipText("What is counted");
		Accessibility.name(sums, "What is counted");
		sums.addListener(SWT.Selection, e -> choose(sumChoices.get(sums.getSelectionIndex()), stack));
		stacks = new Combo(bar, SWT.READ_ONLY);
		stacks.setToolTipText("Into what it is divided");
		Accessibility.name(stacks, "Into what it is divided");
		stacks.addListener(SWT.Selection, e -> choose(sum, stackChoices.get(stacks.getSelectionIndex())));
		message = new Label(bar, SWT.NONE);
		GridDataFactory.fillDefaults().grab(true, false).align(SWT.FILL, SWT.CENTER).applyTo(message);
		canvas = new DensityCanvas(area, parent, () -> load.request());
		GridDataFactory.fillDefaults().grab(true, true).applyTo(canvas);
		loading = new LatestResult<>("Density", canvas, LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.CAN_WAIT) {
			@Override
			protected DensityModel compute(Input in, Progress progress) throws MemtraceException {
				ViewState s = in.state();
				return in.trace().hasAccesses()
						? DensityModel.of(in.trace().accesses(s.filters(), progress), in.sum(), in.stack(), s.fromNs(), s.toNs(), s.producer(),
								in.bins(), progress)
						: DensityModel.of(in.trace().events(s.filters(), progress), in.stack(), s.fromNs(), s.toNs(), s.producer(),
								in.bins(), progress);
			}

			@Override
			protected void show(Input in, DensityModel result) {
				message.setText("");
				shownState = in.state();
				canvas.show(result, in.trace().selection());
			}

			@Override
			protected void failed(Input in, String text) {
				message.setText(text);
			}
		};
		load = new WhenSeen(canvas, this::load);
		canvas.addListener(SWT.Resize, e -> load.request());
		choices();
	}

	private void choices() {
		sumChoices = ofEvents ? List.of(Sum.EVENTS) : DensityModel.sumsOfAccesses();
		stackChoices = ofEvents ? DensityModel.stacksOfEvents() : DensityModel.stacksOf(sum);
		sums.setItems(sumChoices.stream().map(s -> s.label(unit)).toArray(String[]::new));
		stacks.setItems(stackChoices.stream().map(DensityModel::label).toArray(String[]::new));
		sums.select(Math.max(0, sumChoices.indexOf(sum)));
		stacks.select(Math.max(0, stackChoices.indexOf(stack)));
		sums.getParent().layout();
	}

	/** Counts something else, or divides it otherwise. */
	public void choose(Sum what, Dimension into) {
		boolean others = !ofEvents && !DensityModel.stacksOf(what).equals(stackChoices);
		sum = what;
		stack = into;
		if (others) {
			stack = DensityModel.stacksOf(what).contains(into) ? into : what == Sum.MEMORY ? BasicDimensions.NODE : BasicDimensions.TYPE;
			choices();
		}
		sums.select(sumChoices.indexOf(sum));
		stacks.select(stackChoices.indexOf(stack));
		load.request();
	}

	@Override
	protected void traceShown(OpenTrace now) {
		loading.cancel();
		shownState = null;
		canvas.setEmpty(now == null ? nothingShown("No trace is open") : "");
		canvas.show(null, null);
		boolean events = now != null && !now.hasAccesses();
		CountUnit before = unit;
		unit = now == null ? before : now.info().counts();
		if (events != ofEvents) {
			ofEvents = events;
			sum = events ? Sum.EVENTS : Sum.ACCESSES;
			stack = events ? BasicDimensions.EVENT_TYPE : BasicDimensions.TYPE;
			choices();
		} else if (unit != before) {
			choices();
		}
		load.request();
	}

	@Override
	protected void openingChanged() {
		canvas.setEmpty(nothingShown("No trace is open"));
	}

	@Override
	protected void stateChanged(ViewState old, ViewState now) {
		if (!now.sameAccesses(old)) {
			load.request();
		}
	}

	@Override
	protected void coloursChanged() {
		canvas.sceneChanged();
	}

	private void load() {
		if (trace() != null && canvas.getSize().x > 0) {
			loading.submit(new Input(trace(), trace().selection().state(), sum, stack, canvas.bins()));
		}
	}

	@Override
	protected Snapshot snapshot() {
		DensityModel model = canvas.model();
		ViewState s = shownState;
		if (model == null || s == null) {
			return null;
		}
		String title = trace().name() + " " + model.counted().toLowerCase(Locale.ROOT) + " over time";
		String warning = trace().lossWarning();
		return new Snapshot(title,
						(Palette palette, int width, int height) -> TitledScene.build(title, warning, Math.max(width, 320),
								Math.max(height, 180), palette, TextMeter.DEFAULT, 12,
								(w, h) -> DensityPicture.build(model, w, h, palette, TextMeter.DEFAULT, 12).scene()),
						model::toCsv,
						Map.of("trace", trace().name(), "sum", model.counted(), "stacked", DensityModel.label(stack), "bins", Integer.toString(model.bins()),
								"from_ns", Long.toString(s.fromNs()), "to_ns", Long.toString(s.toNs()), "producer",
								s.producer() < 0 ? "all" : trace().producers().name(s.producer()), "filters", s.filters().toJson()));
	}

	@Override
	protected boolean isSettled() {
		boolean seen = canvas.isVisible() && canvas.getSize().x > 0 && canvas.getSize().y > 0;
		return !load.isWaiting() && !loading.isBusy() && canvas.isAligned()
				&& (trace() == null || canvas.model() != null && (canvas.picture() != null || !seen));
	}

	/** For tests. */
	public DensityCanvas canvas() {
		return canvas;
	}

	/** For tests. */
	public DensityModel model() {
		return canvas.model();
	}

	@Override
	public void setFocus() {
		canvas.setFocus();
	}

	@Override
	public void dispose() {
		if (loading != null) {
			loading.cancel();
		}
		super.dispose();
	}
}
