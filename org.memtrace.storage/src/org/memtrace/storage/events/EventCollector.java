// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.events;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;

/**
 * Takes the events of a trace that is being written: checks them, gives each combination of type, producer, CPU and level or end
 * producer a number (its context), and puts them in order of time. All stores use it. Used by one thread.
 */
public final class EventCollector implements AutoCloseable {
	/** Stores the sets of parameters. */
	public interface ParameterSink {
		/** @param types numbers of the parameter types, one for each value */
		void set(int number, int[] types, String[] values) throws MemtraceException;
	}

	/**
	 * A parameter that events of one type can have.
	 *
	 * @param whole whether all its values were whole numbers of 64 bits
	 */
	public record ParameterType(int eventType, String name, boolean whole) {
	}

	/** Receives the events in order, with their ids. */
	public interface Receiver {
		void event(long id, long start, long end, int context, int parameters, double value) throws MemtraceException;
	}

	/** What events have in common. */
	public record Context(int type, EventCategory category, int producer, int cpu, int value) {
	}

	/** Sets of parameters that are remembered, so that equal ones are stored once. */
	private static final int REMEMBERED_SETS = 1 << 15;
	private static final int CONTEXT_FIELDS = 4;
	private static final long MOST_EVENTS = Integer.MAX_VALUE / 2;
	private static final int LONGEST_NAME = 128;

	private final EventSorter sorter;
	private final ParameterSink parameterSink;
	private final List<EventType> types = new ArrayList<>();
	private final Set<String> typeNames = new HashSet<>();
	/** Four numbers for each context. */
	private int[] contexts = new int[CONTEXT_FIELDS * 64];
	private int contextCount;
	/** Open addressing; number + 1, 0 for free. */
	private int[] table = new int[256];
	private final Map<List<Object>, Integer> parameterTypeNumbers = new LinkedHashMap<>();
	private ParameterType[] parameterTypes = {};
	private final Map<List<Object>, Integer> remembered = new LinkedHashMap<>(1024, 0.75f, true) {
		private static final long serialVersionUID = 1;

		@Override
		protected boolean removeEldestEntry(Map.Entry<List<Object>, Integer> eldest) {
			return size() > REMEMBERED_SETS;
		}
	};
	/** Event type of each set, from 1. */
	private int[] setType = new int[64];
	private int sets;
	private int mostInASet;
	private long firstNs = Long.MAX_VALUE;
	private long lastNs = Long.MIN_VALUE;

	/** @param directory for temporary data; null keeps all of it on the heap */
	public EventCollector(Path directory, ParameterSink parameterSink) {
		this.sorter = directory == null ? new EventSorter(null, Integer.MAX_VALUE - 8) : new EventSorter(directory);
		this.parameterSink = parameterSink;
	}

	public long count() {
		return sorter.rows();
	}

	/** Start of the first event, the largest number without events. */
	public long firstNs() {
		return firstNs;
	}

	/** Latest end of an event, the smallest number without events. */
	public long lastNs() {
		return lastNs;
	}

	public List<EventType> types() {
		return Collections.unmodifiableList(types);
	}

	public List<ParameterType> parameterTypes() {
		return Arrays.asList(parameterTypes).subList(0, parameterTypeNumbers.size());
	}

	/** Parameters that one event has at most. */
	int mostParameters() {
		return mostInASet;
	}

	public int contextCount() {
		return contextCount;
	}

	/** Takes what is new in the list: a type for each event is no reason to look at all of them each time. */
	public void types(List<EventType> list) throws StoreException {
		int known = types.size();
		if (list.size() < known) {
			throw new StoreException("there were " + known + " event types, now there are " + list.size());
		}
		for (int i = Math.max(0, known - 1); i < list.size(); i++) {
			EventType type = list.get(i);
			if (type.id() != i || i < known && !types.get(i).equals(type)) {
				throw new StoreException("event type " + type.id() + " (" + type.name() + ") is at place " + i + " of its list"
						+ (i < known ? ", where " + types.get(i).name() + " was before" : ""));
			}
			if (i < known) {
				continue;
			}
			if (type.name().isBlank() || type.name().length() > LONGEST_NAME || !typeNames.add(type.name())) {
				throw new StoreException("the name \"" + type.name() + "\" of an event type is empty, longer than " + LONGEST_NAME
						+ " characters, or there twice");
			}
			types.add(type);
		}
	}

