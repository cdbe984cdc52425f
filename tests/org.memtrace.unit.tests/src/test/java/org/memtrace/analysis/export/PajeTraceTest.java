// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.SyntheticEvents;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTreeBuilder;

/** Reads what is written by its own definitions, as a reader of Pajé does, and plays it. */
class PajeTraceTest {
	private static final Pattern FIELD = Pattern.compile("\"[^\"]*\"|\\S+");

	/** Events after the definitions: the name of each, then its fields. */
	private static List<Map<String, String>> read(TraceStore store) throws Exception {
		StringBuilder text = new StringBuilder();
		PajeTrace.write(store, AccessFilter.of(AccessQuery.ALL), text, Progress.NONE);
		Map<String, List<String>> definitions = new HashMap<>();
		List<String> open = null;
		List<Map<String, String>> events = new ArrayList<>();
		for (String line : text.toString().lines().toList()) {
			if (line.startsWith("%EventDef ")) {
				String[] words = line.split(" ");
				open = new ArrayList<>(List.of(words[1]));
				definitions.put(words[2], open);
			} else if (line.startsWith("% ")) {
				open.add(line.split(" ")[1]);
			} else if (!line.startsWith("%")) {
				List<String> fields = new ArrayList<>();
				Matcher m = FIELD.matcher(line);
				while (m.find()) {
					fields.add(m.group().replace("\"", ""));
				}
				List<String> names = definitions.get(fields.get(0));
				assertEquals(names.size(), fields.size(), line);
				Map<String, String> event = new TreeMap<>();
				event.put("Event", names.get(0));
				for (int i = 1; i < names.size(); i++) {
					event.put(names.get(i), fields.get(i));
				}
				events.add(event);
			}
		}
		return events;
	}

	private static long ns(Map<String, String> event) {
		return new BigDecimal(event.get("Time")).movePointRight(9).longValueExact();
	}

	/** Everything that is named was defined or created before, and time does not go back. */
	private static void checkNames(List<Map<String, String>> events) {
		Map<String, String> parentOf = new HashMap<>();
		Map<String, String> typeOf = new HashMap<>();
		long before = 0;
		for (Map<String, String> e : events) {
			if (e.get("Event").startsWith("PajeDefine")) {
				assertTrue(parentOf.put(e.get("Alias"), e.get("Type")) == null && (e.get("Type").equals("0") || parentOf.containsKey(e.get("Type"))),
						e::toString);
				continue;
			}
			assertTrue(ns(e) >= before, e::toString);
			before = ns(e);
			assertNotNull(parentOf.get(e.get("Type")), e::toString);
			if (e.get("Event").equals("PajeCreateContainer")) {
				String parent = e.get("Container");
				assertTrue(parent.equals("0") || parentOf.get(e.get("Type")).equals(typeOf.get(parent)), e::toString);
				typeOf.put(e.get("Alias"), e.get("Type"));
			} else if (e.containsKey("Container")) {
				assertEquals(parentOf.get(e.get("Type")), typeOf.get(e.get("Container")), e::toString);
			}
		}
	}

	@Test
	void accessesAreVariables() throws Exception {
		try (TraceStore store = SyntheticTrace.matrixMultiplication(12, 20)) {
			List<Map<String, String>> events = read(store);
			checkNames(events);
			Map<String, Long> value = new HashMap<>();
			Map<String, Long> since = new HashMap<>();
			Map<String, Long> area = new TreeMap<>();
			Map<String, String> name = new HashMap<>();
			for (Map<String, String> e : events) {
				if (e.get("Event").equals("PajeDefineVariableType")) {
					name.put(e.get("Alias"), e.get("Name"));
				}
				int sign = e.get("Event").equals("PajeSubVariable") ? -1 : 1;
				if (!List.of("PajeSetVariable", "PajeAddVariable", "PajeSubVariable").contains(e.get("Event"))) {
					continue;
				}
				String variable = e.get("Type") + " " + e.get("Container");
				long old = value.getOrDefault(variable, 0L);
				assertEquals(e.get("Event").equals("PajeSetVariable"), !value.containsKey(variable), e::toString);
				area.merge(name.get(e.get("Type")), old * (ns(e) - since.getOrDefault(variable, 0L)), Long::sum);
				value.put(variable, old + sign * Long.parseLong(e.get("Value")));
				since.put(variable, ns(e));
				assertTrue(value.get(variable) >= 0, e::toString);
			}
			assertTrue(value.values().stream().allMatch(v -> v == 0) && value.size() > 20, value::toString);
			Map<String, Long> wanted = new TreeMap<>();
			store.visitAccesses(AccessQuery.ALL, b -> {
				for (int i = 0; i < b.count; i++) {
					wanted.merge(AccessFilter.TYPES[AccessFilter.type(b.sharing[i], false)], b.reads[i] * (b.endNs[i] - b.startNs[i]), Long::sum);
					wanted.merge(AccessFilter.TYPES[AccessFilter.type(b.sharing[i], true)], b.writes[i] * (b.endNs[i] - b.startNs[i]), Long::sum);
				}
			}, Progress.NONE);
			wanted.values().removeIf(v -> v == 0);
			area.values().removeIf(v -> v == 0);
			assertEquals(wanted, area);
		}
	}

