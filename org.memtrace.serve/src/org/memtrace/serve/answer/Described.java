// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve.answer;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.engine.AggregationOptions;
import org.memtrace.aggregation.engine.Aggregator;
import org.memtrace.aggregation.engine.PartLosses;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.engine.SignificantLevels;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.model.ModelSource;
import org.memtrace.aggregation.time.Slicing;
import org.memtrace.analysis.machine.Sides;
import org.memtrace.analysis.overview.FirstTouchLayer;
import org.memtrace.analysis.overview.RowHeights;
import org.memtrace.analysis.overview.RowLayout;
import org.memtrace.analysis.overview.SharedPartitions;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/**
 * Everything about one window, producer, viewpoint and set of filters that does not depend on p and on the size of the picture. Safe for
 * all threads.
 */
final class Described {
	/** Height of a large picture: what is lower than two pixels of it is not divided. */
	private static final double HEIGHT_PIXELS = 1000;
	private static final double FONT_PIXELS = 12;
	private static final double MIN_PIXELS = 2;

	private final NodeNames names;
	private final RowLayout rows;
	private final PartLosses losses;
	private final FirstTouchLayer touches;
	private final Aggregator aggregator;
	private final double automaticP;
	private final SharedPartitions partitions = new SharedPartitions();
	private volatile SignificantLevels levels;
	private volatile boolean complete;

	private Described(NodeNames names, RowLayout rows, PartLosses losses, FirstTouchLayer touches, Aggregator aggregator,
			SignificantLevels.First first) {
		this.names = names;
		this.rows = rows;
		this.losses = losses;
		this.touches = touches;
		this.aggregator = aggregator;
		levels = first.levels();
		automaticP = first.initial().p();
		partitions.put(automaticP, first.initial().partition());
	}

	/** Makes the model and prepares it; p of the state is ignored. Takes as long as reading the accesses. */
	static Described of(ServedTrace trace, ViewState s, Progress progress) throws MemtraceException {
		ModelSource source = trace.source(s.filters(), progress);
		ModelRequest request = new ModelRequest(source instanceof EventTable ? BasicDimensions.EVENT_TYPE : s.viewpoint(),
				source instanceof EventTable events ? events.defaultMetric() : Metric.ACCESSES, ModelRequest.DEFAULT_SLICES, Slicing.ADAPTIVE,
				s.fromNs(), s.toNs(), s.producer(), null);
		Hierarchy pages = source.hierarchy(s.producer(), progress);
		MicroscopicModel model = Sides.MEMORY_TIME.model(source, request, source instanceof AccessModels ? pages.grouped(source.producers())
				: pages, null, progress);
		NodeNames names = new NodeNames(model.hierarchy(), trace.producers(), trace.structures());
		RowLayout rows = RowHeights.READABLE.layout(model.hierarchy(), names, 1);
		PartLosses losses = PartLosses.of(model, rows.largeSections(), false);
		FirstTouchLayer touches = source instanceof AccessModels accesses && FirstTouchLayer.Shown.AUTO.in(request.viewpoint())
				? FirstTouchLayer.of(accesses.table(), progress) : null;
		AggregationOptions options = Sides.MEMORY_TIME.options(model, rows, null,
				MIN_PIXELS / Math.max(HEIGHT_PIXELS, rows.height(FONT_PIXELS)), AggregationOptions.DEFAULT_BUDGET_BYTES);
		Aggregator aggregator = Sides.MEMORY_TIME.prepare(model, null, options, progress);
		return new Described(names, rows, losses, touches, aggregator, SignificantLevels.first(aggregator, losses, progress));
	}

	NodeNames names() {
		return names;
	}

	RowLayout rows() {
		return rows;
	}

	PartLosses losses() {
		return losses;
	}

	/** Null when they are not shown. */
	FirstTouchLayer firstTouches() {
		return touches;
	}

	MicroscopicModel model() {
		return aggregator.model();
	}

	/** The p that is shown: that which was asked for, or the automatic one. */
	double p(ViewState s) {
		return s.isAutomaticP() ? automaticP : s.p();
	}

	/** The p that the picture chooses. */
	double automaticP() {
		return automaticP;
	}

	/** The best partition at p. */
	Partition partition(double p, Progress progress) throws CancelledException {
		return partitions.get(p, () -> complete ? levels.at(p).partition() : aggregator.partition(p, progress));
	}

	/** Finds all levels, once; pictures go first. */
	synchronized void refine(Progress progress) throws CancelledException {
		if (!complete) {
			levels = SignificantLevels.compute(aggregator, SignificantLevels.DEFAULT_THRESHOLD, false, partitions.polite(progress));
			complete = true;
			aggregator.expectFew();
		}
	}

	/** The levels that are known so far. */
	SignificantLevels levels() {
		return levels;
	}

	/** Whether these are all. */
	boolean isComplete() {
		return complete;
	}
}