	public int parameters(int eventType, Map<String, String> values) throws MemtraceException {
		if (eventType < 0 || eventType >= types.size()) {
			throw new StoreException("parameters of the unknown event type " + eventType);
		}
		if (values.isEmpty()) {
			return 0;
		}
		int[] numbers = new int[values.size()];
		String[] texts = new String[values.size()];
		Object[] key = new Object[2 * values.size()];
		int i = 0;
		for (Map.Entry<String, String> value : values.entrySet()) {
			numbers[i] = parameterType(eventType, value.getKey());
			texts[i] = value.getValue();
			key[2 * i] = numbers[i];
			key[2 * i + 1] = texts[i++];
		}
		List<Object> wanted = Arrays.asList(key);
		Integer known = remembered.get(wanted);
		if (known != null) {
			return known;
		}
		for (int p = 0; p < numbers.length; p++) {
			ParameterType type = parameterTypes[numbers[p]];
			if (type.whole && !isWhole(texts[p])) {
				parameterTypes[numbers[p]] = new ParameterType(type.eventType, type.name, false);
			}
		}
		sets++;
		if (sets == setType.length) {
			setType = Arrays.copyOf(setType, 2 * sets);
		}
		setType[sets] = eventType;
		mostInASet = Math.max(mostInASet, numbers.length);
		remembered.put(wanted, sets);
		parameterSink.set(sets, numbers, texts);
		return sets;
	}

	private int parameterType(int eventType, String name) throws StoreException {
		List<Object> key = List.of(eventType, name);
		Integer known = parameterTypeNumbers.get(key);
		if (known != null) {
			return known;
		}
		if (name.isBlank() || name.length() > LONGEST_NAME) {
			throw new StoreException("the name \"" + name + "\" of a parameter is empty or longer than " + LONGEST_NAME + " characters");
		}
		int number = parameterTypeNumbers.size();
		parameterTypeNumbers.put(key, number);
		if (number == parameterTypes.length) {
			parameterTypes = Arrays.copyOf(parameterTypes, 2 * number + 8);
		}
		parameterTypes[number] = new ParameterType(eventType, name, true);
		return number;
	}

	private static boolean isWhole(String text) {
		try {
			Long.parseLong(text);
			return true;
		} catch (NumberFormatException e) {
			return false;
		}
	}

	public void events(EventBatch batch) throws MemtraceException {
		for (int i = 0; i < batch.count; i++) {
			event(batch, i);
		}
		if (count() > MOST_EVENTS) {
			throw new StoreException("a trace database holds at most " + MOST_EVENTS + " events");
		}
	}

	private void event(EventBatch batch, int i) throws MemtraceException {
		long start = batch.startNs[i];
		long end = batch.endNs[i];
		int type = batch.type[i];
		double value = batch.value[i];
		if (type < 0 || type >= types.size()) {
			throw new StoreException("event of the unknown type " + type);
		}
		if (end < start) {
			throw new StoreException("event " + types.get(type).name() + " that ends before it starts: " + start + " to " + end);
		}
		if (!Double.isFinite(value)) {
			throw new StoreException("event " + types.get(type).name() + " with the value " + value);
		}
		if (batch.producer[i] < 0) {
			throw new StoreException("event of the unknown event producer " + batch.producer[i]);
		}
		int set = batch.parameters(i);
		if (set < 0 || set > sets || set > 0 && setType[set] != type) {
			throw new StoreException("event " + types.get(type).name() + " with the unknown parameters " + set);
		}
		int common = 0;
		EventCategory kind = types.get(type).category();
		if (kind == EventCategory.LINK || kind == EventCategory.STATE) {
			common = (int) value;
			if (common == value) {
				value = 0;
			} else if (kind == EventCategory.LINK) {
				throw new StoreException("link " + types.get(type).name() + " to the unknown event producer " + value);
			} else {
				common = 0;
			}
		}
		if (kind == EventCategory.PUNCTUAL && end != start) {
			throw new StoreException("punctual event " + types.get(type).name() + " that lasts from " + start + " to " + end);
		}
		firstNs = Math.min(firstNs, start);
		lastNs = Math.max(lastNs, end);
		sorter.add(start, end, context(type, batch.producer[i], batch.cpu[i], common), set, value);
	}