	/** States within each other, some of the same begin or end, in any order. */
	private static void nest(SyntheticEvents made, Random random, int producer, long from, long to, int depth) {
		int type = random.nextBoolean() ? SyntheticEvents.RUN : SyntheticEvents.WAIT;
		boolean outerFirst = random.nextBoolean();
		if (outerFirst) {
			made.add(type, producer, from, to, 0, 0);
		}
		if (depth > 0 && to - from > 10) {
			long middle = from + 1 + random.nextInt((int) (to - from - 2));
			nest(made, random, producer, from + random.nextInt(2), middle, depth - 1);
			nest(made, random, producer, middle, to - random.nextInt(2), depth - 1);
		}
		if (!outerFirst) {
			made.add(type, producer, from, to, 0, 0);
		}
	}

	@Test
	void eventsAreWhatTheyAre() throws Exception {
		SyntheticEvents made = new SyntheticEvents();
		ProducerTreeBuilder builder = new ProducerTreeBuilder(0);
		builder.begin(ProducerKind.ROOT, "all \"of\" it", 0, 0, -1);
		Random random = new Random(20261122);
		for (int g = 0; g < 3; g++) {
			builder.begin(ProducerKind.OTHER, "group " + g, 0, 0, -1);
			for (int r = 0; r < 3; r++) {
				int rank = builder.leaf(ProducerKind.OTHER, "rank " + g + "." + r, 0, 0, -1);
				nest(made, random, rank, 100, 100_000, 4);
				made.add(SyntheticEvents.TICK, rank, 100 + random.nextInt(9), 0, 0, 0);
				made.add(SyntheticEvents.POWER, rank, random.nextInt(1000), 2000, random.nextInt(50), 0);
				made.add(SyntheticEvents.MESSAGE, rank, 200 + random.nextInt(3), 205, random.nextInt(3), 0);
				made.add(SyntheticEvents.MESSAGE, rank, 300, 300, 0, 0);
			}
			builder.end();
		}
		builder.end();
		TraceStore store = made.store(builder.build(), 50, 200_000);
		List<Map<String, String>> events = read(store);
		checkNames(events);
		Map<Integer, EventType> types = new HashMap<>();
		store.eventTypes().forEach(t -> types.put(t.id(), t));
		Map<String, Integer> wanted = new TreeMap<>();
		long start = store.info().startNs();
		store.visitEvents(AccessQuery.ALL, b -> {
			for (int i = 0; i < b.count; i++) {
				EventType type = types.get(b.type[i]);
				String span = type.category() == EventCategory.STATE || type.category() == EventCategory.LINK
						? (b.startNs[i] - start) + " " + (b.endNs[i] - start) : Long.toString(b.startNs[i] - start);
				wanted.merge(type.category() + " " + (type.category() == EventCategory.VARIABLE ? b.value[i] : type.name()) + " P" + b.producer[i] + " "
						+ span, 1, Integer::sum);
			}
		}, Progress.NONE);
		Map<String, Integer> found = new TreeMap<>();
		Map<String, Deque<Map<String, String>>> states = new HashMap<>();
		Map<String, Map<String, String>> links = new HashMap<>();
		for (Map<String, String> e : events) {
			String at = e.get("Container");
			switch (e.get("Event")) {
			case "PajePushState" -> states.computeIfAbsent(at, k -> new ArrayDeque<>()).push(e);
			case "PajePopState" -> {
				Map<String, String> begin = states.get(at).pop();
				found.merge("STATE " + begin.get("Value") + " " + at + " " + ns(begin) + " " + ns(e), 1, Integer::sum);
			}
			case "PajeNewEvent" -> found.merge("PUNCTUAL " + e.get("Value") + " " + at + " " + ns(e), 1, Integer::sum);
			case "PajeSetVariable" -> found.merge("VARIABLE " + e.get("Value") + " " + at + " " + ns(e), 1, Integer::sum);
			case "PajeStartLink" -> links.put(e.get("Key"), e);
			case "PajeEndLink" -> {
				Map<String, String> begin = links.remove(e.get("Key"));
				found.merge("LINK " + begin.get("Value") + " " + begin.get("StartContainer") + " " + ns(begin) + " " + ns(e), 1, Integer::sum);
			}
			default -> {
			}
			}
		}
		assertTrue(links.isEmpty() && states.values().stream().allMatch(Deque::isEmpty));
		assertEquals(wanted, found);
	}
}
