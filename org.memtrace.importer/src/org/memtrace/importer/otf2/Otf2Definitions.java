// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.otf2;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/**
 * The definitions of an archive. Of one that is there twice the last counts, as in the readers of other tools. References that
 * point nowhere get a name that says so.
 */
final class Otf2Definitions {
	private static final int COMM_LOCATIONS = 4;
	private static final int COMM_GROUP = 5;
	private static final int COMM_SELF = 6;
	/** Of a parent or a name that is not there. */
	static final long UNDEFINED = 0xffffffffL;
	private static final int DEEPEST = 64;

	record Named(long name, long more, long parent) {
	}

	record Group(int type, int paradigm, long[] members) {
	}

	record Member(String name, int property, int timing, double factor) {
	}

	private record Place(boolean isGroup, long id) {
	}

	/** Ticks in a second. */
	long resolution = 1_000_000_000L;
	/** Subtracted from all times. */
	long offset;
	/** When time {@link #offset} was, in nanoseconds since 1970; -1 when not known. */
	long realtimeNs = -1;
	private final Map<Long, String> strings = new HashMap<>();
	private final Map<Integer, Named> nodes = new TreeMap<>(Integer::compareUnsigned);
	private final Map<Integer, Named> groupsOfLocations = new TreeMap<>(Integer::compareUnsigned);
	private final Map<Long, Named> locations = new TreeMap<>(Long::compareUnsigned);
	private final Map<Integer, Long> regions = new HashMap<>();
	private final Map<Integer, Named> attributes = new HashMap<>();
	private final Map<Integer, Group> groups = new HashMap<>();
	/** Members of the groups of locations that communicate, by paradigm: other groups hold indices of them. */
	private final Map<Integer, long[]> communicating = new HashMap<>();
	private final Map<Integer, Named> comms = new HashMap<>();
	private final Map<Integer, Long> memberName = new HashMap<>();
	private final Map<Integer, Member> members = new HashMap<>();
	private final Map<Integer, int[]> classes = new HashMap<>();
	private final Map<Integer, Integer> instances = new HashMap<>();
	private final Map<Integer, Long> files = new HashMap<>();
	private final Map<Integer, Named> handles = new HashMap<>();
	private final Map<Integer, Named> parameters = new HashMap<>();
	private final Map<Integer, Integer> contexts = new HashMap<>();
	private final Map<Place, String> names = new HashMap<>();
	private final Map<Long, String> locationNames = new HashMap<>();
	/** Definitions that were there before with another content. */
	long redefined;

	/** Takes a record; false when it is no definition. */
	boolean add(Otf2Stream r) {
		switch (r.kind) {
		case Otf2Stream.CLOCK -> {
			resolution = r.a > 0 ? r.a : resolution;
			offset = r.b;
		}
		case Otf2Stream.REALTIME -> realtimeNs = r.a;
		case Otf2Stream.STRING -> put(strings, Integer.toUnsignedLong(r.ref), r.text());
		case Otf2Stream.TREE_NODE -> put(nodes, r.ref, new Named(r.a, r.b, r.c));
		case Otf2Stream.LOCATION_GROUP -> put(groupsOfLocations, r.ref, new Named(r.a, r.c, r.b));
		case Otf2Stream.LOCATION -> put(locations, r.a, new Named(r.b, r.c, Integer.toUnsignedLong(r.ref)));
		case Otf2Stream.REGION -> put(regions, r.ref, r.a);
		case Otf2Stream.ATTRIBUTE -> put(attributes, r.ref, new Named(r.a, r.b, 0));
		case Otf2Stream.GROUP -> group(r);
		case Otf2Stream.COMM -> put(comms, r.ref, new Named(r.a, 0, r.b));
		case Otf2Stream.INTER_COMM -> put(comms, r.ref, new Named(r.a, 1, r.b));
		case Otf2Stream.METRIC_MEMBER -> metricMember(r);
		case Otf2Stream.METRIC_CLASS -> classes.put(r.ref, r.ints());
		case Otf2Stream.METRIC_INSTANCE -> put(instances, r.ref, (int) r.a);
		case Otf2Stream.IO_FILE -> put(files, r.ref, r.a);
		case Otf2Stream.IO_HANDLE -> put(handles, r.ref, new Named(r.a, r.b, 0));
		case Otf2Stream.PARAMETER -> put(parameters, r.ref, new Named(r.a, r.b, 0));
		case Otf2Stream.CALLING_CONTEXT -> put(contexts, r.ref, (int) r.a);
		default -> {
			return false;
		}
		}
		return true;
	}

