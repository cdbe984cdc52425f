// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.column;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.fine.FineCounts;
import org.memtrace.model.fine.FineCounts.Bin;
import org.memtrace.model.fine.FineCounts.Count;
import org.memtrace.model.fine.FineCounts.Stratum;
import org.memtrace.model.fine.FineEstimate;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.TraceStore;

/** The rows of the table {@code fine}: for each bin of a fine clock and each structure how many pages were used, and how sure it is. */
final class FineRows {
	private static final int NONE = -1;

	private final FineCounts counts;
	/** Whether each write of a page is seen. */
	private final boolean decoded;
	private final List<Structure> structures;
	/** Structures that have bytes of a stratum, at whatever time. */
	private final Map<Stratum, List<Structure>> candidates = new HashMap<>();

	private FineRows(TraceStore store, FineCounts counts) throws MemtraceException {
		this.counts = counts;
		this.decoded = store.info().properties().getOrDefault("guarantee_writes", "").equals("decoded");
		this.structures = store.structures();
	}

	/** Gets the values of a row, in the order of the columns. */
	interface Rows {
		void row(Object... values) throws MemtraceException;
	}

	/** What was used and what was written. */
	private record Both(FineEstimate used, FineEstimate written) {
	}

	static void visit(TraceStore store, Rows visitor, Progress progress) throws MemtraceException {
		byte[] note = store.readNote(FineCounts.NOTE).orElse(null);
		if (note != null) {
			new FineRows(store, FineCounts.parse(note)).visit(visitor, progress);
		}
	}

	private void visit(Rows visitor, Progress progress) throws MemtraceException {
		Map<Integer, Map<Long, Stratum>> strata = new HashMap<>();
		counts.strata().forEach(s -> strata.computeIfAbsent(s.image(), i -> new TreeMap<>()).put(s.number(), s));
		Map<List<Long>, List<Count>> ofBin = new HashMap<>();
		counts.counts().forEach(c -> ofBin.computeIfAbsent(List.of((long) c.image(), c.bin()), k -> new ArrayList<>()).add(c));
		for (Bin bin : counts.bins()) {
			progress.check();
			Map<Long, Stratum> all = strata.getOrDefault(bin.image(), Map.of());
			Map<Long, Integer> structureOf = new HashMap<>();
			Map<Integer, Both> sums = new TreeMap<>();
			for (Stratum s : all.values()) { // one without a line was not used
				int structure = structure(s, bin);
				structureOf.put(s.number(), structure);
				sums.computeIfAbsent(structure, k -> new Both(new FineEstimate(), new FineEstimate()));
			}
			for (Count c : ofBin.getOrDefault(List.of((long) bin.image(), bin.number()), List.of())) {
				Both sum = sums.get(structureOf.get(c.stratum()));
				sum.used.add(c.mapped(), c.sampled(), c.hit(), c.armed(), c.armedHit());
				sum.written.add(c.mapped(), c.sampled(), c.hitWritten(), c.armed(), c.armedWritten());
			}
			for (Map.Entry<Integer, Both> e : sums.entrySet()) {
				row(bin, e.getKey(), e.getValue(), visitor);
			}
		}
	}

	/** The structure that has most bytes of a stratum at the time of a bin; of equal ones the lowest number. */
	private int structure(Stratum s, Bin bin) {
		int best = NONE;
		long most = 0;
		for (Structure x : candidates.computeIfAbsent(s, k -> structures.stream().filter(x -> bytes(s, x) > 0).toList())) {
			if (x.birthNs() < bin.endNs() && x.deathNs() > bin.startNs() && bytes(s, x) > most) {
				most = bytes(s, x);
				best = x.id();
			}
		}
		return best;
	}

	private static long bytes(Stratum s, Structure x) {
		long from = Long.compareUnsigned(x.startAddress(), s.start()) > 0 ? x.startAddress() : s.start();
		long to = Long.compareUnsigned(x.endAddress(), s.end()) < 0 ? x.endAddress() : s.end();
		return x.image() == s.image() && Long.compareUnsigned(from, to) < 0 ? to - from : 0;
	}

	private void row(Bin bin, int structure, Both sum, Rows visitor) throws MemtraceException {
		boolean known = bin.known();
		FineEstimate used = sum.used;
		FineEstimate written = sum.written;
		Object state = !known || !used.isKnown() ? "not known" : used.isExact() ? "exact" : "estimated";
		visitor.row(bin.image(), bin.number(), bin.startNs(), bin.endNs(), structure == NONE ? null : structure,
				structure == NONE ? null : structures.get(structure).name(), state, known ? pages(used.value()) : null,
				known ? pages(used.low()) : null, known ? pages(used.high()) : null, known && decoded ? pages(written.value()) : null,
				known ? pages(written.low()) : null, known ? pages(decoded ? written.high() : used.high()) : null,
				known ? pages(100 * used.knownShare()) : null);
	}

	/** To a thousandth; null for what is not known. */
	private static Double pages(double value) {
		return Double.isNaN(value) ? null : Math.rint(1000 * value) / 1000;
	}
}
