// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.join;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.memtrace.importer.join.ClockFit.Anchor;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.Regions;
import org.memtrace.model.StoreException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.memory.MemoryArea;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * Puts the states of an application trace (OTF2, Chrome and so on) on the clock of a memory trace of the same run: they become regions of
 * its threads ({@link Regions}), beside those that the program named. Both traces are imported. docs/howto/join.md tells the rules. Nothing
 * is changed unless all succeeds. Set the options, then call it once; used by one thread.
 */
public final class JoinOperation {
	/** Note of the regions that were there before a trace was joined, as {@link Regions#NOTE}. */
	public static final String NOTE_BEFORE = "regions-before-join";
	/** A larger residual is no common clock. */
	public static final long MOST_RESIDUAL_NS = 1_000_000;
	/** States that are kept; of more, the longest. */
	static final int MOST_STATES = 1_000_000;
	/** Instants of OTF2 that tell the birth of a thread exactly. */
	private static final String THREAD_BEGIN = "thread begin";
	/** Names of threads that tell the id of the operating system. */
	private static final Pattern TASK = Pattern.compile("(?:thread )?(\\d{1,18})|.* \\((\\d{1,18})\\)");

	private final TraceStore memory;
	private final TraceStore application;
	private Long offsetNs;
	private String marker;
	/** Lanes whose birth is of no use for the clock, with how much later it was seen there, in ns. */
	private final Map<Integer, Long> late = new HashMap<>();

	/** What is known of a producer with states. */
	private static final class Lane {
		final int producer;
		long firstNs = Long.MAX_VALUE;
		long lastNs = Long.MIN_VALUE;
		boolean begins;
		boolean states;

		Lane(int producer) {
			this.producer = producer;
		}

		/** @param told whether the trace says that the thread begins here */
		void sees(long ns, boolean told) {
			if (told && !begins || begins == told && ns < firstNs) {
				firstNs = ns;
				begins = told;
			}
		}
	}

	/**
	 * What was joined.
	 *
	 * @param clock how times were moved
	 * @param by what the clocks were compared with: {@code births of threads}, {@code marker NAME}
	 * @param threads of the application trace, that have states
	 * @param matched threads that the memory trace has, too
	 * @param byTaskId whether threads were matched by the ids of the operating system, not by the order of their births
	 * @param states that are regions now
	 * @param withoutThread states of threads that the memory trace has not
	 * @param withoutDuration states in which there cannot be an access
	 * @param tooMany the shortest states, above the limit
	 * @param outside states that are not within the memory trace
	 * @param lateNs of threads whose birth the application trace has more than a millisecond later than all others agree on (negative:
	 *            earlier); not compared
	 * @param alike pairs of threads whose births are so near to each other that they would fit as well if they were interchanged
	 * @param intervalNs median of the monitoring intervals, 0 when there are none
	 * @param shorter states that are shorter than that; which of them an access was in is told by the middle of its interval only
	 */
	public record Result(ClockFit clock, String by, int threads, int matched, boolean byTaskId, long states, long withoutThread,
			long withoutDuration, long tooMany, long outside, List<Long> lateNs, int alike, long intervalNs, long shorter) {
	}

	/** @param memory a trace with accesses */
	public JoinOperation(TraceStore memory, TraceStore application) {
		this.memory = memory;
		this.application = application;
	}

	/** What has to be added to times of the application trace, when it is known; null: it is found. */
	public JoinOperation setOffset(Long ns) {
		offsetNs = ns;
		return this;
	}

	/** Name of a state or instant of the application trace and of a region of the memory trace that begin at the same moments; or null. */
	public JoinOperation setMarker(String name) {
		marker = name;
		return this;
	}

	/** Takes back what was joined; returns whether anything was. */
	public static boolean undo(TraceStore memory) throws MemtraceException {
		byte[] before = memory.readNote(NOTE_BEFORE).orElse(null);
		if (before == null) {
			return false;
		}
		memory.writeNote(Regions.NOTE, Regions.parse(before).isEmpty() ? null : before);
		memory.writeNote(NOTE_BEFORE, null);
		return true;
	}

