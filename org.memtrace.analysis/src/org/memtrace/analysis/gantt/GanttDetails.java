// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.memtrace.aggregation.AccessCursor;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CallFrame;
import org.memtrace.model.CancelledException;
import org.memtrace.model.CountUnit;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Lives;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;

/**
 * What is at a place of a Gantt chart, from the records: one record with everything that is known of it, or the sums of
 * several.
 *
 * @param row row of the chart
 * @param fromNs start of the record, or of the first of several
 * @param toNs end
 * @param records number of records
 * @param lines what a person reads
 */
public record GanttDetails(int row, long fromNs, long toNs, long records, List<String> lines) {
	private static final int MAX_NAMES = 6;
	private static final int MAX_FRAMES = 5;
	private static final String[] UNITS = {"ns", "µs", "ms", "s"};

	/** Collects the records of a place. */
	private static final class Found {
		final double[] sums;
		final BitSet threads = new BitSet();
		final BitSet cpus = new BitSet();
		final BitSet nodes = new BitSet();
		final BitSet types = new BitSet();
		long records;
		int last = -1;
		long from = Long.MAX_VALUE;
		long to = Long.MIN_VALUE;
		double reads;
		double writes;
		int sharing;
		boolean sharingNotKnown;
		boolean unknownThread;

		Found(int types) {
			sums = new double[types];
		}
	}

	/**
	 * Reads the records at a place; takes time proportional to the number of records of the row in the worst case.
	 *
	 * @param hit in the plot, with a row
	 * @param store for code addresses and call stacks; null to do without
	 */
	public static GanttDetails of(GanttPicture picture, GanttPicture.Hit hit, List<Structure> structures, TraceStore store,
			Progress progress) throws MemtraceException {
		GanttRows rows = picture.rows();
		GanttSource source = rows.request().source();
		if (hit.link() >= 0) {
			return link(source, hit);
		}
		TraceInfo info = source.info();
		long origin = info.startNs();
		List<String> lines = new ArrayList<>();
		lines.add(rows.name(hit.row()));
		Found f = find(rows, source, hit, progress);
		if (f.records == 0) {
			lines.add("at " + Units.duration(info, hit.fromNs() - origin) + ": nothing");
		} else {
			boolean instant = f.from == f.to;
			lines.add(instant ? "at " + exact(info, f.from - origin)
					: exact(info, f.from - origin) + " – " + exact(info, f.to - origin) + " ("
							+ Units.duration(info, f.to - f.from) + ")");
			if (source instanceof GanttAccesses a) {
				accesses(lines, a.table(), f);
			} else if (source instanceof GanttEvents e) {
				events(lines, e, f);
			}
			if (hit.shared()) {
				lines.add("several in a pixel: zoom in to see them");
			}
		}
		int producer = rows.producer(hit.row());
		int s = source.producers().structure(producer);
		if (s >= 0 && s < structures.size()) {
			structure(lines, source.producers().kind(producer) == ProducerKind.GROUP ? Lives.of(structures).asOne(s) : structures.get(s), store);
		}
		if (f.records == 1 && source instanceof GanttAccesses a && store != null) {
			code(lines, a, f, store, progress);
		}
		return new GanttDetails(hit.row(), f.records == 0 ? hit.fromNs() : f.from, f.records == 0 ? hit.toNs() : f.to, f.records,
				lines);
	}

