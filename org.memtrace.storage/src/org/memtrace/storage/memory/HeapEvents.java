// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.memory;

import java.util.ArrayList;
import java.util.List;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventVisitor;
import org.memtrace.storage.events.EventCollector;

/**
 * Events other than accesses on the heap, in order of start, with ids that follow each other.
 *
 * @param chunks all of them full but the last
 * @param sets texts of the sets of parameters, from 1
 */
record HeapEvents(List<EventBatch> chunks, long count, List<String> sets) {
	private static final int CHUNK = 16_384;
	private static final int BATCH = 4096;

	/** @param firstType id of the first event type */
	static HeapEvents of(EventCollector collector, List<String> sets, int[] idOf, int producers, long firstId, int firstType,
			Progress progress) throws MemtraceException {
		EventCollector.Context[] contexts = new EventCollector.Context[collector.contextCount()];
		for (int i = 0; i < contexts.length; i++) {
			contexts[i] = collector.context(i, idOf, producers);
		}
		List<EventBatch> chunks = new ArrayList<>();
		progress.begin("Sorting events", collector.count());
		collector.finish(firstId, (id, start, end, context, set, value) -> {
			if (chunks.isEmpty() || chunks.get(chunks.size() - 1).isFull()) {
				chunks.add(new EventBatch(CHUNK));
			}
			EventBatch chunk = chunks.get(chunks.size() - 1);
			EventCollector.Context c = contexts[context];
			chunk.add(id, firstType + c.type(), c.producer(), start, end, c.value() + value, c.cpu());
			chunk.setParameters(set);
		}, progress);
		return new HeapEvents(chunks, collector.count(), List.copyOf(sets));
	}

	void visit(AccessQuery query, long fromId, long toId, EventVisitor visitor, Progress progress) throws MemtraceException {
		if (query.fromNs() >= query.toNs()) {
			progress.begin("Reading events", 0);
			return;
		}
		progress.begin("Reading events", count);
		EventBatch out = new EventBatch(BATCH);
		for (EventBatch chunk : chunks) {
			progress.check();
			for (int i = 0; i < chunk.count; i++) {
				if (chunk.id[i] >= fromId && chunk.id[i] < toId && chunk.producer[i] >= query.producerFrom()
						&& chunk.producer[i] < query.producerTo() && chunk.startNs[i] < query.toNs()
						&& (chunk.startNs[i] >= query.fromNs() || chunk.endNs[i] > query.fromNs())) {
					if (out.isFull()) {
						visitor.visit(out);
						out.count = 0;
						progress.check();
					}
					copy(chunk, i, out);
				}
			}
			progress.worked(chunk.count);
		}
		if (out.count > 0) {
			visitor.visit(out);
		}
	}

	private static void copy(EventBatch from, int i, EventBatch to) {
		to.add(from.id[i], from.type[i], from.producer[i], from.startNs[i], from.endNs[i], from.value[i], from.cpu[i]);
	}

	void read(long[] ids, EventVisitor visitor) throws MemtraceException {
		EventBatch out = new EventBatch(Math.max(1, ids.length));
		for (long id : ids) {
			long row = chunks.isEmpty() ? -1 : id - chunks.get(0).id[0];
			if (row >= 0 && row < count) {
				copy(chunks.get((int) (row / CHUNK)), (int) (row % CHUNK), out);
			}
		}
		if (out.count > 0) {
			visitor.visit(out);
		}
	}

	List<String> parameters(long[] ids) {
		List<String> texts = new ArrayList<>();
		for (long id : ids) {
			long row = chunks.isEmpty() ? -1 : id - chunks.get(0).id[0];
			int set = row < 0 || row >= count ? 0 : chunks.get((int) (row / CHUNK)).parameters((int) (row % CHUNK));
			texts.add(set == 0 ? "" : sets.get(set - 1));
		}
		return texts;
	}
}
