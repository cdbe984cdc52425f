// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/** The parts of a run that the program named: which thread was in which region when. Immutable. */
public final class Regions {
	/** Name of the note in the trace: a line for each region with image, task, begin, end and name, between tabs. */
	public static final String NOTE = "regions";
	public static final Regions NONE = new Regions(List.of());

	/**
	 * A time that a thread was in a region.
	 *
	 * @param image process image
	 * @param taskId id that the operating system gives the thread
	 * @param toNs its end, or the end of the trace when it did not end
	 */
	public record Region(int image, long taskId, String name, long fromNs, long toNs) {
		/** Whether a time is in it. */
		public boolean has(long ns) {
			return fromNs <= ns && ns < toNs;
		}
	}

	private final List<Region> all;

	private Regions(List<Region> regions) {
		all = regions.stream().sorted(Comparator.comparingLong(Region::fromNs).thenComparing(Region::toNs, Comparator.reverseOrder())).toList();
	}

	/** These and others. */
	public Regions with(Collection<Region> others) {
		return new Regions(Stream.concat(all.stream(), others.stream()).toList());
	}

	/** All of them by their begin, outer ones first. */
	public List<Region> all() {
		return all;
	}

	public boolean isEmpty() {
		return all.isEmpty();
	}

	/** Different names in the order of their first begin. */
	public List<String> names() {
		return all.stream().map(Region::name).distinct().toList();
	}

	/** The times of all regions of a name, ascending; those of several threads that overlap are one. */
	public List<Region> times(String name) {
		List<Region> times = new ArrayList<>();
		for (Region r : all) {
			if (!r.name.equals(name)) {
				continue;
			}
			Region last = times.isEmpty() ? null : times.get(times.size() - 1);
			if (last != null && r.fromNs < last.toNs) {
				times.set(times.size() - 1, new Region(last.image, last.taskId, name, last.fromNs, Math.max(last.toNs, r.toNs)));
			} else {
				times.add(r);
			}
		}
		return times;
	}

	/** Those that are in no other one of their thread. */
	public Regions outermost() {
		Map<Builder.Task, Long> until = new HashMap<>();
		List<Region> outer = new ArrayList<>();
		for (Region r : all) {
			Builder.Task task = new Builder.Task(r.image, r.taskId);
			if (r.fromNs >= until.getOrDefault(task, Long.MIN_VALUE)) {
				outer.add(r);
				until.put(task, r.toNs);
			}
		}
		return new Regions(outer);
	}

	/** Which region each of some threads is in, at any time: the innermost one. */
	public Innermost innermost(List<ThreadInfo> threads) {
		return new Innermost(threads, false);
	}

	/** All regions that each of some threads is in, at any time, as a path: {@link #inPath} of their names between slashes, outer first. */
	public Innermost paths(List<ThreadInfo> threads) {
		return new Innermost(threads, true);
	}

	/** A name as a part of a path: a slash in it is another character, U+2215. */
	public static String inPath(String name) {
		return name.replace('/', '\u2215');
	}

	/** The regions of threads: of those of the thread or, when it never was in one, of the first thread of its image that was. */
	public final class Innermost {
		/** Number of the name from each bound on, -1: none. */
		private record Line(long[] bound, int[] value) {
			static Line of(List<Region> regions, IntFunction<Function<String, Integer>> inside) {
				TreeSet<Long> cuts = new TreeSet<>();
				regions.forEach(r -> cuts.addAll(List.of(r.fromNs(), r.toNs())));
				long[] bound = cuts.stream().mapToLong(Long::longValue).toArray();
				int[] value = new int[bound.length];
				Arrays.fill(value, -1);
				// outer ones come first, and inner ones over them
				List<Region> order = new ArrayList<>(regions);
				order.sort(Comparator.comparingLong(Region::fromNs).thenComparing(Region::toNs, Comparator.reverseOrder()));
				for (Region r : order) {
					int from = Arrays.binarySearch(bound, r.fromNs());
					int to = Arrays.binarySearch(bound, r.toNs());
					for (int i = from; i < to; i++) {
						value[i] = inside.apply(value[i]).apply(r.name());
					}
				}
				return new Line(bound, value);
			}

			int at(long ns) {
				int i = Arrays.binarySearch(bound, ns);
				int at = i >= 0 ? i : -i - 2;
				return at < 0 ? -1 : value[at];
			}
		}

		private final Line[] ofThread;
		private final List<String> names = new ArrayList<>();
		private final Map<String, Integer> numbers = new HashMap<>();

