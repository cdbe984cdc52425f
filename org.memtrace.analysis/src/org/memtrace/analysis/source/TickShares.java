// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.source;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.analysis.text.Units;
import org.memtrace.model.CallFrame;
import org.memtrace.model.CodePlaces;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.Lives;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.Ticks;
import org.memtrace.model.memory.Ticks.Mode;
import org.memtrace.model.memory.Ticks.Place;
import org.memtrace.model.memory.Ticks.Tick;
import org.memtrace.model.store.TraceStore;

/**
 * Where the CPU time of a program goes: sums of its ticks by thread, place in the source and structure. Blocks of one origin are one
 * structure ({@link Lives}). What the recorder does in the program's threads is told apart by its code; the faults that it makes are not,
 * so time in faults is no time of the program. Immutable.
 */
public final class TickShares {
	/** Fewer ticks of the program say nothing about shares. */
	public static final int ENOUGH = 20;
	private static final double NORMAL_95 = 1.96;
	private static final String OWN_CODE = "libmemtrace-preload.so";
	/** Of an address of which nothing is known. */
	public static final CallFrame NOWHERE = new CallFrame(0, "", "", "", 0);

	/**
	 * Ticks of a thread at a source line that access one structure in one way.
	 *
	 * @param place image, task, mode, access and width; its address and that of its instruction are those of the first of them
	 * @param frame function and line; empty texts when not known
	 * @param structure null: none, or not known
	 * @param ticks how many
	 * @param cpuNs CPU time that they stand for
	 * @param own whether it is code of the recorder
	 */
	public record Row(Place place, CallFrame frame, Structure structure, long ticks, long cpuNs, long firstNs, long lastNs, boolean own) {
		private Row with(Row o) {
			return new Row(place, frame, structure, ticks + o.ticks, cpuNs + o.cpuNs, Math.min(firstNs, o.firstNs), Math.max(lastNs, o.lastNs), own);
		}

		/** Function and line: "walk (app.c:12)"; of code without symbols its address and, where that is known, its file. */
		public String where() {
			String line = frame.file().isEmpty() ? "" : base(frame.file()) + ":" + frame.line();
			if (!frame.function().isEmpty()) {
				return line.isEmpty() ? frame.function() : frame.function() + " (" + line + ")";
			}
			String address = "0x" + Long.toHexString(place.ip());
			return !line.isEmpty() ? line : frame.object().isEmpty() ? address : base(frame.object()) + " (" + address + ")";
		}

		private static String base(String file) {
			return file.substring(file.lastIndexOf('/') + 1);
		}
	}

	/**
	 * A part of the time of the program's own code.
	 *
	 * @param structure what is accessed
	 * @param ticks how many
	 * @param cpuNs CPU time that they stand for
	 * @param faultNs beside it, CPU time in faults of its pages
	 * @param hottest the row with most of cpuNs
	 */
	public record Share(Structure structure, long ticks, long cpuNs, long faultNs, Row hottest) {
		private Share with(Share o) {
			Row hot = hottest == null || o.hottest != null && o.hottest.cpuNs > hottest.cpuNs ? o.hottest : hottest;
			return new Share(structure, ticks + o.ticks, cpuNs + o.cpuNs, faultNs + o.faultNs, hot);
		}
	}

	private final List<Row> rows;
	private final long periodNs;

	private TickShares(List<Row> rows, long periodNs) {
		this.rows = List.copyOf(rows);
		this.periodNs = periodNs;
	}

	/** Of a trace; empty when it has no ticks. */
	public static TickShares of(TraceStore store) throws MemtraceException {
		byte[] note = store.readNote(Ticks.NOTE).orElse(null);
		return note == null ? new TickShares(List.of(), 0) : of(Ticks.of(note), store.structures(), RecordedCode.of(store));
	}

