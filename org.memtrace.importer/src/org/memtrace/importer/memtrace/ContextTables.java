// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.memtrace;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.importer.input.CsvTable;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.tree.ProducerLabels;
import org.memtrace.model.CallFrame;
import org.memtrace.model.CodePlaces;
import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.Regions;
import org.memtrace.model.ThreadTimes;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;

/** The small files of all images: structures, stacks, threads, intervals, with numbers that are unique in the trace. */
public final class ContextTables {
	private final SkipCounter skips;
	private final LeftOut leftOut;
	private final long traceStartNs;
	private final List<Structure> structures = new ArrayList<>();
	private final List<List<CallFrame>> stacks = new ArrayList<>();
	private final List<ThreadInfo> threads = new ArrayList<>();
	private final List<Interval> intervals = new ArrayList<>();
	private final Regions.Builder regions = new Regions.Builder();
	private final ThreadTimes.Builder times = new ThreadTimes.Builder();
	private final CodePlaces.Builder code = new CodePlaces.Builder();
	private final Map<Integer, Segment> segments = new HashMap<>();
	private long lostAccesses;
	private int unlistedThreads;
	private long lostRegionMarks;

	/**
	 * A part of shared memory.
	 *
	 * @param machine where it is
	 * @param device 0 for the segments of System V
	 * @param inode of the file, or the number of the segment
	 * @param offset of the first byte of the structure, in bytes
	 */
	public record Segment(String machine, long device, long inode, long offset) {
		/** The same for all parts of one segment. */
		public Segment whole() {
			return new Segment(machine, device, inode, 0);
		}
	}

	/** @param traceStartNs birth of what was there from the beginning */
	public ContextTables(SkipCounter skips, long traceStartNs) {
		this.skips = skips;
		leftOut = new LeftOut(skips);
		this.traceStartNs = traceStartNs;
	}

	public List<Structure> structures() {
		return structures;
	}

	/** The structures that are mappings of shared memory, by their id. */
	public Map<Integer, Segment> segments() {
		return segments;
	}

	/** The memory that several processes have mapped, as a structure of {@code image}; returns its id. */
	public int addShared(TraceDirectory.Image image, Structure like, long start, long end) {
		structures.add(new Structure(structures.size(), image.index(), like.kind(), like.name(), start, end, traceStartNs, Long.MAX_VALUE, -1,
				like.stack(), like.site(), like.typeName()));
		return structures.size() - 1;
	}

	/** Call stacks by id. */
	public List<List<CallFrame>> stacks() {
		return stacks;
	}

	public List<ThreadInfo> threads() {
		return threads;
	}

	public List<Interval> intervals() {
		return intervals;
	}

	/** Library, function and line of code addresses. */
	public CodePlaces code() {
		return code.build();
	}

	/** CPU time of the threads. */
	public ThreadTimes threadTimes() {
		return times.build();
	}

	/** Losses that the intervals report. */
	public long lostAccesses() {
		return lostAccesses;
	}

	/** Threads with accesses that are in no threads.csv. */
	public int unlistedThreads() {
		return unlistedThreads;
	}

	/** Begins and ends of regions that the recorder could not write. */
	public long lostRegionMarks() {
		return lostRegionMarks;
	}

	/** What is not kept of the trace directory, and why. */
	public Map<String, String> leftOut() {
		return leftOut.reasons();
	}

	/** A call stack, innermost frame first; returns its id. */
	public int addStack(List<CallFrame> frames) {
		stacks.add(frames);
		return stacks.size() - 1;
	}

	/** A structure that was there all the time. */
	public void addStructure(TraceDirectory.Image image, StructureKind kind, String name, long start, long end, long taskId,
			int stack) {
		structures.add(new Structure(structures.size(), image.index(), kind, name, start, end, traceStartNs,
				Long.MAX_VALUE, taskId, stack, ""));
	}

	/** Reads the files of an image that has a folder; returns its structures. */
	public List<Structure> read(TraceDirectory.Image image) throws MemtraceException {
		Map<Long, Integer> stackIds = new HashMap<>();
		stacks(image, stackIds);
		threads(image);
		intervals(image);
		code(image);
		regions(image);
		leftOut.files(image);
		return structures(image, stackIds);
	}

	private void read(TraceDirectory.Image image, String file, List<String> required, CsvTable.RowVisitor visitor) throws MemtraceException {
		LeftOut.columns(image, file, CsvTable.read(image.directory().resolve(file), image.fileName(file), required, skips, visitor), skips);
	}

