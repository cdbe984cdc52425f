// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.source;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.memtrace.model.CallFrame;
import org.memtrace.model.CodePlaces;
import org.memtrace.model.InstructionCounts;
import org.memtrace.model.InstructionCounts.Stride;
import org.memtrace.model.InstructionCounts.Use;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.TraceStore;

/** What instructions did, with their places in the source and the structures they accessed. */
public final class Instructions {
	/** Strides from here on jump over cache lines, not only to the next. */
	public static final long FAR_BYTES = 256;

	/**
	 * An instruction in one direction.
	 *
	 * @param use what it did; of several threads the sum, with the task of one of them
	 * @param threads how many threads ran it
	 * @param place function and line, null when not known
	 * @param structure that of its first access, null when there is none at that address
	 * @param several whether its last access was to another structure
	 */
	public record Row(Use use, int threads, CallFrame place, Structure structure, boolean several) {
		/** Share of the accesses that have the dominant stride; 0 without one. */
		public double dominantShare() {
			Stride s = use.dominant();
			return s == null ? 0 : (double) s.same() / use.accesses();
		}

		/** Whether most accesses are so far from the one before, in one and the same distance, that each needs another cache line. */
		public boolean jumps() {
			Stride s = use.dominant();
			return s != null && Math.abs(s.value()) >= FAR_BYTES && dominantShare() >= 0.5;
		}

		/** Function and line: "walk (app.c:12)"; of code without symbols its address. */
		public String where() {
			if (place == null || place.function().isEmpty() && place.file().isEmpty()) {
				return "0x" + Long.toHexString(use.ip());
			}
			String line = place.file().isEmpty() ? "" : place.file().substring(place.file().lastIndexOf('/') + 1) + ":" + place.line();
			return place.function().isEmpty() ? line : line.isEmpty() ? place.function() : place.function() + " (" + line + ")";
		}

		/** Name of the structure, empty without. */
		public String structureName() {
			return structure == null ? "" : structure.name() + (several ? ", …" : "");
		}

		/** What its accesses look like, in a few words: "4,800 bytes apart (99 %)". */
		public String stride() {
			Stride s = use.dominant();
			long strides = use.strides().stream().mapToLong(Stride::count).sum();
			if (s == null || strides == 0) {
				return "";
			}
			String percent = " (" + Math.round(100.0 * s.same() / strides) + " %)";
			if (s.same() < 0.5 * strides) {
				return "irregular";
			}
			return switch (s.kind()) {
				case SAME -> "the same place" + percent;
				case ELEMENT -> (s.value() < 0 ? "one after the other, backwards" : "one after the other") + percent;
				default -> String.format(Locale.ROOT, "%,d bytes apart%s", s.value(), percent);
			};
		}
	}

	private static final CallFrame NOWHERE = new CallFrame(0, "", "", "", 0);

	private Instructions() {
	}

	/** What was counted; none in other traces. */
	public static InstructionCounts counts(TraceStore store) throws MemtraceException {
		byte[] note = store.readNote(InstructionCounts.NOTE).orElse(null);
		return note == null ? InstructionCounts.NONE : InstructionCounts.parse(note);
	}

	/**
	 * By image, instruction and direction.
	 *
	 * @param byThread a row for each thread, too
	 */
	public static List<Row> of(TraceStore store, boolean byThread) throws MemtraceException {
		InstructionCounts counts = counts(store);
		List<Row> rows = new ArrayList<>();
		if (counts.isEmpty()) {
			return rows;
		}
		CodePlaces code = RecordedCode.of(store);
		Lookup lookup = new Lookup(store.structures());
		Use sum = null;
		int threads = 0;
		for (Use u : counts.uses()) {
			if (sum != null && (byThread || u.image() != sum.image() || u.ip() != sum.ip() || u.write() != sum.write())) {
				rows.add(row(sum, threads, code, lookup));
				sum = null;
				threads = 0;
			}
			sum = sum == null ? u : sum.with(u);
			threads++;
		}
		rows.add(row(sum, threads, code, lookup));
		return rows;
	}