	private static Found find(GanttRows rows, GanttSource source, GanttPicture.Hit hit, Progress progress)
			throws CancelledException {
		Found f = new Found(source.types().size());
		boolean instants = hit.type() >= 0 && source.types().get(hit.type()).kind() == GanttType.Kind.PUNCTUAL;
		// what is wide has whole pixels: it has those whose middle it covers
		long middle = hit.fromNs() + (hit.toNs() - hit.fromNs()) / 2;
		boolean[] covered = new boolean[1];
		if (!hit.shared()) {
			source.visit(rows.producer(hit.row()), rows.request().grouping(), rows.group(hit.row()), middle, middle + 1,
					(row, s, e, slot, amount) -> covered[0] |= e > s, progress);
		}
		boolean exact = covered[0] && !instants;
		source.visit(rows.producer(hit.row()), rows.request().grouping(), rows.group(hit.row()), exact ? middle : hit.fromNs(),
				exact ? middle + 1 : hit.toNs(), (row, s, e, slot, amount) -> {
			int type = source.slotType(slot);
			if (hit.type() >= 0 && !hit.shared() && source.types().get(hit.type()).kind() != GanttType.Kind.ACCESS
					&& type != hit.type()) {
				return;
			}
			if (row != f.last) {
				f.records++;
				f.last = row;
				f.from = Math.min(f.from, s);
				f.to = Math.max(f.to, e);
				if (source instanceof GanttAccesses a) {
					access(f, a.table(), a.at(row));
				} else if (source instanceof GanttEvents v) {
					f.cpus.set(v.table().cpu(row));
				}
			}
			f.sums[type] += amount;
			f.types.set(type);
		}, progress);
		return f;
	}

	private static void access(Found f, AccessTable table, AccessCursor row) {
		int thread = row.thread();
		if (thread >= 0) {
			f.threads.set(thread);
		} else {
			f.unknownThread = true;
		}
		for (int cpu : table.cpus(row.cpuSet())) {
			f.cpus.set(cpu);
		}
		if (row.node() >= 0) {
			f.nodes.set(row.node());
		}
		f.reads += row.reads();
		f.writes += row.writes();
		f.sharing = Math.max(f.sharing, row.sharing());
		f.sharingNotKnown |= row.sharing() == AccessBatch.SHARING_NOT_KNOWN;
	}

	private static void accesses(List<String> lines, AccessTable table, Found f) {
		double all = f.reads + f.writes;
		CountUnit unit = table.info().counts();
		lines.add(Units.counted(Units.count(all), unit.plural()) + ": " + Units.count(f.reads)
				+ (f.reads == 1 ? " read, " : " reads, ")
				+ Units.count(f.writes) + (f.writes == 1 ? " write" : " writes")
				+ (f.records > 1 ? ", in " + Units.plural(f.records, unit.row()) : ""));
		lines.add(f.sharing > 1 ? "shared by " + f.sharing + " threads" + (f.records > 1 ? " at most" : "")
				: f.sharingNotKnown ? "one thread was seen; not known whether private or shared" : "private");
		List<ThreadInfo> threads = table.threads();
		if (!f.threads.isEmpty()) {
			lines.add(list("thread", f.threads.stream(), i -> threadName(threads, i)) + (f.unknownThread ? ", and kernel" : ""));
		} else if (f.unknownThread) {
			lines.add("no thread: the kernel on behalf of the program");
		}
		if (!f.cpus.isEmpty()) {
			lines.add(list("CPU", f.cpus.stream(), Integer::toString));
		}
		if (!f.nodes.isEmpty()) {
			lines.add(list("NUMA node", f.nodes.stream(), Integer::toString));
		}
	}

	private static void events(List<String> lines, GanttEvents source, Found f) {
		EventTable table = source.table();
		for (int t = f.types.nextSetBit(0); t >= 0; t = f.types.nextSetBit(t + 1)) {
			GanttType type = source.types().get(t);
			String what = switch (type.kind()) {
			case STATE -> f.records == 1 ? "state" : "state, " + Units.duration(table.info(), f.sums[t]) + " in all";
			case PUNCTUAL -> f.records == 1 ? "event" : Units.plural(Math.round(f.sums[t]), "event");
			case VARIABLE -> f.records == 1 ? "value " + Units.digits(table.value(f.last))
					: "mean value " + Units.digits(f.sums[t] / Math.max(1, f.to - f.from));
			default -> "";
			};
			lines.add(type.displayName() + ": " + what);
		}
		if (f.records > 1) {
			lines.add(Units.plural(f.records, "record"));
		}
		if (table.maxCpu() > 0) {
			lines.add(list("CPU", f.cpus.stream(), Integer::toString));
		}
	}