	private void regions(TraceDirectory.Image image) throws MemtraceException {
		String name = image.fileName("regions.csv");
		read(image, "regions.csv", List.of("Time", "TaskId", "Event", "Name"), row -> {
			long timeNs = row.number("Time", -1);
			long task = row.number("TaskId", -1);
			String event = row.text("Event");
			if (event.equals("lost") && row.number("Name", -1) > 0) {
				lostRegionMarks += row.number("Name", -1);
			} else if (timeNs < 0 || task < 0 || !event.equals("begin") && !event.equals("end")) {
				skips.skip(name, row.line(), "not the begin or the end of a region");
			} else if (event.equals("begin")) {
				regions.begin(image.index(), task, row.text("Name"), timeNs + image.clockShiftNs());
			} else if (!regions.end(image.index(), task, row.text("Name"), timeNs + image.clockShiftNs())) {
				skips.skip(name, row.line(), "end of a region that the thread did not begin");
			}
		});
	}

	/**
	 * The regions that the program named.
	 *
	 * @param endNs end of the trace, for those that did not end
	 */
	public Regions regions(long endNs) {
		return regions.build(endNs);
	}

	private void stacks(TraceDirectory.Image image, Map<Long, Integer> ids) throws MemtraceException {
		read(image, "stacks.csv", List.of("Stack", "Depth", "Ip"), row -> {
			long stack = row.number("Stack", -1);
			CallFrame frame = frame(row);
			int id = ids.computeIfAbsent(stack, key -> {
				stacks.add(new ArrayList<>());
				return stacks.size() - 1;
		});
					stacks.get(id).add(frame);
				});
	}

	private void code(TraceDirectory.Image image) throws MemtraceException {
		read(image, "code.csv", List.of("Ip"), row -> code.add(image.index(), frame(row)));
	}

	private static CallFrame frame(CsvTable.Row row) {
		return new CallFrame(row.address("Ip"), row.text("Object"), row.text("Function"), row.text("File"),
				Math.clamp(row.number("Line", 0), 0, Integer.MAX_VALUE));
	}

	private void threads(TraceDirectory.Image image) throws MemtraceException {
		int first = threads.size();
		List<Long> total = new ArrayList<>();
		read(image, "threads.csv", List.of("TaskId"), row -> {
			long taskId = row.number("TaskId", -1);
			if (taskId < 0) { // the number of accesses that no thread is known of
				skips.skip(image.fileName("threads.csv"), row.line(), "thread without a task id");
				return;
			}
			String name = row.text("Name").strip();
			threads.add(new ThreadInfo(threads.size(), image.index(), taskId,
					ranked(image, name.isEmpty() ? "thread " + taskId : name), birth(image, row.number("Birth", -1)),
					death(image, row.number("Death", -1)), row.text("Start"), threads.size() == first));
			total.add(row.number("CpuNs", -1));
		});
		threadTimes(image, first, total);
	}

	/**
	 * How the CPU time of the threads of an image grew. Of threads with the same task id a sample is of the last one that was born before it.
	 *
	 * @param first index of the first thread of the image
	 * @param total CPU time in ns by thread, from that one on, of threads.csv: known also when there are no samples; -1 not known
	 */
	private void threadTimes(TraceDirectory.Image image, int first, List<Long> total) throws MemtraceException {
		Map<Long, List<ThreadInfo>> byTask = new HashMap<>();
		threads.subList(first, threads.size()).forEach(t -> byTask.computeIfAbsent(t.taskId(), k -> new ArrayList<>()).add(t));
		long[] sampled = new long[total.size()];
		long[] until = threads.subList(first, threads.size()).stream().mapToLong(ThreadInfo::birthNs).toArray();
		String name = image.fileName("threadtimes.csv");
		read(image, "threadtimes.csv", List.of("TaskId", "Time", "CpuNs"), row -> {
			long recordedNs = row.number("Time", -1);
			long timeNs = recordedNs < 0 ? recordedNs : recordedNs + image.clockShiftNs();
			long cpuNs = row.number("CpuNs", -1);
			List<ThreadInfo> same = byTask.get(row.number("TaskId", -1));
			if (same == null || timeNs < 0 || cpuNs < 0) {
				skips.skip(name, row.line(), same == null ? "CPU time of a thread that is not in threads.csv" : "CPU time without a number");
				return;
			}
			ThreadInfo thread = same.get(0);
			for (ThreadInfo t : same) {
				thread = t.birthNs() <= timeNs ? t : thread;
			}
			times.add(thread.index(), timeNs, cpuNs);
			sampled[thread.index() - first] = Math.max(sampled[thread.index() - first], cpuNs);
			until[thread.index() - first] = Math.max(until[thread.index() - first], timeNs);
		});
		for (int i = 0; i < sampled.length; i++) {
			ThreadInfo t = threads.get(first + i);
			long cpuNs = total.get(i);
			if (cpuNs >= 0 && (cpuNs > sampled[i] || until[i] == t.birthNs())) {
				long death = t.deathNs() == Long.MAX_VALUE ? until[i] + cpuNs - sampled[i] : t.deathNs();
				times.add(t.index(), Math.max(until[i], death), cpuNs);
			}
		}
	}