	/**
	 * The instructions of a source line (or of a function without lines) that access one structure in one direction, as one: where a compiler
	 * unrolls a loop there are several. The one with the most accesses first.
	 */
	public static List<Row> byLine(List<Row> rows) {
		record Key(int image, String object, String function, String file, int line, int structure, boolean write) {
		}
		Map<Key, Row> lines = new LinkedHashMap<>();
		for (Row r : rows) {
			CallFrame f = r.place == null ? NOWHERE : r.place;
			lines.merge(new Key(r.use.image(), f.object(), f.function(), f.file(), f.line(), r.structure == null ? -1 : r.structure.id(),
					r.use.write()), r,
					(a, b) -> new Row(a.use.with(b.use), Math.max(a.threads, b.threads), a.place, a.structure, a.several || b.several));
		}
		return lines.values().stream().sorted(Comparator.comparingLong((Row r) -> -r.use.accesses())).toList();
	}

	private static Row row(Use u, int threads, CodePlaces code, Lookup lookup) {
		int frame = code.of(u.image(), u.ip());
		Structure first = lookup.at(u.image(), u.first());
		return new Row(u, threads, frame < 0 ? null : code.frames().get(frame), first, lookup.at(u.image(), u.last()) != first);
	}

	/** Finds structures by address: when an instruction was there is not known, so of several in turn the one that lived longest. */
	private static final class Lookup {
		/** Blocks that had an address in turn and are looked at. */
		private static final int MOST = 1000;

		/** Of one image and rank, by start; how far those up to each reach. */
		private record Sorted(List<Structure> structures, long[] reach) {
			Structure at(long address) {
				int low = 0;
				int high = structures.size();
				while (low < high) {
					int mid = (low + high) >>> 1;
					if (Long.compareUnsigned(structures.get(mid).startAddress(), address) <= 0) {
						low = mid + 1;
					} else {
						high = mid;
					}
				}
				Structure longest = null;
				int seen = 0;
				for (int i = low - 1; i >= 0 && seen < MOST && Long.compareUnsigned(reach[i], address) > 0; i--) {
					Structure s = structures.get(i);
					if (Long.compareUnsigned(s.endAddress(), address) > 0) {
						seen++;
						longest = longest == null || life(s) > life(longest) ? s : longest;
					}
				}
				return longest;
			}

			private static double life(Structure s) {
				return (double) s.deathNs() - s.birthNs();
			}
		}

		private final Map<Integer, Sorted[]> images = new HashMap<>();

		Lookup(List<Structure> structures) {
			Map<Integer, List<List<Structure>>> lists = new HashMap<>();
			for (Structure s : structures) {
				lists.computeIfAbsent(s.image(), k -> List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>())).get(rank(s.kind())).add(s);
			}
			lists.forEach((image, ranks) -> images.put(image, ranks.stream().map(Lookup::sorted).toArray(Sorted[]::new)));
		}

		/** As in docs/reference/trace-files.md. */
		private static int rank(StructureKind kind) {
			return kind == StructureKind.MMAP ? 1 : kind == StructureKind.BRK || kind == StructureKind.FILE ? 2 : 0;
		}

		private static Sorted sorted(List<Structure> list) {
			list.sort(Comparator.comparing(Structure::startAddress, Long::compareUnsigned));
			long[] reach = new long[list.size()];
			for (int i = 0; i < reach.length; i++) {
				long end = list.get(i).endAddress();
				reach[i] = i > 0 && Long.compareUnsigned(reach[i - 1], end) > 0 ? reach[i - 1] : end;
			}
			return new Sorted(list, reach);
		}

		Structure at(int image, long address) {
			for (Sorted s : images.getOrDefault(image, new Sorted[0])) {
				Structure found = s.at(address);
				if (found != null) {
					return found;
				}
			}
			return null;
		}
	}
}
