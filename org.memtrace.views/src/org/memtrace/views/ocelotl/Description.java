// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.util.Locale;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.engine.AggregationOptions;
import org.memtrace.aggregation.engine.Aggregator;
import org.memtrace.aggregation.engine.InitialLevel;
import org.memtrace.aggregation.engine.PartLosses;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.engine.SignificantLevels;
import org.memtrace.aggregation.engine.TemporalAggregator;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.model.ModelSource;
import org.memtrace.analysis.machine.MachineSide;
import org.memtrace.analysis.machine.Sides;
import org.memtrace.analysis.overview.FirstTouchLayer;
import org.memtrace.analysis.overview.RowLayout;
import org.memtrace.analysis.overview.SharedPartitions;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.NoAnswerException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.EventCategory;
import org.memtrace.views.session.OpenTrace;

/**
 * Everything about one window, producer and viewpoint that does not depend on p: the microscopic model, prepared for
 * aggregation, and the levels of detail. It is made with few levels, enough for a first picture; {@link #refine} finds
 * all of them, which takes seconds when there are hundreds, while pictures for any p are already made by {@link #partition}.
 * Safe for all threads.
 */
final class Description {
	/** Height of a large picture, so that the model does not depend on the size of the window. */
	private static final double HEIGHT_PIXELS = 1000;
	/** Its font. */
	private static final double FONT_PIXELS = 12;
	/** What is lower in a picture of that height is not divided. */
	private static final double MIN_PIXELS = 2;

	/**
	 * What a description is made from.
	 *
	 * @param trace trace
	 * @param state p is ignored
	 * @param choice what is drawn
	 * @param models where models are kept
	 * @param height pixels of the picture: rows lower than 2 of them are not divided; 0: a large one, in which all rows have their height
	 */
	record Input(OpenTrace trace, ViewState state, Choice choice, Models models, double height) {
		Input(OpenTrace trace, ViewState state, Choice choice, Models models) {
			this(trace, state, choice, models, 0);
		}

		/** The accesses that pass the filters, or the events of a trace without accesses. */
		ModelSource source(Progress progress) throws MemtraceException {
			return trace.hasAccesses() ? new AccessModels(trace.accesses(state.filters(), progress)) : trace.events(state.filters(), progress);
		}

		/** What stands down and to the right; events have no machine. */
		Sides sides() {
			return trace.hasAccesses() ? choice.kind().sides() : Sides.MEMORY_TIME;
		}

		/** The values of a request, kept where they were made before. */
		MicroscopicModel model(ModelSource source, ModelRequest request, MachineSide machine, Progress progress) throws MemtraceException {
			return models.get(source, request, sides(), machine, !choice.kind().isOfTime(), progress);
		}

		/** The model for a viewpoint; a trace without accesses has one only. */
		ModelRequest request(ModelSource source, Dimension viewpoint) {
			boolean events = source instanceof EventTable;
			Metric metric = choice.metric();
			if (metric == null || (events ? !metric.ofEvents() : !metric.ofAccesses())) {
				metric = source instanceof EventTable table ? table.defaultMetric() : Metric.ACCESSES;
			}
			return new ModelRequest(events ? BasicDimensions.EVENT_TYPE
					: viewpoint, metric, choice.slices(), choice.slicing(), state.fromNs(), state.toNs(), state.producer(), null);
		}
	}

	private final Input input;
	private final NodeNames names;
	private final RowLayout rows;
	/** Null when memory is not divided. */
	private final PartLosses losses;
	/** Null when it is not shown. */
	private final FirstTouchLayer touches;
	/** Null when it is no side of the picture. */
	private final MachineSide machine;
	private final Aggregator aggregator;
	private volatile Choice choice;
	private volatile double automaticP;
	private final SharedPartitions partitions = new SharedPartitions();
	private volatile SignificantLevels levels;
	private volatile boolean complete;

	private Description(Input input, NodeNames names, RowLayout rows, PartLosses losses, FirstTouchLayer touches, MachineSide machine,
			Aggregator aggregator, SignificantLevels levels, SignificantLevels.Level automatic) {
		this.input = input;
		this.choice = input.choice();
		this.names = names;
		this.rows = rows;
		this.losses = losses;
		this.touches = touches;
		this.machine = machine;
		this.aggregator = aggregator;
		this.levels = levels;
		this.automaticP = automatic.p();
		partitions.put(automatic.p(), automatic.partition());
	}