		private Innermost(List<ThreadInfo> threads, boolean paths) {
			if (!paths) {
				Regions.this.names().forEach(this::number);
			}
			Map<String, List<Region>> byTask = new LinkedHashMap<>();
			Map<Integer, String> firstTask = new HashMap<>();
			for (Region r : all) {
				String task = r.image() + " " + r.taskId();
				byTask.computeIfAbsent(task, t -> new ArrayList<>()).add(r);
				firstTask.putIfAbsent(r.image(), task);
			}
			Map<String, Line> lines = new HashMap<>();
			byTask.forEach((task, list) -> lines.put(task, Line.of(list, outer -> name -> number(!paths ? name
					: outer < 0 ? inPath(name) : names.get(outer) + "/" + inPath(name)))));
			ofThread = new Line[threads.size()];
			for (int t = 0; t < ofThread.length; t++) {
				ThreadInfo thread = threads.get(t);
				Line own = lines.get(thread.image() + " " + thread.taskId());
				ofThread[t] = own != null ? own : lines.get(firstTask.get(thread.image()));
			}
		}

		private int number(String name) {
			return numbers.computeIfAbsent(name, n -> {
				names.add(n);
				return names.size() - 1;
			});
		}

		/** All names, or paths. */
		public List<String> names() {
			return Collections.unmodifiableList(names);
		}

		/**
		 * Number of the name in {@link #names()}, -1: in none.
		 *
		 * @param thread index in the list of threads; another one is in none
		 */
		public int at(int thread, long ns) {
			Line line = thread < 0 || thread >= ofThread.length ? null : ofThread[thread];
			return line == null ? -1 : line.at(ns);
		}
	}

	/** As it is stored. */
	public byte[] toBytes() {
		StringBuilder b = new StringBuilder();
		for (Region r : all) {
			b.append(r.image).append('\t').append(r.taskId).append('\t').append(r.fromNs).append('\t').append(r.toNs).append('\t')
					.append(r.name.replaceAll("[\t\r\n]", " ")).append('\n');
		}
		return b.toString().getBytes(StandardCharsets.UTF_8);
	}

	/** Reads what was stored; a line that is damaged is left out. */
	public static Regions parse(byte[] stored) {
		List<Region> regions = new ArrayList<>();
		for (String line : new String(stored, StandardCharsets.UTF_8).split("\n")) {
			String[] f = line.split("\t", 5);
			try {
				if (f.length == 5) {
					regions.add(new Region(Integer.parseInt(f[0]), Long.parseLong(f[1]), f[4], Long.parseLong(f[2]), Long.parseLong(f[3])));
				}
			} catch (NumberFormatException e) {
				// left out
			}
		}
		return new Regions(regions);
	}

	/** Makes regions of begins and ends, which come in the order of time for each thread. */
	public static final class Builder {
		private record Open(String name, long fromNs) {
		}

		private record Task(int image, long id) {
		}

		private final Map<Task, Deque<Open>> open = new HashMap<>();
		private final List<Region> done = new ArrayList<>();

		/** A thread begins a region. */
		public void begin(int image, long taskId, String name, long ns) {
			open.computeIfAbsent(new Task(image, taskId), t -> new ArrayDeque<>()).push(new Open(name, ns));
		}

		/**
		 * A thread ends its innermost region of a name, or with an empty name its innermost one. Regions within that did not end yet end too.
		 *
		 * @return whether there was one
		 */
		public boolean end(int image, long taskId, String name, long ns) {
			Deque<Open> stack = open.getOrDefault(new Task(image, taskId), new ArrayDeque<>());
			if (stack.isEmpty() || !name.isEmpty() && stack.stream().noneMatch(o -> o.name.equals(name))) {
				return false;
			}
			for (Iterator<Open> it = stack.iterator(); it.hasNext();) {
				Open o = it.next();
				it.remove();
				done.add(new Region(image, taskId, o.name, o.fromNs, Math.max(o.fromNs, ns)));
				if (name.isEmpty() || o.name.equals(name)) {
					return true;
				}
			}
			throw new IllegalStateException();
		}

		/** All regions; those that did not end end here. */
		public Regions build(long endNs) {
			open.forEach((task, stack) -> stack
					.forEach(o -> done.add(new Region(task.image, task.id, o.name, o.fromNs, Math.max(o.fromNs, endNs)))));
			open.clear();
			return new Regions(done);
		}
	}
}
