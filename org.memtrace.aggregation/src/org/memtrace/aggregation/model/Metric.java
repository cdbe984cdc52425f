// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.model;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.memtrace.aggregation.AccessMetric;

/**
 * What a value of the microscopic model counts. There is one object for each metric; adding one of memory traces is an
 * {@link AccessMetric}. Immutable, so safe for all threads. docs/extend/metric.md
 */
public final class Metric {
	/** Which of the metrics one is, for code that treats each otherwise. */
	public enum Kind {
		ACCESSES, READS, WRITES, EVENTS, THREADS, STATE_TIME, STATE_DURATION, STATE_MEAN, VARIABLE_MEAN,
		/** One of others, by an {@link AccessMetric}. */
		WEIGHED
	}

	private enum Source {
		ACCESSES, EVENTS, BOTH
	}

	/** Recorded reads and writes; those of an interval are spread over the slices it overlaps, in proportion. */
	public static final Metric ACCESSES = new Metric(Kind.ACCESSES, "accesses", Source.ACCESSES, "accesses");
	/** Recorded reads, spread likewise. */
	public static final Metric READS = new Metric(Kind.READS, "reads", Source.ACCESSES, "reads");
	/** Recorded writes, spread likewise. */
	public static final Metric WRITES = new Metric(Kind.WRITES, "writes", Source.ACCESSES, "writes");
	/** Access records (page, thread, interval) or events, each counted once in the slice in which it starts. */
	public static final Metric EVENTS = new Metric(Kind.EVENTS, "events", Source.BOTH, "records", "events");
	/** Number of distinct threads that use the page in the slice. Sums over pages or slices are thread uses. */
	public static final Metric THREADS = new Metric(Kind.THREADS, "threads", Source.ACCESSES, "thread uses");
	/** Time in states; of states that nest each instant counts for the innermost (event traces). */
	public static final Metric STATE_TIME = new Metric(Kind.STATE_TIME, "state-time", Source.EVENTS, "ns in states",
			"time in innermost states");
	/** Time in states, summed over the states that overlap a slice, so that nested states count each (event traces). */
	public static final Metric STATE_DURATION = new Metric(Kind.STATE_DURATION, "state-duration", Source.EVENTS, "ns in states",
			"time in states");
	/** That time divided by the number of states that overlap the slice (event traces). */
	public static final Metric STATE_MEAN = new Metric(Kind.STATE_MEAN, "state-mean", Source.EVENTS, "ns per state",
			"mean duration of states");
	/** Time-weighted mean of variables, 0 where they are not defined (event traces). */
	public static final Metric VARIABLE_MEAN = new Metric(Kind.VARIABLE_MEAN, "variable-mean", Source.EVENTS, "mean value",
			"mean of variables");

	/** A metric of accesses is a line here: {@code new Metric(new ItsClass())}. */
	private static final List<Metric> ALL = new CopyOnWriteArrayList<>(List.of(ACCESSES, READS, WRITES, EVENTS, THREADS, STATE_TIME,
			STATE_DURATION, STATE_MEAN, VARIABLE_MEAN));

	private final Kind kind;
	private final String id;
	private final Source source;
	private final String unit;
	private final String description;
	private final AccessMetric weight;

	private Metric(Kind kind, String id, Source source, String unit) {
		this(kind, id, source, unit, unit);
	}

	private Metric(Kind kind, String id, Source source, String unit, String description) {
		this(kind, id, source, unit, description, null);
	}

	private Metric(AccessMetric weight) {
		this(Kind.WEIGHED, weight.id(), Source.ACCESSES, weight.unit(), weight.description(), weight);
	}

	private Metric(Kind kind, String id, Source source, String unit, String description, AccessMetric weight) {
		this.kind = kind;
		this.id = id;
		this.source = source;
		this.unit = unit;
		this.description = description;
		this.weight = weight;
	}

	/**
	 * Offers a metric of others wherever the own ones are.
	 *
	 * @throws IllegalArgumentException when there is one with this id, or the id is no name for the command line
	 */
	public static void add(AccessMetric weight) {
		String id = weight.id();
		if (!id.matches("[a-z][a-z0-9-]*")) {
			throw new IllegalArgumentException("a metric cannot be called '" + id + "'");
		}
		synchronized (ALL) {
			if (byId(id) != null) {
				throw new IllegalArgumentException("there is a metric " + id + " already");
			}
			ALL.add(new Metric(weight));
		}
	}

	/** Takes a metric that was added back; pictures that use it keep it. */
	public static void remove(AccessMetric weight) {
		ALL.removeIf(m -> m.weight == weight);
	}

	/** Takes a metric of others back. Nothing happens to a metric of memtrace itself. */
	public static void remove(Metric metric) {
		ALL.removeIf(m -> m == metric && m.kind == Kind.WEIGHED);
	}

	/** All metrics, those of others at the end. */
	public static Metric[] values() {
		return ALL.toArray(Metric[]::new);
	}

	/** Metric by name, or null. */
	public static Metric byId(String id) {
		for (Metric m : ALL) {
			if (m.id.equals(id)) {
				return m;
			}
		}
		return null;
	}

	/** What it is, for titles. */
	public String description() {
		return description;
	}

	/** What it is, for the help of the commands: more exact than {@link #description()}. */
	public String explanation() {
		return switch (kind) {
		case ACCESSES -> "reads and writes, spread over the slices that their interval overlaps";
		case READS -> "spread likewise";
		case WRITES -> "spread likewise";
		case EVENTS -> "records, where they start";
		case THREADS -> "distinct threads on a page in a slice";
		case STATE_TIME -> "time in states, of nested ones in the innermost";
		case STATE_DURATION -> "time in states, nested ones count each";
		case STATE_MEAN -> "mean duration of the states that overlap a slice";
		case VARIABLE_MEAN -> "mean of variables, weighted by time";
		case WEIGHED -> description;
		};
	}

	/** Name on the command line. */
	public String id() {
		return id;
	}

	/** Which one it is. */
	public Kind kind() {
		return kind;
	}

	/** What a record counts; null for the metrics of memtrace itself. */
	public AccessMetric weight() {
		return weight;
	}

	/** Whether memory traces have it. */
	public boolean ofAccesses() {
		return source != Source.EVENTS;
	}

	/** Whether it is defined for events by type. */
	public boolean ofEvents() {
		return source != Source.ACCESSES;
	}

	/** Whether values are means: those of a block are not the sums of its cells. */
	public boolean isMean() {
		return this == STATE_MEAN || this == VARIABLE_MEAN;
	}

	/** Whether the value of a slice is the sum of those of its parts: a steady program has twice of it in twice the time. */
	public boolean isAmount() {
		return !isMean() && this != THREADS;
	}

	/** Plural noun for axes and legends. */
	public String unit() {
		return unit;
	}

	/** The id. */
	@Override
	public String toString() {
		return id;
	}
}