	/** @param structures those of the trace: the number of one is its place in the list */
	public static TickShares of(Ticks ticks, List<Structure> structures, CodePlaces code) {
		record Key(int image, long task, Mode mode, Ticks.Access access, int bytes, boolean known, int structure, int frame, long ip) {
		}
		Lives lives = Lives.of(structures);
		Map<Place, Key> keys = new HashMap<>();
		Map<Key, Row> sums = new LinkedHashMap<>();
		long period = Long.MAX_VALUE;
		for (Tick t : ticks.all()) {
			Key key = keys.computeIfAbsent(t.place(), p -> {
				int s = p.structure() < 0 || p.structure() >= structures.size() ? -1 : lives.first(p.structure());
				int frame = code.of(p.image(), p.ip());
				boolean named = frame >= 0 && !(code.frames().get(frame).function().isEmpty() && code.frames().get(frame).file().isEmpty());
				return new Key(p.image(), p.taskId(), p.mode(), p.access(), p.bytes(), p.addressKnown(), s, frame, named ? 0 : p.ip());
			});
			CallFrame frame = key.frame < 0 ? NOWHERE : code.frames().get(key.frame);
			sums.merge(key, new Row(t.place(), frame, key.structure < 0 ? null : lives.asOne(key.structure), 1, t.cpuNs(), t.timeNs(), t.timeNs(),
					isRecorder(frame)), Row::with);
			period = Math.min(period, t.cpuNs());
		}
		List<Row> rows = new ArrayList<>(sums.values());
		rows.sort(Comparator.comparingLong((Row r) -> -r.cpuNs));
		return new TickShares(rows, rows.isEmpty() ? 0 : period);
	}

	/** Whether it is code of the recorder in the program. */
	public static boolean isRecorder(CallFrame frame) {
		return frame.object().endsWith("/" + OWN_CODE);
	}

	/** Those with most time first. */
	public List<Row> rows() {
		return rows;
	}

	public boolean isEmpty() {
		return rows.isEmpty();
	}

	/** CPU time between two ticks of a thread. */
	public long periodNs() {
		return periodNs;
	}

	/** CPU time of all ticks. */
	public long totalNs() {
		return rows.stream().mapToLong(Row::cpuNs).sum();
	}

	/** CPU time in the program's own code, outside of the kernel. */
	public long userNs() {
		return rows.stream().filter(TickShares::isUser).mapToLong(Row::cpuNs).sum();
	}

	/** Ticks in the program's own code. */
	public long userTicks() {
		return rows.stream().filter(TickShares::isUser).mapToLong(Row::ticks).sum();
	}

	/** CPU time in the kernel, without that of the recorder's code. */
	public long kernelNs(Mode mode) {
		return rows.stream().filter(r -> !r.own && r.place.mode() == mode).mapToLong(Row::cpuNs).sum();
	}

	/** CPU time of the recorder's code in threads of the program. */
	public long ownNs() {
		return rows.stream().filter(Row::own).mapToLong(Row::cpuNs).sum();
	}

	/** Time of the program's own code at instructions that access no memory. */
	public long withoutMemoryNs() {
		return rows.stream().filter(r -> isUser(r) && r.place.access() == Ticks.Access.NONE).mapToLong(Row::cpuNs).sum();
	}

	/** Time of the program's own code of which it is not known what it accesses. */
	public long unknownNs() {
		return rows.stream().filter(r -> isUser(r) && !r.place.addressKnown() && r.place.access() != Ticks.Access.NONE)
				.mapToLong(Row::cpuNs).sum();
	}

	/** Time of the program's own code at accesses to what is no structure. */
	public long elsewhereNs() {
		return rows.stream().filter(r -> isUser(r) && r.place.addressKnown() && r.structure == null).mapToLong(Row::cpuNs).sum();
	}

	private static boolean isUser(Row r) {
		return !r.own && r.place.mode() == Mode.USER;
	}

	/** The structures that the program's own code accesses, or that have faults, those with most time first. */
	public List<Share> structures() {
		Map<Integer, Share> sums = new HashMap<>();
		for (Row r : rows) {
			if (r.structure == null || r.own) {
				continue;
			}
			boolean user = isUser(r);
			sums.merge(r.structure.id(), new Share(r.structure, user ? r.ticks : 0, user ? r.cpuNs : 0,
					r.place.mode() == Mode.FAULT ? r.cpuNs : 0, user ? r : null), Share::with);
		}
		return sums.values().stream().sorted(Comparator.comparingLong((Share s) -> -s.cpuNs).thenComparing(s -> -s.faultNs)
				.thenComparing(s -> s.structure.id())).toList();
	}

	/** Half of the width of the 95 % interval of a share of ticks, in per cent [Wilson 1927]. */
	public static double halfWidthPercent(long ticks, long of) {
		double n = of;
		double p = ticks / n;
		double z = NORMAL_95;
		return 100 * z / (1 + z * z / n) * Math.sqrt(p * (1 - p) / n + z * z / (4 * n * n));
	}

	/** What a share of the program's own code is, with how sure it is: "63 ± 3 %". */
	public String share(long ticks, long cpuNs) {
		long of = userTicks();
		double percent = 100.0 * cpuNs / Math.max(1, userNs());
		return of == 0 ? Units.percent(percent) : Math.round(percent) + " ± " + Math.max(1, Math.round(halfWidthPercent(ticks, of))) + " %";
	}
}