	/** Joins; what was joined before is replaced. */
	public Result call(Progress progress) throws MemtraceException {
		String app = application.info().alias();
		if (memory.accessCount() == 0) {
			throw new StoreException(memory.info().alias() + " has no accesses, so nothing can be joined with it");
		}
		if (memory.info().isInTicks() || application.info().isInTicks()) {
			throw new StoreException((memory.info().isInTicks() ? memory : application).info().alias()
					+ " has times in ticks of an unknown length, which have no common clock with another trace");
		}
		Map<Integer, EventType> types = new HashMap<>();
		application.eventTypes().forEach(t -> types.put(t.id(), t));
		List<Long> marks = new ArrayList<>();
		List<Lane> lanes = lanes(types, marks, progress);
		if (lanes.isEmpty()) {
			throw new StoreException(app + " has no states that could be regions");
		}
		byte[] kept = memory.readNote(NOTE_BEFORE).orElse(null);
		byte[] note = kept != null ? kept : memory.readNote(Regions.NOTE).orElse(new byte[0]);
		Regions before = Regions.parse(note);
		Map<Integer, ThreadInfo> byId = byTaskId(lanes);
		Map<Integer, ThreadInfo> threads = byId.isEmpty() ? byBirth(lanes) : byId;
		List<Anchor> births = new ArrayList<>();
		for (Lane lane : lanes) {
			ThreadInfo thread = threads.get(lane.producer);
			if (thread != null && !thread.main() && !late.containsKey(lane.producer)) {
				births.add(new Anchor(lane.firstNs, thread.birthNs()));
			}
		}
		List<Anchor> anchors = marker == null ? births : anchors(marks, before);
		String by = marker == null ? "births of threads" : "marker " + marker;
		if (offsetNs == null && anchors.size() < 2) {
			throw new StoreException(String.format(Locale.ROOT, "the clocks of %s and %s cannot be compared: there %s %d %s in both, and 2 are"
					+ " needed; give a marker (--marker) or the offset (--clock-offset)", memory.info().alias(), app,
					anchors.size() == 1 ? "is" : "are", anchors.size(), marker != null ? "of the " + by : "births of threads (without the first)"));
		}
		long duration = duration();
		ClockFit clock = offsetNs != null ? ClockFit.given(offsetNs, anchors) : ClockFit.of(anchors, duration);
		if (offsetNs == null && clock.residualNs() > MOST_RESIDUAL_NS) {
			throw new StoreException(String.format(Locale.ROOT, "the clocks of %s and %s do not fit: by %d %s the offset is %d ns, and the"
					+ " residual is %.3f ms, above 1 ms; are they of the same run? Give a marker (--marker) or the offset (--clock-offset)",
					memory.info().alias(), app, anchors.size(), marker != null ? "times of the " + by : by, clock.offsetNs(),
					clock.residualNs() / 1e6));
		}
		int alike = byId.isEmpty() ? alike(lanes, threads, clock) : 0;
		return write(note, before, types, lanes, threads, clock, by, !byId.isEmpty(), alike, progress);
	}

	private long duration() {
		return application.info().endNs() - application.info().startNs();
	}

	/** Neighbours in the order of births, without the first threads, that could be interchanged within the residual. */
	private static int alike(List<Lane> lanes, Map<Integer, ThreadInfo> threads, ClockFit clock) {
		List<Lane> found = lanes.stream().filter(l -> threads.containsKey(l.producer) && !threads.get(l.producer).main())
				.sorted(Comparator.comparingLong(l -> threads.get(l.producer).birthNs())).toList();
		int alike = 0;
		for (int i = 0; i + 1 < found.size(); i++) {
			Lane a = found.get(i);
			Lane b = found.get(i + 1);
			ThreadInfo ta = threads.get(a.producer);
			ThreadInfo tb = threads.get(b.producer);
			if (ta.image() == tb.image() && Math.max(Math.abs(clock.ours(a.firstNs) - tb.birthNs()), Math.abs(clock.ours(b.firstNs)
					- ta.birthNs())) <= clock.residualNs()) {
				alike++;
			}
		}
		return alike;
	}

	/** Whether the application trace is that of record --io, whose names of threads have the ids of the kernel. */
	private boolean isIo() {
		return "io".equals(application.info().properties().get("reader"));
	}

