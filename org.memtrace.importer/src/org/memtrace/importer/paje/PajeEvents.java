// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.paje;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.memtrace.importer.input.DecimalNumber;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.LineFileReader;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.EventCategory;

/**
 * Plays the lines of a trace in the Pajé format and gives what they say to a sink: docs/reference/input-events.md, "Pajé". Source of the
 * format: L. M. Schnorr, The Pajé trace file format, 2014. Used by one thread.
 */
final class PajeEvents implements LineFileReader.Lines {
	/** A line that cannot be used. */
	private static final class Unusable extends Exception {
		private static final long serialVersionUID = 1;

		Unusable(String reason) {
			super(reason, null, false, false);
		}
	}

	/** What a field of an event means; its names in the dialects. */
	private enum Field {
		TIME("time"), ALIAS("alias", "newtype", "newcontainer", "newvalue"), TYPE("type", "containertype", "entitytype", "newcontainertype"),
		NAME("name", "newname"), CONTAINER("container"), VALUE("value"), KEY("key"), START("startcontainer", "sourcecontainer"),
		END("endcontainer", "destcontainer"), OTHER;

		private static final Map<String, Field> BY_NAME = new HashMap<>();
		static {
			for (Field field : values()) {
				for (String name : field.names) {
					BY_NAME.put(name, field);
				}
			}
		}
		private final String[] names;

		Field(String... names) {
			this.names = names;
		}

		static Field of(String name) {
			return BY_NAME.getOrDefault(name.toLowerCase(Locale.ROOT), OTHER);
		}
	}

	/** A definition at the head: which event a number stands for, and the fields of its lines. */
	private static final class Definition {
		final String event;
		final List<String> names = new ArrayList<>();
		final List<Field> fields = new ArrayList<>();

		Definition(String event) {
			this.event = event;
		}
	}

	private enum Kind {
		CONTAINER, STATE, EVENT, VARIABLE, LINK
	}

	private static final class Type {
		final Kind kind;
		final String name;
		/** Names of values by their aliases. */
		final Map<String, String> values = new HashMap<>();
		/** Numbers of the event types of its values. */
		final Map<String, Integer> eventTypes = new HashMap<>();
		final Map<String, Waiting> links = new HashMap<>();

		Type(Kind kind, String name) {
			this.kind = kind;
			this.name = name;
		}
	}

	private record Side(long ns, int producer, String value, Map<String, String> parameters) {
	}

	/** Sides of links with one key: starts, or ends that came before their start. */
	private static final class Waiting {
		final ArrayDeque<Side> starts = new ArrayDeque<>();
		final ArrayDeque<Side> ends = new ArrayDeque<>();
	}

	private record State(int type, long startNs, Map<String, String> parameters) {
	}

	/** The states of one type that a container is in, the outermost first. */
	private static final class Stack {
		final int producer;
		final ArrayDeque<State> states = new ArrayDeque<>();

		Stack(int producer) {
			this.producer = producer;
		}
	}

	private static final class Variable {
		final int type;
		double value;
		long sinceNs;

		Variable(int type) {
			this.type = type;
		}
	}

	private static final class Container {
		/** Null for the container of everything. */
		private final Container parent;
		private final String name;
		private final int depth;
		int producer;
		// most have none of one of these
		private Set<String> children = Set.of();
		Map<Type, Stack> stacks = Map.of();
		Map<Type, Variable> variables = Map.of();

		Container(Container parent, String name) {
			this.parent = parent;
			this.name = name;
			depth = parent == null ? 0 : parent.depth + 1;
		}

		List<String> path() {
			String[] path = new String[depth];
			for (Container c = this; c.parent != null; c = c.parent) {
				path[c.depth - 1] = c.name;
			}
			return new ArrayList<>(List.of(path));
		}

		boolean addChild(String child) {
			children = children.isEmpty() ? new HashSet<>(4) : children;
			return children.add(child);
		}

		void put(Type type, Stack stack) {
			stacks = stacks.isEmpty() ? new LinkedHashMap<>(2) : stacks;
			stacks.put(type, stack);
		}

		void put(Type type, Variable variable) {
			variables = variables.isEmpty() ? new LinkedHashMap<>(2) : variables;
			variables.put(type, variable);
		}
	}

	private static final int NS_DIGITS = 9;
	private static final int MOST_FIELDS = 64;
	private static final int DEEPEST = 256;

	private final EventSink sink;
	private final String file;
	private final Map<String, Definition> definitions = new HashMap<>();
	private Definition open;
	private final Map<String, Type> types = new HashMap<>();
	private final Map<String, Type> typesByName = new HashMap<>();
	private final Map<String, Container> containers = new HashMap<>();
	private final Map<String, Container> containersByName = new HashMap<>();
	/** In their order. */
	private final List<Container> all = new ArrayList<>();
	/** Which type of states (links, events) a name of a value belongs to: equal names of several are told apart. */
	private final Map<EventCategory, Map<String, String>> owners = new HashMap<>();
	private final Container top = new Container(null, "");
	private long lastNs = Long.MIN_VALUE;
	private long endsBeforeStart;
	private long replaced;

