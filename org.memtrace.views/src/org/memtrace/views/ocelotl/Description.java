// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.util.LinkedHashMap;
import java.util.Map;

import org.memtrace.aggregation.AggregationOptions;
import org.memtrace.aggregation.Metric;
import org.memtrace.aggregation.MicroscopicModel;
import org.memtrace.aggregation.ModelRequest;
import org.memtrace.aggregation.Partition;
import org.memtrace.aggregation.SignificantLevels;
import org.memtrace.aggregation.SpatiotemporalAggregator;
import org.memtrace.analysis.NodeNames;
import org.memtrace.analysis.RowLayout;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.memtrace.views.OpenTrace;
import org.memtrace.views.state.ViewState;

/**
 * Everything about one window, producer and viewpoint that does not depend on p: the microscopic model, prepared for
 * aggregation, and the levels of detail. It is made with few levels, enough for a first picture; {@link #refine} finds
 * all of them, which takes seconds when there are hundreds, while pictures for any p are already made by {@link #partition}.
 * Safe for all threads.
 */
final class Description {
	/** Step of p of the first levels. */
	private static final double COARSE = 1 / 8.0;
	/** Height of a large picture, so that the model does not depend on the size of the window. */
	private static final double HEIGHT_PIXELS = 1000;
	/** What is lower in a picture of that height is not divided. */
	private static final double MIN_PIXELS = 2;
	/** Partitions kept for going to and fro. */
	private static final int MAX_CACHED = 64;

	/**
	 * What a description is made from.
	 *
	 * @param trace trace
	 * @param state p is ignored
	 * @param slices number of time slices
	 * @param metric what is counted
	 */
	record Input(OpenTrace trace, ViewState state, int slices, Metric metric) {
	}

	private final Input input;
	private final NodeNames names;
	private final RowLayout rows;
	private final SpatiotemporalAggregator aggregator;
	private final double automaticP;
	private final Map<Double, Partition> cache = new LinkedHashMap<>(MAX_CACHED, 0.75f, true) {
		private static final long serialVersionUID = 1L;

		@Override
		protected boolean removeEldestEntry(Map.Entry<Double, Partition> eldest) {
			return size() > MAX_CACHED;
		}
	};
	private volatile SignificantLevels levels;
	private volatile boolean complete;
	/** Pictures that wait for the aggregator: the search for levels lets them go first. */
	private int waiting;

	private Description(Input input, NodeNames names, RowLayout rows, SpatiotemporalAggregator aggregator,
			SignificantLevels levels, SignificantLevels.Level automatic) {
		this.input = input;
		this.names = names;
		this.rows = rows;
		this.aggregator = aggregator;
		this.levels = levels;
		this.automaticP = automatic.p();
		cache.put(automatic.p(), automatic.partition());
	}

	/** Builds the model, prepares it and finds the first levels. */
	static Description compute(Input in, Progress progress) throws CancelledException {
		ViewState s = in.state();
		ModelRequest request = new ModelRequest(s.viewpoint(), in.metric(), in.slices(), s.fromNs(), s.toNs(),
				s.producer(), null);
		MicroscopicModel model = in.trace().accesses(s.filters(), progress).model(request, progress);
		NodeNames names = new NodeNames(model.hierarchy(), in.trace().producers(), in.trace().structures());
		RowLayout rows = RowLayout.of(model.hierarchy(), names);
		AggregationOptions options = rows.aggregation(in.slices(), HEIGHT_PIXELS, MIN_PIXELS);
		SpatiotemporalAggregator aggregator = SpatiotemporalAggregator.prepare(model, options, progress);
		return new Description(in, names, rows, aggregator, SignificantLevels.compute(aggregator, COARSE, false, progress),
				SignificantLevels.balanced(aggregator, progress));
	}

	/** Finds all levels. May be called once, on a thread of its own; pictures go first. */
	void refine(Progress progress) throws CancelledException {
		levels = SignificantLevels.compute(aggregator, SignificantLevels.DEFAULT_THRESHOLD, false,
				new Polite(progress));
		complete = true;
	}

	/** Best partition for a p. */
	Partition partition(double p) throws CancelledException {
		synchronized (cache) {
			Partition known = cache.get(p);
			if (known != null) {
				return known;
			}
			waiting++;
		}
		try {
			Partition found = complete ? levels.at(p).partition() : aggregator.partition(p, Progress.NONE);
			synchronized (cache) {
				cache.put(p, found);
			}
			return found;
		} finally {
			synchronized (cache) {
				waiting--;
				cache.notifyAll();
			}
		}
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
		return levels.indexAt(effectiveP(state));
	}

	/** Lets pictures use the aggregator between two steps of the search. */
	private final class Polite implements Progress {
		private final Progress progress;

		Polite(Progress progress) {
			this.progress = progress;
		}

		@Override
		public void begin(String step, long total) {
			progress.begin(step, total);
		}

		@Override
		public void worked(long units) {
			progress.worked(units);
			synchronized (cache) {
				while (waiting > 0 && !progress.isCancelled()) {
					try {
						cache.wait(100);
					} catch (InterruptedException e) {
						Thread.currentThread().interrupt();
						return;
					}
				}
			}
		}

		@Override
		public boolean isCancelled() {
			return progress.isCancelled();
		}
	}
}