	/** The producers with states, in the order of the tree; and the times of the marker. */
	private List<Lane> lanes(Map<Integer, EventType> types, List<Long> marks, Progress progress) throws MemtraceException {
		TreeMap<Integer, Lane> lanes = new TreeMap<>();
		application.visitEvents(AccessQuery.ALL, b -> {
			for (int i = 0; i < b.count; i++) {
				EventType type = types.get(b.type[i]);
				if (type == null || type.category() != EventCategory.STATE && type.category() != EventCategory.PUNCTUAL) {
					continue;
				}
				Lane lane = lanes.computeIfAbsent(b.producer[i], Lane::new);
				// requests to devices are of no thread
				lane.states |= type.category() == EventCategory.STATE && !(isIo() && type.name().startsWith("block: "));
				lane.lastNs = Math.max(lane.lastNs, b.endNs[i]);
				lane.sees(b.startNs[i], type.category() == EventCategory.PUNCTUAL && type.name().equals(THREAD_BEGIN));
				if (type.name().equals(marker)) {
					marks.add(b.startNs[i]);
				}
			}
		}, progress);
		return lanes.values().stream().filter(l -> l.states).toList();
	}

	/** The begins of a marker in both traces, one after the other. */
	private List<Anchor> anchors(List<Long> marks, Regions before) throws MemtraceException {
		List<Long> ours = before.all().stream().filter(r -> r.name().equals(marker)).map(Regions.Region::fromNs).sorted().toList();
		if (marks.size() != ours.size()) {
			throw new StoreException(String.format(Locale.ROOT, "the marker %s is %d times in %s and %d times in %s", marker, ours.size(),
					memory.info().alias(), marks.size(), application.info().alias()));
		}
		List<Long> theirs = marks.stream().sorted().toList();
		List<Anchor> anchors = new ArrayList<>();
		for (int i = 0; i < ours.size(); i++) {
			anchors.add(new Anchor(theirs.get(i), ours.get(i)));
		}
		return anchors;
	}

	/** Threads by the ids that names of producers have; empty unless all have one. */
	private Map<Integer, ThreadInfo> byTaskId(List<Lane> lanes) throws MemtraceException {
		Map<Long, ThreadInfo> tasks = new HashMap<>();
		Set<Long> twice = new HashSet<>();
		for (ThreadInfo t : memory.threads()) {
			if (tasks.put(t.taskId(), t) != null) {
				twice.add(t.taskId());
			}
		}
		tasks.keySet().removeAll(twice);
		Map<Integer, ThreadInfo> found = new HashMap<>();
		ProducerTree tree = application.producers();
		for (Lane lane : lanes) {
			Matcher m = TASK.matcher(tree.name(lane.producer));
			ThreadInfo thread = m.matches() ? tasks.get(Long.parseLong(m.group(1) != null ? m.group(1) : m.group(2))) : null;
			if (thread == null && isIo()) {
				continue; // the kernel saw processes and threads that the memory trace does not have
			} else if (thread == null) {
				return Map.of();
			}
			found.put(lane.producer, thread);
		}
		return found;
	}

	/** Threads of each process in the order of their births; the process is the producer above. */
	private Map<Integer, ThreadInfo> byBirth(List<Lane> lanes) throws MemtraceException {
		ProducerTree tree = application.producers();
		Map<Integer, List<Lane>> processes = new LinkedHashMap<>();
		lanes.forEach(l -> processes.computeIfAbsent(tree.parent(l.producer), p -> new ArrayList<>()).add(l));
		Map<Integer, List<ThreadInfo>> images = new TreeMap<>();
		memory.threads().forEach(t -> images.computeIfAbsent(t.image(), i -> new ArrayList<>()).add(t));
		processes.values().forEach(l -> l.sort(Comparator.comparingLong(lane -> lane.firstNs)));
		images.values().forEach(l -> l.sort(Comparator.comparing(ThreadInfo::main).reversed().thenComparingLong(ThreadInfo::birthNs)));
		if (processes.size() == 1) {
			return best(processes.values().iterator().next(), images.values());
		}
		MemoryLayout layout = memory.layout().orElse(null);
		if (layout != null) {
			images.keySet().retainAll(layout.areas().stream().map(MemoryArea::image).collect(Collectors.toSet()));
		}
		if (images.size() != processes.size()) {
			throw new StoreException(String.format(Locale.ROOT, "%s has %d processes and %s has %d with accesses, so it is not known which is which",
					application.info().alias(), processes.size(), memory.info().alias(), images.size()));
		}
		Map<Integer, ThreadInfo> found = new HashMap<>();
		List<List<ThreadInfo>> inOrder = List.copyOf(images.values());
		int i = 0;
		for (List<Lane> process : processes.values()) {
			found.putAll(best(process, List.of(inOrder.get(i++))));
		}
		return found;
	}

