// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.profile;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.memtrace.aggregation.events.EventTable;
import org.memtrace.aggregation.events.StateTimes;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.tree.ProducerTree;

/**
 * Where the producers of a trace spend the time of a window, by region: a region is a type of states, an execution is one state. Each
 * instant of a producer belongs to the innermost of the states that it is in, so that exclusive times and the time in no state are the
 * whole (spec/systems.md §3.1). Immutable.
 */
public final class Profile {
	/** What has a table of its own. */
	public enum By {
		/** Each producer that has states. */
		THREAD,
		/** The producers below one parent. */
		PROCESS,
		/** All. */
		ALL;

		public String id() {
			return name().toLowerCase(Locale.ROOT);
		}

		/** @param id one of the names in small letters */
		public static By byId(String id) {
			return valueOf(id.toUpperCase(Locale.ROOT));
		}
	}

	/** What rows are ordered by: numbers from large to small, names from A to Z. Within a calling context those of one parent are ordered. */
	public enum Order {
		EXCLUSIVE(Comparator.comparingLong((Row r) -> -r.exclusiveNs())),
		INCLUSIVE(Comparator.comparingLong((Row r) -> -r.inclusiveNs())),
		COUNT(Comparator.comparingLong((Row r) -> -r.count())),
		MEAN(Comparator.comparingDouble((Row r) -> -r.meanNs())),
		MAX(Comparator.comparingLong((Row r) -> -r.maxNs())),
		SCI(Comparator.comparingDouble((Row r) -> Double.isNaN(r.sci()) ? 1 : -r.sci())),
		LOST(Comparator.comparingDouble((Row r) -> Double.isNaN(r.lostNs()) ? 1 : -r.lostNs())),
		REGION(Comparator.comparing(Row::region));

		private final Comparator<Row> comparator;

		Order(Comparator<Row> comparator) {
			this.comparator = comparator.thenComparingLong(r -> -r.exclusiveNs()).thenComparing(Row::region);
		}

		public String id() {
			return name().toLowerCase(Locale.ROOT);
		}

		/** @param id one of the names in small letters */
		public static Order byId(String id) {
			return valueOf(id.toUpperCase(Locale.ROOT));
		}
	}

	/**
	 * A region, or a region in a calling context. Durations of executions are exclusive ones: what of the state is innermost.
	 *
	 * @param around the row of the region around it, null at the top and in a flat profile
	 * @param region its name
	 * @param type index into the names of types of the table
	 * @param count executions that overlap the window
	 * @param inclusiveNs time in it or in what it contains; of a region that contains itself each instant counts once
	 * @param exclusiveNs time in it in which it is the innermost
	 * @param share exclusive time of the time of the group, 0 to 1
	 * @param sci share of the exclusive time above the reference duration, NaN for fewer than {@link #LEAST_EXECUTIONS} executions
	 * @param lostNs that time, NaN likewise
	 * @param exact whether quantiles, SCI and what is lost are exact, else within 1 % of the duration
	 */
	public record Row(Row around, String region, int type, long count, long inclusiveNs, long exclusiveNs, double share, long minNs,
			double p10Ns, double medianNs, double meanNs, long maxNs, double sci, double lostNs, boolean exact) {
		/** Number of regions around it. */
		public int depth() {
			int depth = 0;
			for (Row r = around; r != null; r = r.around) {
				depth++;
			}
			return depth;
		}

		/** The regions around it and its own name, outermost first. */
		public List<String> path() {
			List<String> path = new ArrayList<>();
			for (Row r = this; r != null; r = r.around) {
				path.add(r.region);
			}
			return path.reversed();
		}
	}

	/**
	 * A table.
	 *
	 * @param name of the producer, its parent, or {@code all}
	 * @param producer its number, -1 for all
	 * @param producers how many with states are in it
	 * @param timeNs length of the window times the producers: the sum of the exclusive times and {@code inNoneNs}
	 * @param rows ordered; in a calling context each behind the one that it is in
	 */
	public record Group(String name, int producer, int producers, long timeNs, long inNoneNs, List<Row> rows) {
	}

