// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Consumer;

import org.memtrace.aggregation.time.AccessTimes;
import org.memtrace.aggregation.time.TimeDensity;
import org.memtrace.aggregation.time.TimeSet;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * The sums that are saved with a trace: looked for when something is asked first, computed where a large trace has none, or where they are
 * damaged. Its table calls it with its lock held.
 */
final class TableSums {
	/** Traces with fewer accesses are looked at as fast without, so they get none when they have none. */
	static final long LEAST_ACCESSES = 1_000_000;

	private final TraceStore store;
	private final ProducerTree producers;
	private final List<ThreadInfo> threads;
	private final AccessScan scan;
	private Consumer<String> told = text -> {
	};
	/** Null before somebody asks, or when there are none. */
	private SavedSums saved;
	private boolean searched;

	TableSums(TraceStore store, ProducerTree producers, List<ThreadInfo> threads, AccessScan scan) {
		this.store = store;
		this.producers = producers;
		this.threads = threads;
		this.scan = scan;
	}

	/** Who is told when something is damaged. */
	void tell(Consumer<String> listener) {
		told = listener;
	}

	/** There are none, whatever is saved. */
	void none() {
		searched = true;
	}

	/** Null when there are none. */
	SavedSums get(Progress progress) throws MemtraceException {
		return get(LEAST_ACCESSES, AccessCube.MOST_CELLS, null, progress);
	}

	/** Makes them if they are not there, however few accesses there are. */
	boolean prepare(int mostCells, SavedSums.Addition addition, Progress progress) throws MemtraceException {
		return get(1, mostCells, addition, progress) != null;
	}

	private SavedSums get(long least, int mostCells, SavedSums.Addition addition, Progress progress) throws MemtraceException {
		if (searched && (saved == null || !saved.isDamaged())) {
			return saved;
		}
		String stamp = store.contentStamp();
		boolean first = !searched;
		searched = true; // also for what is computed here
		if (stamp.isEmpty() || store.accessCount() == 0) {
			return null;
		}
		SavedSums found = first ? new SavedSums(store, stamp, told) : saved;
		if (first && found.facts() != null) {
			saved = found;
			return saved;
		}
		saved = null;
		if (found.isDamaged() || store.accessCount() >= least) {
			boolean ended = false;
			try {
				if (!compute(stamp, mostCells, addition, progress)) {
					saved = null;
				}
				ended = true;
			} finally {
				if (!ended) {
					saved = null;
					searched = false;
				}
			}
		}
		return saved;
	}

	/** What the first pass over all accesses finds. Times are null when there are too many. */
	private record Looked(List<FirstTouches.Part> touches, int maxNode, int maxSharing, BitSet inner, AccessTimes times) {
	}

	private Looked look(AccessQuery all, String step, Progress progress) throws MemtraceException {
		Set<AccessColumn> columns = EnumSet.of(AccessColumn.NODE, AccessColumn.SHARING);
		columns.addAll(FirstTouches.COLUMNS);
		List<FirstTouches.Part> touches = new ArrayList<>();
		TimeSet set = new TimeSet();
		int maxNode = -1;
		int maxSharing = -1;
		BitSet inner = new BitSet();
		for (Passes.First part : scan.run(all, columns, step, progress, (from, to) -> new Passes.First(producers))) {
			touches.add(part.touches);
			maxNode = Math.max(maxNode, part.node.max());
			maxSharing = Math.max(maxSharing, part.sharing.max());
			part.inner.forEach(inner::set);
			if (set.size() <= TimeDensity.GRID) {
				set.addAll(part.times.set());
			}
		}
		if (set.size() > TimeDensity.GRID) {
			return new Looked(touches, maxNode, maxSharing, inner, null);
		}
		long[][] sorted = set.sorted();
		return new Looked(touches, maxNode, maxSharing, inner, new AccessTimes(sorted[0], sorted[1]));
	}

	/** Computes and saves everything; nothing where accesses are damaged. */
	private boolean compute(String stamp, int mostCells, SavedSums.Addition addition, Progress progress) throws MemtraceException {
		String step = addition == null ? "Preparing sums (%d of 2)" : "Preparing sums and first pictures (%d of 3)";
		long startNs = store.info().startNs();
		long endNs = store.info().endNs();
		AccessQuery all = AccessScan.query(producers, -1, Long.MIN_VALUE, Long.MAX_VALUE);
		Looked looked = look(all, step.formatted(1), progress);
		FirstTouches first = FirstTouches.of(looked.touches);
		TimeDensity.Times numbered = TimeDensity.Times.of(looked.times, startNs, endNs);
		AtomicLongArray accesses = new AtomicLongArray(numbered.count());
		AtomicLongArray touched = new AtomicLongArray(numbered.count());
		AccessCube.Builder cube = new AccessCube.Builder(producers, threads.size(), looked.times, startNs, endNs, mostCells);
		scan.run(all, AccessCube.COLUMNS, step.formatted(2), progress, (from, to) -> new AccessScan.Part() {
			private final AccessScan.Part density = new Passes.Density(numbered, first, accesses, touched);
			private final AccessScan.Part sums = cube.part();

			@Override
			public void chunk(AccessChunk c, int leafFrom, int leafTo) throws MemtraceException {
				density.chunk(c, leafFrom, leafTo);
				sums.chunk(c, leafFrom, leafTo);
			}

			@Override
			public void end() throws MemtraceException {
				sums.end();
			}
		});
		if (!scan.lost().isNone()) {
			return false;
		}
		SavedSums made = new SavedSums(store, stamp, told);
		made.put(first, looked.times);
		AccessCube built = cube.build();
		if (built != null) {
			made.put(built);
		}
		SavedSums.Facts facts = new SavedSums.Facts(looked.maxNode, looked.maxSharing, looked.inner, looked.times,
				numbered.density(accesses::get, touched::get));
		made.keep(facts);
		saved = made; // what comes now is answered from it
		if (addition != null && !addition.add(made)) {
			return false;
		}
		made.put(facts); // the last one: without it nothing is looked for
		return true;
	}
}