	/** The threads of the image where most are found, with the smallest residual. */
	private Map<Integer, ThreadInfo> best(List<Lane> process, Iterable<List<ThreadInfo>> images) {
		Map<Integer, ThreadInfo> best = Map.of();
		Map<Integer, Long> bestLate = Map.of();
		long bestResidual = Long.MAX_VALUE;
		for (List<ThreadInfo> image : images) {
			Map<Integer, ThreadInfo> found = new HashMap<>();
			found.put(process.get(0).producer, image.get(0));
			Map<Integer, Long> foundLate = new HashMap<>();
			long residual = pair(process.subList(1, process.size()), image.subList(1, image.size()), found, foundLate);
			if (found.size() > best.size() || found.size() == best.size() && residual < bestResidual) {
				best = found;
				bestLate = foundLate;
				bestResidual = residual;
			}
		}
		late.putAll(bestLate);
		return best;
	}

	/**
	 * Equal numbers are in order, but for a late birth; else the shift that finds most. Returns the largest deviation from one offset.
	 */
	private long pair(List<Lane> lanes, List<ThreadInfo> threads, Map<Integer, ThreadInfo> found, Map<Integer, Long> foundLate) {
		LateBirth one = marker == null && offsetNs == null ? oneLate(lanes, threads) : null;
		if (one != null) {
			for (int i = 0, t = 0; i < lanes.size(); i++) {
				t += t == one.our() ? 1 : 0;
				found.put(lanes.get(i).producer, threads.get(i == one.other() ? one.our() : t++));
			}
			foundLate.put(lanes.get(one.other()).producer, one.lateNs());
			return one.fit().residualNs();
		}
		if (lanes.size() == threads.size()) {
			long least = Long.MAX_VALUE;
			long most = Long.MIN_VALUE;
			for (int i = 0; i < lanes.size(); i++) {
				found.put(lanes.get(i).producer, threads.get(i));
				long offset = threads.get(i).birthNs() - lanes.get(i).firstNs;
				least = Math.min(least, offset);
				most = Math.max(most, offset);
			}
			return lanes.isEmpty() ? 0 : most - least;
		}
		Map<Integer, ThreadInfo> best = Map.of();
		long bestResidual = 0;
		for (Lane a : lanes) {
			for (ThreadInfo t : threads) {
				Map<Integer, ThreadInfo> pairs = new HashMap<>();
				long residual = at(t.birthNs() - a.firstNs, lanes, threads, pairs);
				if (pairs.size() > best.size() || pairs.size() == best.size() && residual < bestResidual) {
					best = pairs;
					bestResidual = residual;
				}
			}
		}
		found.putAll(best);
		return bestResidual;
	}

	/** When the births do not fit in their order, and do when one thread is left out; its states must be within its life. Else null. */
	private LateBirth oneLate(List<Lane> lanes, List<ThreadInfo> threads) {
		if (lanes.size() != threads.size() || lanes.size() < 3) {
			return null;
		}
		List<Anchor> inOrder = new ArrayList<>();
		for (int i = 0; i < lanes.size(); i++) {
			inOrder.add(new Anchor(lanes.get(i).firstNs, threads.get(i).birthNs()));
		}
		if (ClockFit.of(inOrder, duration()).residualNs() <= MOST_RESIDUAL_NS) {
			return null;
		}
		LateBirth one = LateBirth.find(lanes.stream().mapToLong(l -> l.firstNs).toArray(), threads.stream().mapToLong(ThreadInfo::birthNs)
				.toArray(), duration(), MOST_RESIDUAL_NS).orElse(null);
		for (int i = 0, t = 0; one != null && i < lanes.size(); i++) {
			t += t == one.our() ? 1 : 0;
			ThreadInfo thread = threads.get(i == one.other() ? one.our() : t++);
			if (one.fit().ours(lanes.get(i).lastNs) - MOST_RESIDUAL_NS > thread.deathNs()) {
				return null;
			}
		}
		return one;
	}