	// the current line
	private final String[] tokens = new String[MOST_FIELDS];
	private int tokenCount;
	private Definition definition;

	PajeEvents(EventSink sink, String file) {
		this.sink = sink;
		this.file = file;
	}

	/** Takes a line, without its end. */
	@Override
	public void line(byte[] bytes, int start, int end, long number) throws MemtraceException {
		int from = start;
		while (from < end && bytes[from] <= ' ' && bytes[from] >= 0) {
			from++;
		}
		if (from == end || bytes[from] == '#') {
			return;
		}
		if (bytes[from] == '%') {
			define(new String(bytes, from + 1, end - from - 1, StandardCharsets.UTF_8).strip(), number);
			return;
		}
		sink.row();
		try {
			split(bytes, from, end);
			event();
		} catch (Unusable e) {
			sink.skip(file, number, e.getMessage());
		}
	}

	private void define(String text, long number) throws MemtraceException {
		String[] words = text.split("\\s+");
		if (words[0].equals("EventDef") && words.length >= 3) {
			open = new Definition(words[1].replaceFirst("^Paje", ""));
			definitions.put(words[2], open);
		} else if (words[0].equals("EndEventDef")) {
			open = null;
		} else if (open != null && words.length >= 2 && open.names.size() < MOST_FIELDS - 1) {
			open.names.add(words[0]);
			open.fields.add(Field.of(words[0]));
		} else {
			sink.row();
			sink.skip(file, number, "definition that cannot be understood");
		}
	}

	/** Words, or texts in quotation marks. */
	private void split(byte[] bytes, int start, int end) throws Unusable {
		tokenCount = 0;
		int i = start;
		while (i < end) {
			int b = bytes[i];
			if (b == ' ' || b == '\t' || b == '\r') {
				i++;
				continue;
			}
			if (tokenCount == MOST_FIELDS) {
				throw new Unusable("more than " + MOST_FIELDS + " fields");
			}
			int from = i;
			if (b == '"' || b == '\'') {
				i++;
				while (i < end && bytes[i] != b) {
					i++;
				}
				if (i == end) {
					throw new Unusable("quotation mark without its end");
				}
				tokens[tokenCount++] = new String(bytes, from + 1, i - from - 1, StandardCharsets.UTF_8);
				i++;
			} else {
				while (i < end && bytes[i] != ' ' && bytes[i] != '\t' && bytes[i] != '\r') {
					i++;
				}
				tokens[tokenCount++] = new String(bytes, from, i - from, StandardCharsets.UTF_8);
			}
		}
	}

	/** Text of a field, null when the definition of the line has none. */
	private String text(Field field) {
		int at = definition.fields.indexOf(field);
		return at < 0 ? null : tokens[at + 1];
	}

	private String required(Field field) throws Unusable {
		String text = text(field);
		if (text == null) {
			throw new Unusable("event " + definition.event + " without the field " + field.names[0]);
		}
		return text;
	}

	/** Fields that the format does not know, such as the size of a message; null when there is none. */
	private Map<String, String> others() {
		Map<String, String> found = null;
		for (int i = 0; i < definition.fields.size(); i++) {
			if (definition.fields.get(i) == Field.OTHER && !tokens[i + 1].isEmpty()) {
				found = found == null ? new LinkedHashMap<>() : found;
				found.put(definition.names.get(i), tokens[i + 1]);
			}
		}
		return found == null ? Map.of() : found;
	}

	private void event() throws Unusable, MemtraceException {
		definition = definitions.get(tokens[0]);
		if (definition == null) {
			throw new Unusable("event that is not defined");
		}
		if (tokenCount < definition.fields.size() + 1) {
			throw new Unusable("fewer fields than the definition of its event");
		}
		switch (definition.event) {
		case "DefineContainerType" -> type(Kind.CONTAINER);
		case "DefineStateType" -> type(Kind.STATE);
		case "DefineEventType" -> type(Kind.EVENT);
		case "DefineVariableType" -> type(Kind.VARIABLE);
		case "DefineLinkType" -> type(Kind.LINK);
		case "DefineEntityValue" -> {
			Type type = type(required(Field.TYPE), null);
			String name = required(Field.NAME);
			String alias = text(Field.ALIAS);
			type.values.put(alias == null ? name : alias, name);
		}
		case "CreateContainer" -> create();
		case "DestroyContainer" -> {
			long now = time();
			String alias = text(Field.ALIAS);
			end(container(alias == null ? required(Field.NAME) : alias), now);
		}
		case "SetState" -> {
			long now = time();
			Stack stack = stack();
			State next = state(now);
			endStates(stack, now);
			stack.states.push(next);
		}
		case "PushState" -> {
			long now = time();
			Stack stack = stack();
			if (stack.states.size() >= DEEPEST * DEEPEST) {
				throw new Unusable("more than " + DEEPEST * DEEPEST + " states in each other");
			}
			stack.states.push(state(now));
		}
		case "PopState" -> {
			long now = time();
			Stack stack = stack();
			if (stack.states.isEmpty()) {
				throw new Unusable("end of a state that did not begin");
			}
			pop(stack, now);
		}
		case "ResetState" -> endStates(stack(), time());
		case "NewEvent" -> {
			punctual();
		}
		case "SetVariable", "AddVariable", "SubVariable" -> variable();
		case "StartLink", "EndLink" -> link();
		default -> throw new Unusable("event " + definition.event + ", which is not known");
		}
	}

