// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

import org.memtrace.model.Progress;
import org.memtrace.model.columns.Losses;
import org.memtrace.model.store.HeapAccessSource;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.EventVisitor;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/** A trace of another tool: states, links, instants and variables of four processes on two nodes. */
public final class SampleEvents {
	private static final long MS = 1_000_000;

	private SampleEvents() {
	}

	/** Reads from memory; nothing can be written. */
	public static TraceStore store() {
		ProducerTreeBuilder b = new ProducerTreeBuilder(0);
		b.begin(ProducerKind.OTHER, "cluster", 0, 0, -1);
		int[] ranks = new int[4];
		for (int r = 0; r < 4; r++) {
			if (r % 2 == 0) {
				b.begin(ProducerKind.OTHER, "node " + r / 2, 0, 0, -1);
			}
			ranks[r] = b.leaf(ProducerKind.OTHER, "rank " + r, 0, 0, -1);
			if (r % 2 == 1) {
				b.end();
			}
		}
		b.end();
		int power = b.leaf(ProducerKind.OTHER, "power", 0, 0, -1);
		ProducerTree tree = b.build();
		List<EventType> types = List.of(new EventType(0, EventCategory.STATE, "Compute"), new EventType(1, EventCategory.STATE, "Wait"),
				new EventType(2, EventCategory.STATE, "Send"), new EventType(3, EventCategory.PUNCTUAL, "Checkpoint"),
				new EventType(4, EventCategory.LINK, "Message"), new EventType(5, EventCategory.VARIABLE, "Watts"));
		record Event(int type, int producer, long start, long end, double value) {
		}
		List<Event> list = new ArrayList<>();
		Random random = new Random(7);
		long end = 1000 * MS;
		for (int r = 0; r < 4; r++) {
			for (long t = 0; t < end;) {
				long compute = (20 + random.nextInt(40)) * MS;
				list.add(new Event(0, ranks[r], t, Math.min(end, t + compute), 0));
				if (random.nextBoolean()) {
					list.add(new Event(2, ranks[r], t + compute / 2, Math.min(end, t + compute * 3 / 4), 1));
					list.add(new Event(4, ranks[r], t + compute / 2, t + compute / 2 + 6 * MS, ranks[(r + 1) % 4]));
				}
				t += compute;
				long wait = (2 + random.nextInt(12)) * MS;
				list.add(new Event(1, ranks[r], t, Math.min(end, t + wait), 0));
				t += wait;
				if (random.nextInt(5) == 0) {
					list.add(new Event(3, ranks[r], Math.min(end - 1, t), Math.min(end - 1, t), 0));
				}
			}
		}
		for (long t = 0; t < end; t += 10 * MS) {
			list.add(new Event(5, power, t, t + 10 * MS, 100 + 40 * Math.sin(t / 1e8)));
		}
		list.removeIf(e -> e.start >= end || e.end < e.start || e.end > end);
		list.sort(Comparator.comparingLong(Event::start));
		TraceInfo info = new TraceInfo(77, "mpi", "mpi", "paje", "", "", "", 4, list.size(), tree.size(), 0, end, Instant.EPOCH, 0, "",
				Map.of());
		InvocationHandler store = (proxy, method, arguments) -> switch (method.getName()) {
		case "info" -> info;
		case "contentStamp" -> "";
		case "producers" -> tree;
		case "eventTypes" -> types;
		case "accessCount" -> 0L;
		case "accessSource" -> HeapAccessSource.of((TraceStore) proxy, Progress.NONE);
		case "losses" -> Losses.NONE;
		case "structures", "threads", "cpuSets", "intervals" -> List.of();
		case "addressSpaces" -> Set.of(AddressSpace.VIRTUAL);
		case "eventParameters" -> Collections.nCopies(((long[]) arguments[0]).length, "");
		case "importReport", "readCache", "readNote" -> Optional.empty();
		case "visitEvents" -> {
			// with or without positions from which and before which they are wanted
			boolean part = arguments[1] instanceof Long;
			EventBatch batch = new EventBatch(list.size());
			for (int i = 0; i < list.size(); i++) {
				Event e = list.get(i);
				if (!part || !before(e.start, i, arguments, 1) && before(e.start, i, arguments, 3)) {
					batch.add(i, e.type, e.producer, e.start, e.end, e.value, 0);
				}
			}
			((EventVisitor) arguments[part ? 5 : 1]).visit(batch);
			yield null;
		}
		case "hashCode" -> 1;
		case "equals" -> proxy == arguments[0];
		default -> null;
		};
		return (TraceStore) Proxy.newProxyInstance(SampleEvents.class.getClassLoader(), new Class<?>[] {TraceStore.class}, store);
	}

	private static boolean before(long start, long id, Object[] arguments, int at) {
		long ns = (Long) arguments[at];
		return start < ns || start == ns && id < (Long) arguments[at + 1];
	}
}