	/** Builds the model, prepares it and finds the first levels. */
	static Description compute(Input in, Progress progress) throws MemtraceException {
		ModelSource source = in.source(progress);
		ModelRequest request = in.request(source, in.state().viewpoint());
		EventCategory needed = switch (request.metric().kind()) {
		case STATE_TIME, STATE_DURATION, STATE_MEAN -> EventCategory.STATE;
		case VARIABLE_MEAN -> EventCategory.VARIABLE;
		default -> null;
		};
		if (needed != null && source instanceof EventTable events && !events.has(needed)) {
			throw new MemtraceException("'" + in.trace().name() + "' has no " + needed.name().toLowerCase(Locale.ROOT)
					+ "s: choose what suits the trace");
		}
		Sides sides = in.sides();
		if (!sides.suits(request.metric())) {
			throw new NoAnswerException("The threads of each page are no sum for a CPU: count something else");
		}
		MachineSide machine = in.models().machine(in.trace(), source, in.state(), request, sides, progress);
		MicroscopicModel model = in.model(source, request, machine, progress);
		NodeNames names = sides.rowsAreMemory() ? new NodeNames(model.hierarchy(), in.trace().producers(), in.trace().structures())
				: machine.tree().names();
		RowLayout rows = in.choice().heights().layout(model.hierarchy(), names, in.choice().scale());
		double height = in.height() > 0 ? in.height() : Math.max(HEIGHT_PIXELS, rows.height(FONT_PIXELS));
		PartLosses losses = in.choice().kind().isOfTime() ? null : PartLosses.of(model, rows.largeSections(), in.choice().equalTypes());
		FirstTouchLayer touches = source instanceof AccessModels accesses && !in.choice().kind().isOfTime()
				&& sides == Sides.MEMORY_TIME && in.choice().firstTouch().in(request.viewpoint()) ? FirstTouchLayer.of(accesses.table(),
						progress) : null;
		Aggregator aggregator;
		if (in.choice().kind().isOfTime()) {
			aggregator = TemporalAggregator.prepare(model, progress);
		} else {
			AggregationOptions options = sides.options(model, rows, machine, MIN_PIXELS / height, AggregationOptions.DEFAULT_BUDGET_BYTES);
			aggregator = sides.prepare(model, machine, options.withEqualTypes(in.choice().equalTypes()), progress);
		}
		SignificantLevels.First first = SignificantLevels.first(aggregator, losses, progress);
		return new Description(in, names, rows, losses, touches, machine, aggregator, first.levels(), first.initial());
	}

	/** Finds all levels, on a thread of its own; pictures go first. For another choice of levels it may be called again. */
	void refine(Choice wanted, Progress progress) throws CancelledException {
		SignificantLevels all = complete && choice.sameLevels(wanted) ? levels
				: SignificantLevels.compute(aggregator, wanted.precision(), wanted.normalised(), partitions.polite(progress));
		if (wanted.initial() != InitialLevel.BALANCED) {
			automaticP = SignificantLevels.plainP(aggregator, all.levels().get(all.initial(wanted.initial())).p(),
					all.normalised());
		} else if (choice.initial() != InitialLevel.BALANCED) {
			automaticP = SignificantLevels.balanced(aggregator, losses, partitions.polite(progress)).p();
		}
		levels = all;
		choice = wanted;
		complete = true;
		aggregator.expectFew(); // the levels have their partitions
	}

	/** p on the axis of the levels, for a plain one. */
	double axisP(double p) {
		return levels.normalised() ? SignificantLevels.normalisedP(aggregator, p) : p;
	}

	/** The plain p for one on the axis of the levels. */
	double plainP(double axisP) {
		return SignificantLevels.plainP(aggregator, axisP, levels.normalised());
	}

	/** Best partition for a p. */
	Partition partition(double p) throws CancelledException {
		return partitions.get(p, () -> {
			SignificantLevels known = levels;
			boolean exact = complete && !known.normalised() && known == levels;
			return exact ? known.at(p).partition() : aggregator.partition(p, Progress.NONE);
		});
	}

	Input input() {
		return input;
	}

	/** What a person calls the nodes. */
	NodeNames names() {
		return names;
	}

	/** How high the rows are. */
	RowLayout rows() {
		return rows;
	}

	/** Losses of structures; null when memory is not divided. */
	PartLosses losses() {
		return losses;
	}

	/** First touches, null when they are not shown. */
	FirstTouchLayer firstTouches() {
		return touches;
	}

	/** The machine that is a side of the picture; null when none is. */
	MachineSide machine() {
		return machine;
	}

	/** The levels that the curves show. */
	Choice choice() {
		return choice;
	}

	MicroscopicModel model() {
		return aggregator.model();
	}

	/** The levels that are known so far. */
	SignificantLevels levels() {
		return levels;
	}

	/** Whether {@link #levels} are all. */
	boolean isComplete() {
		return complete;
	}

	/** The p that is shown: that of the user, or the automatic one. */
	double effectiveP(ViewState state) {
		return state.isAutomaticP() ? automaticP : state.p();
	}

	/** Index of the level in force. */
	int levelIndex(ViewState state) {
		return levels.indexAt(axisP(effectiveP(state)));
	}
}
