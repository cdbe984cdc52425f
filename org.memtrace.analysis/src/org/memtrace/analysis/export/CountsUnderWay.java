// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.export;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/** Counts of the accesses that are under way on each structure and by each thread. Takes accesses in the order of their start. */
final class CountsUnderWay {

	/** Gets what changed. */
	@FunctionalInterface
	interface Sink {
		/**
		 * A counter has other values from a time on.
		 *
		 * @param thread whether it is of a thread; else of a structure
		 * @param number of the thread (that of no thread is the last one), or producer
		 * @param values by type of access, as {@link AccessFilter#TYPES}; they change afterwards
		 */
		void counter(boolean thread, int number, String name, long ns, long[] values) throws IOException;
	}

	private final ProducerTree tree;
	private final Sink sink;
	/** Of a producer the one below the root that it is in, or itself. */
	private final int[] structure;
	/** Producers below the root, then threads, then accesses of no thread. */
	private final long[][] now;
	private final int firstThread;
	/** Number of types that accesses may have. */
	private final int types;
	private final String[] threads;
	private final BitSet changed = new BitSet();
	/** What ends at a time: by counter what it loses. */
	private final TreeMap<Long, Map<Integer, long[]>> ends = new TreeMap<>();
	private long at;

	CountsUnderWay(TraceStore store, Sink sink) throws MemtraceException {
		this.sink = sink;
		types = AccessFilter.types(store.info()).length;
		tree = store.producers();
		structure = new int[tree.size()];
		firstThread = tree.size();
		at = store.info().startNs();
		for (int id = 0; id < structure.length; id++) {
			int parent = tree.parent(id);
			structure[id] = parent < 0 || tree.parent(parent) < 0 ? id : structure[parent];
		}
		threads = new String[store.threads().size() + 1];
		for (int t = 0; t < threads.length - 1; t++) {
			threads[t] = ModelText.thread(store.threads(), t);
		}
		threads[threads.length - 1] = "no known thread";
		now = new long[firstThread + threads.length][];
	}

	void take(AccessBatch b) {
		try {
			for (int i = 0; i < b.count; i++) {
				advance(b.startNs[i]);
				int thread = firstThread + (b.thread[i] < 0 ? threads.length - 1 : b.thread[i]);
				for (int write = 0; write < 2; write++) {
					long count = write == 0 ? b.reads[i] : b.writes[i];
					if (count > 0) {
						int type = AccessFilter.type(b.sharing[i], write == 1);
						begin(structure[b.producer[i]], type, count, b.endNs[i]);
						begin(thread, type, count, b.endNs[i]);
					}
				}
			}
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}

	private void begin(int counter, int type, long count, long end) {
		add(counter, type, count);
		ends.computeIfAbsent(end, e -> new HashMap<>()).computeIfAbsent(counter, c -> new long[types])[type] += count;
	}

	private void add(int counter, int type, long count) {
		if (now[counter] == null) {
			now[counter] = new long[types];
		}
		now[counter][type] += count;
		changed.set(counter);
	}

	/** Writes what changed until a time, which is not before the last one. */
	private void advance(long ns) throws IOException {
		while (!ends.isEmpty() && ends.firstKey() <= ns) {
			if (ends.firstKey() > at) {
				flush();
				at = ends.firstKey();
			}
			ends.pollFirstEntry().getValue().forEach((counter, less) -> {
				for (int t = 0; t < types; t++) {
					add(counter, t, -less[t]);
				}
			});
		}
		if (ns > at) {
			flush();
			at = ns;
		}
	}

	private void flush() throws IOException {
		for (int c = changed.nextSetBit(0); c >= 0; c = changed.nextSetBit(c + 1)) {
			boolean thread = c >= firstThread;
			sink.counter(thread, thread ? c - firstThread : c, thread ? threads[c - firstThread] : tree.name(c), at, now[c]);
		}
		changed.clear();
	}

	void finish() throws IOException {
		advance(Long.MAX_VALUE);
		flush();
	}
}