	private <K, V> void put(Map<K, V> map, K key, V value) {
		V before = map.put(key, value);
		if (before != null && !before.equals(value)) {
			redefined++;
		}
	}

	private void group(Otf2Stream r) {
		Group group = new Group((int) r.a & 0xff, (int) (r.a >> 8) & 0xff, r.longs());
		if (group.type == COMM_LOCATIONS) {
			communicating.put(group.paradigm, group.members); // EZTrace gives another group the same number
		}
		Group before = groups.put(r.ref, group);
		redefined += before != null && before.type == group.type && !Arrays.equals(before.members, group.members) ? 1 : 0;
	}

	/** Names may come later: only what does not need them is made now. */
	private void metricMember(Otf2Stream r) {
		int mode = (int) (r.b >> 8) & 0xff;
		boolean decimal = (r.b >> 24 & 0xff) == 1;
		long exponent = Math.max(-1000, Math.min(1000, r.c));
		memberName.put(r.ref, r.a);
		members.put(r.ref, new Member("", mode & 0xf, mode >> 4 & 0xf, Math.pow(decimal ? 10 : 2, exponent)));
	}

	private String string(long ref) {
		return strings.getOrDefault(ref, "");
	}

	private static String named(String text, String otherwise, long ref) {
		return text.isBlank() ? otherwise + " " + Long.toUnsignedString(ref) : text;
	}

	String text(long ref) {
		String known = strings.get(ref & UNDEFINED);
		return known != null ? known : named(string(ref & UNDEFINED), "string", ref & UNDEFINED);
	}

	String region(int ref) {
		Long name = regions.get(ref);
		return named(name == null ? "" : string(name), "region", Integer.toUnsignedLong(ref));
	}

	/** Region of a calling context, -1 when it is not known. */
	int regionOfContext(int ref) {
		return contexts.getOrDefault(ref, -1);
	}

	String attribute(int ref) {
		Named known = attributes.get(ref);
		return named(known == null ? "" : string(known.name), "attribute", Integer.toUnsignedLong(ref));
	}

	/** Type of an attribute's values as it is defined, -1 when it is not. */
	int attributeType(int ref) {
		Named known = attributes.get(ref);
		return known == null ? -1 : (int) known.more;
	}

	String parameter(int ref) {
		Named known = parameters.get(ref);
		return named(known == null ? "" : string(known.name), "parameter", Integer.toUnsignedLong(ref));
	}

	String comm(int ref) {
		Named known = comms.get(ref);
		return named(known == null ? "" : string(known.name), "communicator", Integer.toUnsignedLong(ref));
	}

	/** File of an I/O handle; without one, the name of the handle. */
	String file(int handle) {
		Named known = handles.get(handle);
		String file = known == null ? "" : string(files.getOrDefault((int) known.more, UNDEFINED));
		return named(!file.isBlank() || known == null ? file : string(known.name), "handle", Integer.toUnsignedLong(handle));
	}

	/** The metrics of a class or of an instance of it; empty when it is not known. */
	List<Member> metrics(int ref) {
		int[] all = classes.get(ref);
		if (all == null) {
			all = classes.getOrDefault(instances.getOrDefault(ref, -1), new int[0]);
		}
		List<Member> list = new ArrayList<>();
		for (int member : all) {
			Member known = members.getOrDefault(member, new Member("", 1, 1, 1));
			long name = memberName.getOrDefault(member, UNDEFINED);
			String unit = string(name >>> 32);
			String text = named(string(name & UNDEFINED), "metric", Integer.toUnsignedLong(member));
			list.add(new Member(unit.isBlank() || unit.equals("#") ? text : text + " (" + unit + ")", known.property, known.timing,
					known.factor));
		}
		return list;
	}

	/** All locations, in order of their numbers. */
	Set<Long> locations() {
		return Collections.unmodifiableSet(locations.keySet());
	}

