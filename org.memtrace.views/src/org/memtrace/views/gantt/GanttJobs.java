// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.gantt;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

import org.memtrace.analysis.gantt.GanttDetails;
import org.memtrace.analysis.gantt.GanttModel;
import org.memtrace.analysis.gantt.GanttPicture;
import org.memtrace.analysis.gantt.GanttPresenter.Records;
import org.memtrace.analysis.gantt.GanttPresenter.Search;
import org.memtrace.analysis.gantt.GanttPresenter.Step;
import org.memtrace.analysis.gantt.GanttPresenter;
import org.memtrace.analysis.gantt.GanttRows;
import org.memtrace.analysis.gantt.GanttSearch;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.paint.AlignedPlot;
import org.memtrace.views.session.OpenTrace;

/** What a Gantt chart does in the background: read, arrange, draw, describe, search. Made and used by the display thread. */
final class GanttJobs {
	record Hovered(OpenTrace trace, ShownGantt shown, GanttPicture.Hit hit, boolean zoom) {
	}

	private final GanttCanvas canvas;
	private final GanttBar bar;
	private final GanttPresenter presenter;
	private final AlignedPlot aligned;
	private final Supplier<OpenTrace> trace;
	LatestResult<Records, GanttModel> loading;
	LatestResult<GanttRows.Request, GanttRows> arranging;
	LatestResult<ShownGantt.Input, ShownGantt> drawing;
	LatestResult<Hovered, GanttDetails> describing;
	LatestResult<Hovered, GanttDetails> choosing;
	LatestResult<Step, Optional<GanttModel.Piece>> stepping;
	LatestResult<Search, Optional<GanttSearch.Found>> searching;

	/** @param trace what the view shows */
	GanttJobs(GanttCanvas canvas, GanttBar bar, GanttPresenter presenter, AlignedPlot aligned, Supplier<OpenTrace> trace) {
		this.canvas = canvas;
		this.bar = bar;
		this.presenter = presenter;
		this.aligned = aligned;
		this.trace = trace;
		makeJobs();
		makeSearches();
	}

	/** Whether something is under way that changes what is seen. */
	boolean arePending() {
		return loading.isBusy() || arranging.isBusy() || drawing.isBusy() || choosing.isBusy() || stepping.isBusy() || searching.isBusy();
	}

	void cancel() {
		for (LatestResult<?, ?> job : List.of(loading, arranging, drawing, describing, choosing, stepping, searching)) {
			job.cancel();
		}
	}

	private abstract class Work<I, R> extends LatestResult<I, R> {
		Work(String name, LatestResult.Policy policy) {
			this(name, policy, LatestResult.Priority.NORMAL);
		}

		Work(String name, LatestResult.Policy policy, LatestResult.Priority priority) {
			super(name, canvas, policy, priority);
		}

		@Override
		protected void failed(I input, String message) {
			bar.info(message, true);
		}

		@Override
		protected void progress(String step, double fraction) {
			bar.busy(true, step, fraction);
		}

		@Override
		protected void busy(boolean busy) {
			bar.busy(loading.isBusy() || arranging.isBusy() || drawing.isBusy() || searching.isBusy() || stepping.isBusy(), "", -1);
		}
	}

	private void makeJobs() {
		loading = new Work<>("Read records", LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.CAN_WAIT) {
			@Override
			protected GanttModel compute(Records input, Progress progress) throws MemtraceException {
				return input.read(progress);
			}

			@Override
			protected void show(Records input, GanttModel result) {
				presenter.recordsRead(input, result);
			}
		};
		arranging = new Work<>("Arrange rows", LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected GanttRows compute(GanttRows.Request input, Progress progress) throws CancelledException {
				return GanttRows.of(input, progress);
			}

			@Override
			protected void show(GanttRows.Request input, GanttRows result) {
				presenter.rowsArranged(result);
			}
		};
		drawing = new Work<>("Draw Gantt chart", LatestResult.Policy.KEEP_UP) {
			@Override
			protected ShownGantt compute(ShownGantt.Input input, Progress progress) throws MemtraceException {
				return ShownGantt.draw(input, progress);
			}

			@Override
			protected void show(ShownGantt.Input input, ShownGantt result) {
				if (input.trace() == trace.get() && input.model() == presenter.model()) {
					canvas.setPicture(result);
					aligned.needs(result.picture().margins());
					presenter.drawn(result.picture());
				} else {
					result.dispose();
				}
			}

			@Override
			protected void dropped(ShownGantt result) {
				result.dispose();
			}
		};
	}

	private void makeSearches() {
		describing = new LatestResult<>("Describe", canvas, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected GanttDetails compute(Hovered input, Progress progress) throws MemtraceException {
				return details(input, progress);
			}

			@Override
			protected void show(Hovered input, GanttDetails result) {
				canvas.tip(String.join("\n", result.lines()));
			}
		};
		choosing = new LatestResult<>("Find record", canvas, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected GanttDetails compute(Hovered input, Progress progress) throws MemtraceException {
				return details(input, progress);
			}

			@Override
			protected void show(Hovered input, GanttDetails result) {
				if (input.trace() == trace.get()) {
					presenter.chosen(input.shown().input().rows(), result, input.zoom());
				}
			}
		};
		stepping = new Work<>("Find record", LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected Optional<GanttModel.Piece> compute(Step input, Progress progress) throws MemtraceException {
				return Optional.ofNullable(input.find(progress));
			}

			@Override
			protected void show(Step input, Optional<GanttModel.Piece> result) {
				presenter.stepped(input, result.orElse(null));
			}
		};
		searching = new Work<>("Search rows", LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected Optional<GanttSearch.Found> compute(Search input, Progress progress) throws MemtraceException {
				return Optional.ofNullable(input.find(progress));
			}

			@Override
			protected void show(Search input, Optional<GanttSearch.Found> result) {
				presenter.found(input, result.orElse(null));
			}
		};
	}

	private static GanttDetails details(Hovered in, Progress progress) throws MemtraceException {
		try (OpenTrace.Lease lease = in.trace().lease()) {
			return GanttDetails.of(in.shown().picture(), in.hit(), in.trace().structures(), lease.store(), progress);
		}
	}
}