	/**
	 * What is asked.
	 *
	 * @param contexts whether the same region in another calling context is another row
	 * @param producer root of the subtree, or -1 for all
	 * @param reference quantile of the durations that stands for an execution without interference, 0 to 1
	 */
	public record Request(By by, boolean contexts, Order order, long fromNs, long toNs, int producer, double reference) {
	}

	/** SCI of fewer executions is not told. */
	public static final int LEAST_EXECUTIONS = 10;
	/** Quantile that {@link Row#sci} refers to unless another one is asked for. */
	public static final double USUAL_REFERENCE = 0.1;
	private static final int CHECK_EVERY = 0x3ff;
	private static final int TOP = -1;

	private final TraceInfo info;
	private final Request request;
	private final List<Group> groups;
	private final int producers;
	private final List<String> regions;

	private Profile(EventTable table, Request request, List<Group> groups, int producers) {
		this.info = table.info();
		this.regions = table.typeNames();
		this.request = request;
		this.groups = List.copyOf(groups);
		this.producers = producers;
	}

	/** Looks at all states of a table that overlap the window; times within it. */
	public static Profile of(EventTable table, Request request, Progress progress) throws CancelledException {
		ProducerTree tree = table.producers();
		int from = Math.max(0, request.producer());
		int to = request.producer() < 0 ? tree.size() : tree.subtreeEnd(request.producer());
		Map<Integer, Work> works = new LinkedHashMap<>();
		Work work = null;
		int producers = 0;
		progress.begin("Profile by " + request.by().id(), to - from);
		for (int id = from; id < to; id++) {
			if ((id & CHECK_EVERY) == 0) {
				progress.check();
				progress.worked(CHECK_EVERY + 1);
			}
			int key = switch (request.by()) {
			case THREAD -> id;
			case PROCESS -> tree.parent(id) < 0 ? id : tree.parent(id);
			case ALL -> TOP;
			};
			int[] rows = rows(table, id, request);
			if (rows.length > 0) {
				work = works.computeIfAbsent(key, k -> new Work(table, request));
				work.add(id, rows, progress);
				producers++;
			}
		}
		List<Group> groups = new ArrayList<>();
		works.forEach((key, w) -> groups.add(w.group(key, key == TOP ? "all" : tree.name(key))));
		return new Profile(table, request, groups, producers);
	}

	/** The states of a producer in the window, by begin; of those that begin together the longer ones first. */
	private static int[] rows(EventTable table, int producer, Request request) {
		int[] rows = new int[16];
		int n = 0;
		for (int row = table.rowFrom(producer); row < table.rowTo(producer) && table.start(row) < request.toNs(); row++) {
			if (!table.is(row, EventCategory.STATE) || table.end(row) <= request.fromNs() && table.start(row) < request.fromNs()) {
				continue;
			}
			if (n == rows.length) {
				rows = Arrays.copyOf(rows, 2 * n);
			}
			StateTimes.put(table, rows, n++, row);
		}
		return Arrays.copyOf(rows, n);
	}

	/** A group while its producers are looked at. */
	private static final class Work {
		private final EventTable table;
		private final Request request;
		private final StateTimes times;
		/** Number of a node by its parent and its type. */
		private final Map<Long, Integer> numbers = new HashMap<>();
		private final List<Node> nodes = new ArrayList<>();
		private int producers;
		private long inNone;

		Work(EventTable table, Request request) {
			this.table = table;
			this.request = request;
			times = new StateTimes(table, request.fromNs(), request.toNs());
		}