	private void punctual() throws Unusable, MemtraceException {
		long now = time();
		Type type = type(required(Field.TYPE), Kind.EVENT);
		Container container = container(required(Field.CONTAINER));
		sink.event(eventType(type, EventCategory.PUNCTUAL, text(Field.VALUE)), producer(container), now, now, 0, 0, others());
	}

	private void type(Kind kind) throws Unusable {
		String name = required(Field.NAME);
		String alias = text(Field.ALIAS);
		Type type = new Type(kind, name);
		types.put(alias == null ? name : alias, type);
		typesByName.put(name, type);
	}

	/** @param kind null for any */
	private Type type(String reference, Kind kind) throws Unusable {
		Type type = types.get(reference);
		if (type == null) {
			type = typesByName.get(reference);
		}
		if (type == null) {
			throw new Unusable("type that is not defined");
		}
		if (kind != null && type.kind != kind) {
			throw new Unusable("type of another kind than its event");
		}
		return type;
	}

	private Container container(String reference) throws Unusable {
		Container container = containers.get(reference);
		if (container == null) {
			container = containersByName.get(reference);
		}
		if (container == null && reference.equals("0")) {
			return top;
		}
		if (container == null) {
			throw new Unusable("container that was not created");
		}
		return container;
	}

	/** The container of everything is a producer only if something happens in it. */
	private int producer(Container container) {
		return container == top ? sink.producer(List.of("0")) : container.producer;
	}

	private void create() throws Unusable {
		time();
		String name = required(Field.NAME);
		String alias = text(Field.ALIAS);
		String above = text(Field.CONTAINER);
		Container parent = above == null || above.isEmpty() ? top : container(above);
		if (parent.depth >= DEEPEST) {
			throw new Unusable("more than " + DEEPEST + " containers in each other");
		}
		String shown = name.isBlank() ? String.valueOf(alias == null || alias.isBlank() ? "container" : alias) : name;
		for (int n = 2; !parent.addChild(shown); n++) {
			shown = n == 2 && alias != null && !alias.equals(name) && !alias.isBlank() ? name + " (" + alias + ")" : name + " #" + n;
		}
		Container made = new Container(parent, shown);
		made.producer = sink.producer(made.path());
		containers.put(alias == null ? name : alias, made);
		containersByName.put(name, made);
		all.add(made);
	}

	/** The states of the type and container of the line. Of several types in a container the others are below it. */
	private Stack stack() throws Unusable {
		Type type = type(required(Field.TYPE), Kind.STATE);
		Container container = container(required(Field.CONTAINER));
		Stack known = container.stacks.get(type);
		if (known == null) {
			int producer = producer(container);
			if (!container.stacks.isEmpty()) {
				List<String> path = container == top ? new ArrayList<>(List.of("0")) : container.path();
				String name = type.name.isBlank() ? "states" : type.name;
				while (!container.addChild(name)) {
					name += " (states)";
				}
				path.add(name);
				producer = sink.producer(path);
			}
			known = new Stack(producer);
			container.put(type, known);
		}
		return known;
	}

	private State state(long now) throws Unusable {
		Type type = type(required(Field.TYPE), Kind.STATE);
		return new State(eventType(type, EventCategory.STATE, required(Field.VALUE)), now, others());
	}

	/** Number of the event type of a value; without a value that of the type. */
	private int eventType(Type type, EventCategory category, String value) {
		return type.eventTypes.computeIfAbsent(value == null ? "" : value, v -> {
			String named = type.values.getOrDefault(v, v);
			String name = named.isBlank() ? type.name.isBlank() ? "unnamed" : type.name : named;
			String owner = owners.computeIfAbsent(category, c -> new HashMap<>()).putIfAbsent(name, type.name);
			return sink.typeOf(category, owner == null || owner.equals(type.name) ? name : name + " (" + type.name + ")");
		});
	}