	/** A thread that only its accesses tell of. */
	public int addThread(TraceDirectory.Image image, long taskId) {
		unlistedThreads++;
		threads.add(new ThreadInfo(threads.size(), image.index(), taskId, ranked(image, "thread " + taskId), traceStartNs,
				Long.MAX_VALUE, "", taskId == image.json().number("pid", -1)));
		return threads.size() - 1;
	}

	/** With the rank in front: the threads of all ranks have the same names. */
	private static String ranked(TraceDirectory.Image image, String name) {
		return image.rank() == null ? name : "r" + image.rank().number() + " " + name;
	}

	private void intervals(TraceDirectory.Image image) throws MemtraceException {
		read(image, "intervals.csv", List.of("Start", "End"), row -> {
			long lost = row.number("LostRing", 0) + row.number("LostTable", 0) + row.number("LostUnmapped", 0)
					+ row.number("LostRegion", 0) + row.number("LostWrite", 0);
			long closedNs = known(row, "Closed");
			intervals.add(new Interval(image.index(), row.number("Start", 0) + image.clockShiftNs(),
					row.number("End", 0) + image.clockShiftNs(),
					row.number("TargetNs", 0), row.number("Faults", 0), lost, row.number("Unattributed", 0),
					row.text("Event"), new Interval.Measured(closedNs < 0 ? closedNs : closedNs + image.clockShiftNs(),
							row.number("Subphases", -1), row.number("Records", -1), known(row, "Accesses"), known(row, "Resident"),
							row.number("UnseenShared", -1), row.number("UnseenFile", -1), row.number("ProgramCpuNs", -1),
							row.number("MonitorCpuNs", -1), row.number("ScanNs", -1), row.number("ZapNs", -1))));
			lostAccesses += lost;
		});
	}

	/** A number of which 0 means that it is not known, as -1. */
	private static long known(CsvTable.Row row, String column) {
		long value = row.number(column, -1);
		return value == 0 ? -1 : value;
	}

	private List<Structure> structures(TraceDirectory.Image image, Map<Long, Integer> stackIds)
			throws MemtraceException {
		String name = image.fileName("structures.csv");
		int first = structures.size();
		read(image, "structures.csv", List.of("Kind", "Name", "Start", "End"), row -> {
			StructureKind kind = kind(row.text("Kind"));
			if (kind == null) {
				skips.skip(name, row.line(), "unknown kind of structure");
				return;
			}
			long start = row.address("Start");
			long end = row.address("End");
			if (Long.compareUnsigned(start, end) >= 0) {
				skips.skip(name, row.line(), "structure without bytes");
				return;
			}
			structures.add(new Structure(structures.size(), image.index(), kind, name(kind, row.text("Site"), row.text("Name")), start, end,
					birth(image, row.number("Birth", -1)), death(image, row.number("Death", -1)), row.number("TaskId", -1),
					stackIds.getOrDefault(row.number("Stack", -1), -1), row.text("Site"), row.text("Type"),
					row.text("Members"), row.number("HugeBytes", -1), row.number("NoHugeBytes", -1)));
			segment(image, structures.size() - 1, row.text("Segment"));
		});
		return List.copyOf(structures.subList(first, structures.size()));
	}

	private static StructureKind kind(String text) {
		for (StructureKind kind : StructureKind.values()) {
			if (kind.name().equalsIgnoreCase(text.strip())) {
				return kind;
			}
		}
		return null;
	}

	private long birth(TraceDirectory.Image image, long ns) {
		return ns < 0 ? traceStartNs : ns + image.clockShiftNs();
	}

	private static long death(TraceDirectory.Image image, long ns) {
		return ns < 0 ? Long.MAX_VALUE : ns + image.clockShiftNs();
	}

	/** What a mapping is that other processes can have, too. */
	private void segment(TraceDirectory.Image image, int structure, String text) {
		String[] parts = text.split(":");
		try {
			if (parts.length == 3) {
				segments.put(structure, new Segment(image.rank() == null ? "" : image.rank().machine(), Long.parseUnsignedLong(parts[0], 16),
						Long.parseUnsignedLong(parts[1], 16), Long.parseUnsignedLong(parts[2], 16)));
			}
		} catch (NumberFormatException e) {
			// of a later version: it stays a mapping of its process
		}
	}

	/** The heap segment has one name in tables and pictures; older recorders called it heap (brk). A part of it has a site. */
	private static String name(StructureKind kind, String site, String recorded) {
		return kind == StructureKind.BRK && site.isBlank() ? ProducerLabels.BRK_NAME : recorded;
	}
}
