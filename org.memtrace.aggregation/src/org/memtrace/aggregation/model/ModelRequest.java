// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.model;

import java.util.regex.Pattern;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.time.Slicing;

/**
 * Which microscopic model is wanted.
 *
 * @param viewpoint what the types are; a dimension that can colour, or {@link BasicDimensions#EVENT_TYPE}
 * @param metric what the values count
 * @param slices T
 * @param slicing how long they are
 * @param fromNs start of the window
 * @param toNs end of the window
 * @param producer root of the subtree, or {@link #WHOLE_TREE}
 * @param types regular expression that must be found in the name of a type, null for all types
 */
public record ModelRequest(Dimension viewpoint, Metric metric, int slices, Slicing slicing, long fromNs, long toNs, int producer,
		Pattern types) {
	/** {@link #producer} for everything. */
	public static final int WHOLE_TREE = -1;
	/** Number of slices of a first picture. */
	public static final int DEFAULT_SLICES = 50;

	/** Uniform slices. */
	public ModelRequest(Dimension viewpoint, Metric metric, int slices, long fromNs, long toNs, int producer, Pattern types) {
		this(viewpoint, metric, slices, Slicing.UNIFORM, fromNs, toNs, producer, types);
	}

	/** The whole trace by sharing type, all accesses, in the default number of uniform slices. */
	public static ModelRequest whole(long startNs, long endNs) {
		return new ModelRequest(BasicDimensions.TYPE, Metric.ACCESSES, DEFAULT_SLICES, startNs, endNs, WHOLE_TREE, null);
	}

	/** What a person sees first of a trace: the whole by sharing type in slices that are short where much happens. */
	public static ModelRequest firstPicture(long startNs, long endNs) {
		return whole(startNs, endNs).withSlicing(Slicing.ADAPTIVE);
	}

	public ModelRequest withViewpoint(Dimension v) {
		return new ModelRequest(v, metric, slices, slicing, fromNs, toNs, producer, types);
	}

	public ModelRequest withMetric(Metric m) {
		return new ModelRequest(viewpoint, m, slices, slicing, fromNs, toNs, producer, types);
	}

	public ModelRequest withSlices(int count) {
		return new ModelRequest(viewpoint, metric, count, slicing, fromNs, toNs, producer, types);
	}

	public ModelRequest withSlicing(Slicing s) {
		return new ModelRequest(viewpoint, metric, slices, s, fromNs, toNs, producer, types);
	}

	public ModelRequest withWindow(long from, long to) {
		return new ModelRequest(viewpoint, metric, slices, slicing, from, to, producer, types);
	}

	public ModelRequest withProducer(int id) {
		return new ModelRequest(viewpoint, metric, slices, slicing, fromNs, toNs, id, types);
	}

	public ModelRequest withTypes(Pattern pattern) {
		return new ModelRequest(viewpoint, metric, slices, slicing, fromNs, toNs, producer, pattern);
	}
}