	/** Group of locations, which is a process, that a location belongs to. */
	long process(long location) {
		Named known = locations.get(location);
		return known == null ? -1 - location : known.parent;
	}

	/** The location that stands for a rank of a communicator; -1 when that cannot be told. */
	long locationOf(int comm, int rank, long self) {
		Named known = comms.get(comm);
		Group group = known == null || known.more == 1 ? null : groups.get((int) known.parent);
		if (group == null || rank < 0) {
			return -1;
		}
		return switch (group.type) {
		case COMM_SELF -> self;
		case COMM_GROUP -> member(communicating.get(group.paradigm), member(group.members, rank));
		default -> member(group.members, rank);
		};
	}

	private static long member(long[] list, long index) {
		return list == null || index < 0 || index >= list.length ? -1 : list[(int) index];
	}

	/** The process that is a rank of a communicator; -1 when that cannot be told. */
	long processOf(int comm, int rank, long self) {
		long location = locationOf(comm, rank, self);
		return location == -1 ? -1 : process(location);
	}

	/** Names of siblings differ, none is empty: to be called when all definitions are there. */
	void nameProducers() {
		Map<Object, Set<String>> taken = new HashMap<>();
		nodes.forEach((ref, node) -> name(taken, node.parent, new Place(false, Integer.toUnsignedLong(ref)), string(node.name), "node"));
		groupsOfLocations.forEach((ref, group) -> name(taken, group.parent, new Place(true, Integer.toUnsignedLong(ref)),
				string(group.name), "process"));
		Map<Long, Set<String>> inGroup = new HashMap<>();
		locations.forEach((ref, location) -> {
			String text = named(string(location.name), "location", ref);
			Set<String> siblings = inGroup.computeIfAbsent(location.parent, p -> new HashSet<>());
			locationNames.put(ref, siblings.add(text) ? text : text + " (" + Long.toUnsignedString(ref) + ")");
		});
	}

	private void name(Map<Object, Set<String>> taken, long parent, Place place, String text, String otherwise) {
		String name = named(text, otherwise, place.id);
		Set<String> siblings = taken.computeIfAbsent(parent, p -> new HashSet<>());
		names.put(place, siblings.add(name) ? name : name + " (" + place.id + ")");
	}

	/** Name of a location. */
	String location(long ref) {
		return Objects.requireNonNullElseGet(locationNames.get(ref), () -> "location " + Long.toUnsignedString(ref));
	}

	/** From the top of the machine to a location. */
	List<String> path(long location) {
		List<String> path = new ArrayList<>();
		path.add(location(location));
		Named known = locations.get(location);
		Named group = known == null ? null : groupsOfLocations.get((int) known.parent);
		if (group != null) {
			path.add(names.getOrDefault(new Place(true, known.parent), "process " + known.parent));
			long ref = group.parent;
			for (Named node = nodes.get((int) ref); node != null && path.size() < DEEPEST; node = nodes.get((int) ref)) {
				path.add(names.getOrDefault(new Place(false, ref), "node " + ref));
				ref = node.parent;
			}
		}
		Collections.reverse(path);
		return path;
	}

	/** An attribute or value for a person. */
	String value(int type, long bits) {
		return switch (type) {
		case 1, 2, 3, 4 -> Long.toUnsignedString(bits & mask(type));
		case 5 -> Byte.toString((byte) bits);
		case 6 -> Short.toString((short) bits);
		case 7 -> Integer.toString((int) bits);
		case 8 -> Long.toString(bits);
		case 9 -> Float.toString(Float.intBitsToFloat((int) bits));
		case 10 -> Double.toString(Double.longBitsToDouble(bits));
		case 11 -> text(bits);
		case 13 -> location(bits);
		case 14 -> region((int) bits);
		case 17 -> comm((int) bits);
		case 18 -> parameter((int) bits);
		case 24 -> file((int) bits);
		default -> Long.toUnsignedString(bits & UNDEFINED);
		};
	}

	private static long mask(int type) {
		return switch (type) {
		case 1 -> 0xff;
		case 2 -> 0xffff;
		case 3 -> UNDEFINED;
		default -> -1;
		};
	}
}