		void add(int producer, int[] rows, Progress progress) throws CancelledException {
			int first = table.rowFrom(producer);
			long[] own = new long[table.rowTo(producer) - first];
			inNone += times.of(producer, (row, from, to) -> own[row - first] += to - from);
			producers++;
			nodes.forEach(n -> n.coveredTo = Long.MIN_VALUE);
			int[] open = new int[16];
			int[] nodeOf = new int[16];
			int depth = 0;
			for (int k = 0; k < rows.length; k++) {
				if ((k & 0xffff) == 0) {
					progress.check();
				}
				int row = rows[k];
				while (depth > 0 && table.end(open[depth - 1]) <= table.start(row)) {
					depth--;
				}
				if (depth == open.length) {
					open = Arrays.copyOf(open, 2 * depth);
					nodeOf = Arrays.copyOf(nodeOf, 2 * depth);
				}
				int node = number(request.contexts() && depth > 0 ? nodeOf[depth - 1] : TOP, table.type(row));
				open[depth] = row;
				nodeOf[depth++] = node;
				nodes.get(node).execution(Math.max(request.fromNs(), table.start(row)), Math.min(request.toNs(), table.end(row)), own[row - first]);
			}
		}

		private int number(int parent, int type) {
			Integer known = numbers.get((long) parent << 32 | type);
			if (known != null) {
				return known;
			}
			nodes.add(new Node(parent, type));
			numbers.put((long) parent << 32 | type, nodes.size() - 1);
			return nodes.size() - 1;
		}

		Group group(int producer, String name) {
			long time = (request.toNs() - request.fromNs()) * producers;
			List<Row> made = new ArrayList<>();
			Map<Integer, List<Integer>> children = new HashMap<>();
			for (int n = 0; n < nodes.size(); n++) {
				// a parent has a smaller number than what is in it
				Node node = nodes.get(n);
				made.add(node.row(table, node.parent == TOP ? null : made.get(node.parent), time, request.reference()));
				children.computeIfAbsent(node.parent, p -> new ArrayList<>()).add(n);
			}
			Comparator<Row> order = request.order().comparator;
			children.values().forEach(list -> list.sort((a, b) -> order.compare(made.get(a), made.get(b))));
			List<Row> rows = new ArrayList<>();
			collect(TOP, children, made, rows);
			return new Group(name, producer, producers, time, inNone, List.copyOf(rows));
		}

		/** Contexts can be as deep as the program called: no recursion. */
		private static void collect(int top, Map<Integer, List<Integer>> children, List<Row> made, List<Row> rows) {
			List<Integer> waiting = new ArrayList<>(children.getOrDefault(top, List.of()).reversed());
			while (!waiting.isEmpty()) {
				int n = waiting.removeLast();
				rows.add(made.get(n));
				waiting.addAll(children.getOrDefault(n, List.of()).reversed());
			}
		}
	}

	/** A region in a calling context. */
	private static final class Node {
		private final int parent;
		private final int type;
		private final Durations durations = new Durations();
		private long inclusive;
		/** In the producer that is looked at. */
		private long coveredTo = Long.MIN_VALUE;

		Node(int parent, int type) {
			this.parent = parent;
			this.type = type;
		}

		void execution(long from, long to, long own) {
			durations.add(own);
			inclusive += Math.max(0, to - Math.max(from, coveredTo));
			coveredTo = Math.max(coveredTo, to);
		}

		Row row(EventTable table, Row around, long time, double reference) {
			boolean enough = durations.count() >= LEAST_EXECUTIONS;
			double lost = enough ? durations.above(durations.quantile(reference)) : Double.NaN;
			return new Row(around, table.typeNames().get(type), type, durations.count(), inclusive, durations.sum(),
					time == 0 ? 0 : (double) durations.sum() / time, durations.least(), durations.quantile(0.1), durations.quantile(0.5),
					(double) durations.sum() / durations.count(), durations.most(), durations.sum() == 0 && enough ? 0 : lost / durations.sum(),
					lost, durations.isExact());
		}
	}

	public TraceInfo info() {
		return info;
	}

	public Request request() {
		return request;
	}

	/** In the order of the tree of producers; none when the trace has no states in the window. */
	public List<Group> groups() {
		return groups;
	}

	/** Names of the types of the trace; {@link Row#type} is an index into it. */
	public List<String> regions() {
		return regions;
	}

	/** Producers with states in the window. */
	public int producers() {
		return producers;
	}
}
