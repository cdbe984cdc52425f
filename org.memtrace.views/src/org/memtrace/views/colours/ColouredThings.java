// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.colours;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import org.memtrace.aggregation.ModelType.Role;
import org.memtrace.aggregation.ModelType;
import org.memtrace.analysis.colour.Palette.Key;
import org.memtrace.analysis.colour.Palette.Kind;
import org.memtrace.analysis.colour.Colours;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.EventType;
import org.memtrace.views.session.OpenTrace;

/**
 * What has colours: access types, what is in the open trace (its event types and producers, if it is of another tool), and what was
 * given a colour in another one.
 */
final class ColouredThings {
	/**
	 * One thing.
	 *
	 * @param type null for a structure, and for what is not in the open trace and so has no default that is known
	 */
	record Thing(Key key, ModelType type) {
		/** What a person reads. */
		String title() {
			return key.kind() == Kind.TYPE ? ModelText.type(key.name()) : key.name();
		}

		/** What it is without a choice. */
		int defaultColor(Palette palette) {
			return type != null ? palette.defaultColor(type) : palette.defaultStructure(key.name());
		}
	}

	private static final int MOST_STRUCTURES = 20_000;

	private ColouredThings() {
	}

	/** @param trace null for none */
	static List<Thing> of(OpenTrace trace, Colours colours) {
		Map<Key, Thing> all = new LinkedHashMap<>();
		add(all, new ModelType(EventType.PRIVATE_READ, Role.PRIVATE_READ, 0));
		add(all, new ModelType(EventType.PRIVATE_WRITE, Role.PRIVATE_WRITE, 0));
		add(all, new ModelType(EventType.SHARED_READ, Role.SHARED_READ, 0));
		add(all, new ModelType(EventType.SHARED_WRITE, Role.SHARED_WRITE, 0));
		add(all, new ModelType(EventType.NOT_KNOWN_READ, Role.NOT_KNOWN_READ, 0));
		add(all, new ModelType(EventType.NOT_KNOWN_WRITE, Role.NOT_KNOWN_WRITE, 0));
		add(all, new ModelType("Read", Role.READ, 0));
		add(all, new ModelType("Write", Role.WRITE, 0));
		add(all, new ModelType("unknown", Role.UNKNOWN, 0));
		if (trace != null) {
			ModelType.ofEvents(trace.eventTypes().stream().map(EventType::name).distinct().toList()).forEach(type -> add(all, type));
			trace.threads().forEach(t -> add(all, ModelType.thread(t)));
			for (int cpu = 0; cpu < trace.info().cpus(); cpu++) {
				add(all, ModelType.cpu(cpu));
			}
			for (int node = 0; trace.hasAccesses() && node <= trace.maxNode(); node++) {
				add(all, ModelType.node(node));
			}
			TreeSet<String> names = new TreeSet<>();
			for (Structure s : trace.structures()) {
				if (names.size() < MOST_STRUCTURES) {
					names.add(s.name());
				}
			}
			for (int id = 0; !trace.hasAccesses() && id < trace.producers().size() && names.size() < MOST_STRUCTURES; id++) {
				names.add(trace.producers().name(id));
			}
			names.forEach(name -> add(all, new Key(Kind.STRUCTURE, name)));
		}
		colours.chosen().keySet().forEach(key -> add(all, key));
		return new ArrayList<>(all.values());
	}

	private static void add(Map<Key, Thing> all, ModelType type) {
		Key key = new Key(Kind.of(type), type.name());
		all.putIfAbsent(key, new Thing(key, type));
	}

	private static void add(Map<Key, Thing> all, Key key) {
		all.putIfAbsent(key, new Thing(key, null));
	}
}