	private static GanttDetails link(GanttSource source, GanttPicture.Hit hit) {
		ProducerTree tree = source.producers();
		int row = hit.link();
		TraceInfo info = source.info();
		long origin = info.startNs();
		int from = source.producerOf(row);
		int to = source.linkEnd(row);
		return new GanttDetails(hit.row(), source.start(row), source.end(row), 1,
				List.of(source.types().get(source.linkType(row)).displayName() + ": link",
						tree.name(from) + " → " + (to < 0 ? "?" : tree.name(to)),
						exact(info, source.start(row) - origin) + " – " + exact(info, source.end(row) - origin) + " ("
								+ Units.duration(info, source.end(row) - source.start(row)) + ")"));
	}

	private static void structure(List<String> lines, Structure s, TraceStore store) throws MemtraceException {
		String site = s.site() == null || s.site().isEmpty() ? "" : ", " + s.site();
		lines.add(s.kind().name().toLowerCase(Locale.ROOT) + " " + s.name() + ", " + Units.bytes(s.sizeBytes()) + site);
		if (store != null && s.stack() >= 0) {
			for (CallFrame frame : store.stack(s.stack()).stream().limit(MAX_FRAMES).toList()) {
				lines.add("    " + frame(frame));
			}
		}
	}

	/** The code address of a single record. */
	private static void code(List<String> lines, GanttAccesses source, Found f, TraceStore store, Progress progress)
			throws MemtraceException {
		int thread = source.at(f.last).thread();
		int producer = source.producerOf(f.last);
		TreeMap<Long, Integer> addresses = new TreeMap<>();
		store.visitAccesses(new AccessQuery(f.from, f.to, producer, producer + 1), (AccessBatch b) -> {
			for (int i = 0; i < b.count; i++) {
				if (b.startNs[i] == f.from && b.endNs[i] == f.to && b.thread[i] == thread && b.ip[i] != 0) {
					addresses.merge(b.ip[i], 1, Integer::sum);
				}
			}
		}, progress);
		if (!addresses.isEmpty()) {
			lines.add("code at " + addresses.keySet().stream().limit(3).map(a -> "0x" + Long.toHexString(a))
					.collect(Collectors.joining(", ")));
		}
	}

	private static String frame(CallFrame f) {
		String function = f.function().isEmpty() ? "0x" + Long.toHexString(f.ip()) : f.function();
		String where = f.file().isEmpty() ? f.object().substring(f.object().lastIndexOf('/') + 1)
				: f.file().substring(f.file().lastIndexOf('/') + 1) + ":" + f.line();
		return where.isEmpty() ? function : function + "  " + where;
	}

	private static String list(String noun, IntStream numbers, java.util.function.IntFunction<String> name) {
		int[] all = numbers.toArray();
		return (all.length == 1 ? noun : all.length + " " + noun + "s:") + " "
				+ IntStream.of(all).limit(MAX_NAMES).mapToObj(name).collect(Collectors.joining(", "))
				+ (all.length > MAX_NAMES ? ", …" : "");
	}

	private static String threadName(List<ThreadInfo> threads, int index) {
		ThreadInfo t = index < threads.size() ? threads.get(index) : null;
		return t == null ? "#" + index : (t.name().isEmpty() ? "thread" : t.name()) + " #" + index + " (" + t.taskId() + ")";
	}

	/** A time to the nanosecond, in the largest unit in which it is at least 1; or to the tick. */
	static String exact(TraceInfo trace, long ns) {
		if (trace.isInTicks()) {
			return Units.plural(ns, "tick");
		}
		int unit = 0;
		for (long size = 1000; unit < 3 && Math.abs(ns) >= size; size *= 1000) {
			unit++;
		}
		return (ns == 0 ? "0" : BigDecimal.valueOf(ns).movePointLeft(3 * unit).stripTrailingZeros().toPlainString()) + " "
				+ UNITS[unit];
	}
}
