// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

import org.memtrace.aggregation.events.EventTable;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.EventVisitor;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/** A made-up trace of FrameSoc events. */
public final class SyntheticEvents {
	public static final int RUN = 0;
	public static final int WAIT = 1;
	public static final int TICK = 2;
	public static final int MESSAGE = 3;
	public static final int POWER = 4;
	private static final List<EventType> TYPES = List.of(new EventType(RUN, EventCategory.STATE, "Run"),
			new EventType(WAIT, EventCategory.STATE, "Wait"), new EventType(TICK, EventCategory.PUNCTUAL, "Tick"),
			new EventType(MESSAGE, EventCategory.LINK, "Message"), new EventType(POWER, EventCategory.VARIABLE, "Power"));

	public record Event(int type, int producer, long start, long end, double value, int cpu) {
	}

	public final List<Event> events = new ArrayList<>();
	/** Of the trace. */
	Map<String, String> properties = Map.of();

	/** @param value value of a variable, nesting of a state, end producer of a link */
	public SyntheticEvents add(int type, int producer, long start, long end, double value, int cpu) {
		events.add(new Event(type, producer, start, end, value, cpu));
		return this;
	}

	public EventTable table(ProducerTree producers, long from, long to) throws MemtraceException {
		return EventTable.load(store(producers, from, to), Progress.NONE);
	}

	/** A store that has what tables need. */
	public TraceStore store(ProducerTree producers, long from, long to) {
		TraceInfo info = new TraceInfo(0, "foreign", "foreign", "paje", "", "", "", 0, events.size(), producers.size(), from, to,
				Instant.EPOCH, 0, "", properties);
		events.sort(Comparator.comparingLong(Event::start));
		InvocationHandler store = (proxy, method, arguments) -> switch (method.getName()) {
		case "info" -> info;
		case "producers" -> producers;
		case "eventTypes" -> TYPES;
		case "structures" -> List.of();
		case "accessCount" -> 0L;
		case "visitEvents" -> {
			EventBatch batch = new EventBatch(Math.max(1, events.size()));
			for (Event e : events) {
				batch.add(batch.count, e.type, e.producer, e.start, e.end, e.value, e.cpu);
			}
			((EventVisitor) arguments[1]).visit(batch);
			yield null;
		}
		default -> throw new UnsupportedOperationException(method.getName());
		};
		return (TraceStore) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {TraceStore.class}, store);
	}
}