	private void pop(Stack stack, long now) throws MemtraceException {
		State state = stack.states.pop();
		sink.event(state.type, stack.producer, state.startNs, notBefore(state.startNs, now), stack.states.size(), 0, state.parameters);
	}

	private void endStates(Stack stack, long now) throws MemtraceException {
		while (!stack.states.isEmpty()) {
			pop(stack, now);
		}
	}

	private long notBefore(long startNs, long endNs) {
		if (endNs < startNs) {
			endsBeforeStart++;
			return startNs;
		}
		return endNs;
	}

	private void variable() throws Unusable, MemtraceException {
		long now = time();
		Type type = type(required(Field.TYPE), Kind.VARIABLE);
		Container container = container(required(Field.CONTAINER));
		double value;
		try {
			value = Double.parseDouble(required(Field.VALUE));
		} catch (NumberFormatException e) {
			throw new Unusable("value that is not a number");
		}
		Variable known = container.variables.get(type);
		double next = switch (definition.event) {
		case "AddVariable" -> (known == null ? 0 : known.value) + value;
		case "SubVariable" -> (known == null ? 0 : known.value) - value;
		default -> value;
		};
		if (!Double.isFinite(next)) {
			throw new Unusable("value that is not finite");
		}
		if (known == null) {
			known = new Variable(eventType(type, EventCategory.VARIABLE, null));
			container.put(type, known);
		} else {
			hold(container, known, now, false);
		}
		known.value = next;
		known.sinceNs = now;
	}

	/** A value holds until the next one; the last one is kept even if it holds no time. */
	private void hold(Container container, Variable variable, long now, boolean last) throws MemtraceException {
		long end = notBefore(variable.sinceNs, now);
		if (end == variable.sinceNs && !last) {
			replaced++;
		} else {
			sink.event(variable.type, producer(container), variable.sinceNs, end, variable.value, 0, Map.of());
		}
	}

	private void link() throws Unusable, MemtraceException {
		long now = time();
		boolean starts = definition.event.equals("StartLink");
		Type type = type(required(Field.TYPE), Kind.LINK);
		Container at = container(required(starts ? Field.START : Field.END));
		Side side = new Side(now, producer(at), text(Field.VALUE), others());
		Waiting waiting = type.links.computeIfAbsent(required(Field.KEY), k -> new Waiting());
		Side other = starts ? waiting.ends.poll() : waiting.starts.poll();
		if (other == null) {
			(starts ? waiting.starts : waiting.ends).add(side);
			return;
		}
		Side start = starts ? side : other;
		Side end = starts ? other : side;
		sink.event(eventType(type, EventCategory.LINK, start.value), start.producer, start.ns, notBefore(start.ns, end.ns), end.producer, 0,
				start.parameters);
		if (waiting.starts.isEmpty() && waiting.ends.isEmpty()) {
			type.links.remove(text(Field.KEY));
		}
	}

	/** A container, or the trace, ends. */
	private void end(Container container, long now) throws MemtraceException {
		for (Stack stack : container.stacks.values()) {
			endStates(stack, now);
		}
		for (Variable variable : container.variables.values()) {
			hold(container, variable, now, true);
		}
		container.variables = Map.of();
	}

	/** When all lines were read: what holds until the end, and what has no other side. */
	@Override
	public void finish() throws MemtraceException {
		for (Container container : all) {
			end(container, lastNs);
		}
		end(top, lastNs);
		Set<Type> links = new HashSet<>(types.values());
		links.addAll(typesByName.values());
		long starts = 0;
		long ends = 0;
		for (Type type : links) {
			for (Waiting waiting : type.links.values()) {
				starts += waiting.starts.size();
				ends += waiting.ends.size();
			}
		}
		if (starts > 0) {
			sink.skips().skip(file, 0, "link without an end", starts);
		}
		if (ends > 0) {
			sink.skips().skip(file, 0, "link without a start", ends);
		}
		if (endsBeforeStart > 0) {
			sink.skips().warn(String.format(Locale.ROOT, "%,d events end before they start; they take no time", endsBeforeStart));
		}
		if (replaced > 0) {
			sink.skips().warn(String.format(Locale.ROOT, "%,d values of variables were replaced at once and are left out", replaced));
		}
	}

	/** Seconds with digits behind the point, as nanoseconds. */
	private long time() throws Unusable {
		long ns = nanoseconds(required(Field.TIME));
		lastNs = Math.max(lastNs, ns);
		return ns;
	}

	static long nanoseconds(String text) throws Unusable {
		try {
			return DecimalNumber.scaled(text, NS_DIGITS);
		} catch (NumberFormatException e) {
			throw new Unusable("time that is not a number");
		} catch (ArithmeticException e) {
			throw new Unusable("time that is out of range");
		}
	}
}