	private static int hash(int type, int producer, int cpu, int value) {
		int hash = (((type * 31 + producer) * 31 + cpu) * 31 + value) * 0x9e3779b9;
		return hash ^ hash >>> 15;
	}

	private int context(int type, int producer, int cpu, int value) {
		int mask = table.length - 1;
		int slot = hash(type, producer, cpu, value) & mask;
		while (table[slot] != 0) {
			int at = (table[slot] - 1) * CONTEXT_FIELDS;
			if (contexts[at] == type && contexts[at + 1] == producer && contexts[at + 2] == cpu && contexts[at + 3] == value) {
				return table[slot] - 1;
			}
			slot = (slot + 1) & mask;
		}
		int at = contextCount * CONTEXT_FIELDS;
		if (at == contexts.length) {
			contexts = Arrays.copyOf(contexts, 2 * at);
		}
		contexts[at] = type;
		contexts[at + 1] = producer;
		contexts[at + 2] = cpu;
		contexts[at + 3] = value;
		table[slot] = ++contextCount;
		if (2 * contextCount > table.length) {
			grow();
		}
		return contextCount - 1;
	}

	private void grow() {
		table = new int[2 * table.length];
		int mask = table.length - 1;
		for (int c = 0; c < contextCount; c++) {
			int at = c * CONTEXT_FIELDS;
			int slot = hash(contexts[at], contexts[at + 1], contexts[at + 2], contexts[at + 3]) & mask;
			while (table[slot] != 0) {
				slot = (slot + 1) & mask;
			}
			table[slot] = c + 1;
		}
	}

	/**
	 * What the events of a context have in common.
	 *
	 * @param idOf producer by the number that events have for it, null when it is the same
	 * @param producers number of producers of the tree
	 */
	public Context context(int number, int[] idOf, int producers) throws StoreException {
		int at = number * CONTEXT_FIELDS;
		EventType type = types.get(contexts[at]);
		boolean link = type.category() == EventCategory.LINK;
		return new Context(type.id(), type.category(), producer(type, contexts[at + 1], idOf, producers), contexts[at + 2],
				link ? producer(type, contexts[at + 3], idOf, producers) : contexts[at + 3]);
	}

	private static int producer(EventType type, int number, int[] idOf, int producers) throws StoreException {
		int id = number < 0 || idOf != null && number >= idOf.length ? -1 : idOf == null ? number : idOf[number];
		if (id < 0 || id >= producers) {
			throw new StoreException("event " + type.name() + " of the unknown event producer " + number);
		}
		return id;
	}

	/** Gives all events in order of time, numbered from {@code firstId}; none can be added afterwards. */
	public void finish(long firstId, Receiver to, Progress progress) throws MemtraceException {
		if (firstId + count() > MOST_EVENTS) {
			throw new StoreException("a trace database holds at most " + MOST_EVENTS + " events");
		}
		long[] id = { firstId };
		sorter.finish((start, end, context, parameters, value) -> to.event(id[0]++, start, end, context, parameters, value), progress);
	}

	@Override
	public void close() {
		sorter.close();
	}
}