	/** Pairs that are born within the largest residual and drift of each other, at an offset, in order. */
	private static long at(long offset, List<Lane> lanes, List<ThreadInfo> threads, Map<Integer, ThreadInfo> pairs) {
		long residual = 0;
		int next = 0;
		for (Lane lane : lanes) {
			long expected = lane.firstNs + offset;
			long tolerance = MOST_RESIDUAL_NS + (long) (ClockFit.MOST_DRIFT * Math.abs(lane.firstNs - lanes.get(0).firstNs));
			while (next < threads.size() && threads.get(next).birthNs() < expected - tolerance) {
				next++;
			}
			while (next + 1 < threads.size() && Math.abs(threads.get(next + 1).birthNs() - expected) < Math.abs(threads.get(next).birthNs()
					- expected)) {
				next++;
			}
			if (next < threads.size() && Math.abs(threads.get(next).birthNs() - expected) <= tolerance) {
				residual = Math.max(residual, Math.abs(threads.get(next).birthNs() - expected));
				pairs.put(lane.producer, threads.get(next++));
			}
		}
		return residual;
	}

	private Result write(byte[] note, Regions before, Map<Integer, EventType> types, List<Lane> lanes, Map<Integer, ThreadInfo> threads,
			ClockFit clock, String by, boolean byTaskId, int alike, Progress progress) throws MemtraceException {
		PriorityQueue<Regions.Region> kept = new PriorityQueue<>(Comparator.comparingLong(r -> r.toNs() - r.fromNs()));
		long[] withoutThread = new long[1];
		long[] withoutDuration = new long[1];
		long[] tooMany = new long[1];
		long[] outside = new long[1];
		long start = memory.info().startNs();
		long end = memory.info().endNs();
		application.visitEvents(AccessQuery.ALL, b -> {
			for (int i = 0; i < b.count; i++) {
				EventType type = types.get(b.type[i]);
				if (type == null || type.category() != EventCategory.STATE) {
					continue;
				}
				ThreadInfo thread = threads.get(b.producer[i]);
				long from = clock.ours(b.startNs[i]);
				long to = clock.ours(b.endNs[i]);
				if (thread == null) {
					withoutThread[0]++;
				} else if (to <= from) {
					withoutDuration[0]++;
				} else if (to <= start || from >= end) {
					outside[0]++;
				} else {
					kept.add(new Regions.Region(thread.image(), thread.taskId(), type.name(), from, to));
					if (kept.size() > MOST_STATES) {
						kept.poll();
						tooMany[0]++;
					}
				}
			}
		}, progress);
		if (kept.isEmpty()) {
			throw new StoreException("no state of " + application.info().alias() + " is of a thread and within the time of "
					+ memory.info().alias());
		}
		Set<Integer> images = threads.values().stream().map(ThreadInfo::image).collect(Collectors.toSet());
		long[] intervals = memory.intervals().stream().filter(i -> images.contains(i.image())).mapToLong(i -> i.endNs() - i.startNs()).sorted()
				.toArray();
		long interval = intervals.length == 0 ? 0 : intervals[intervals.length / 2];
		Result result = new Result(clock, by, lanes.size(), (int) lanes.stream().filter(l -> threads.containsKey(l.producer)).count(), byTaskId,
				kept.size(), withoutThread[0], withoutDuration[0], tooMany[0], outside[0],
				List.copyOf(late.values()), alike, interval, kept.stream().filter(r -> r.toNs() - r.fromNs() < interval).count());
		memory.writeNote(NOTE_BEFORE, note.length == 0 ? new byte[] { '\n' } : note);
		memory.writeNote(Regions.NOTE, before.with(kept).toBytes());
		return result;
	}
}
