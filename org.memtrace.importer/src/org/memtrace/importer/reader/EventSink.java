// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.reader;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.importer.input.SkipCounter;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.TimeRange;
import org.memtrace.model.TimeUnit;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/**
 * Takes the events of an input in any order, with types and producers as they are found, and makes a trace and its report of them.
 * Used by one thread. Closed without {@link #commit} it leaves nothing.
 */
public final class EventSink implements AutoCloseable {
	private static final int BATCH = 8192;
	/** With what is added to it, a name of a type has at most 128 characters. */
	private static final int LONGEST_NAME = 110;
	private static final int PROGRESS_ROWS = 1024;
	/** Parts that the path of a producer has at most: what walks the tree goes down by calls. */
	public static final int DEEPEST_PATH = 256;
	/** Producers that a trace has at most. */
	public static final int MOST_PRODUCERS = 1 << 21;
	private static final String TOO_DEEP = "its producer, or the one that it leads to, has a path of more than " + DEEPEST_PATH + " parts";

	private final Input input;
	private final Progress progress;
	private final TraceWriter writer;
	private final SkipCounter skips;
	private final String name;
	private final Map<String, EventType> types = new LinkedHashMap<>();
	private final List<EventType> typeList = new ArrayList<>();
	private int typesTold;
	private final NameTree producers = new NameTree();
	private final EventBatch batch = new EventBatch(BATCH);
	/** Events of each category. */
	private final long[] counts = new long[EventCategory.values().length];
	/** Category of each type, by its number. */
	private int[] categories = new int[64];
	private final Map<String, String> properties = new TreeMap<>();
	private long imported;
	private long rows;
	private long lost;
	private long firstNs = Long.MAX_VALUE;
	private long lastNs = Long.MIN_VALUE;
	private String application = "";
	private Instant recordedAt = Instant.EPOCH;

	public EventSink(Input input, ImportRequest request, Progress progress) throws MemtraceException {
		this.input = input;
		this.progress = progress;
		this.skips = new SkipCounter(request.strict());
		this.name = request.name().isEmpty() ? input.name() : request.name();
		this.writer = request.target().create(name);
	}

	/** For parsers that count what they cannot use; {@link #skip} is the same for one row. */
	public SkipCounter skips() {
		return skips;
	}

	/** A row or record of the input begins; call it for each, also for those that are not used. */
	public void row() throws MemtraceException {
		checkProducers();
		if (++rows % PROGRESS_ROWS == 0) {
			progress.check();
		}
	}

	/**
	 * A row is not used.
	 *
	 * @param line 0 when not known
	 */
	public void skip(String file, long line, String reason) throws MemtraceException {
		skips.skip(file, line, reason);
	}

	/** Number of a type, -1 when the name is that of a type of another category. */
	public int type(EventCategory category, String typeName) {
		EventType known = types.get(typeName);
		if (known == null) {
			known = new EventType(types.size(), category, typeName);
			types.put(typeName, known);
			typeList.add(known);
			if (known.id() == categories.length) {
				categories = Arrays.copyOf(categories, 2 * known.id());
			}
			categories[known.id()] = category.ordinal();
		}
		return known.category() == category ? known.id() : -1;
	}

	/** Number of a type for any text: shortened when it is long, told apart from a type of another category with that name. */
	public int typeOf(EventCategory category, String text) {
		String typeName = text.length() <= LONGEST_NAME ? text
				: text.substring(0, LONGEST_NAME) + " " + String.format(Locale.ROOT, "%08x", text.hashCode());
		int type = type(category, typeName);
		return type >= 0 ? type : type(category, typeName + switch (category) {
		case STATE -> " (state)";
		case LINK -> " (link)";
		case PUNCTUAL -> " (event)";
		case VARIABLE -> " (value)";
		});
	}

	/**
	 * Number of a producer; it and those above it are made when they are new. The path must have a part, and no empty one.
	 *
	 * The import ends with the row in which there are more than {@link #MOST_PRODUCERS}.
	 *
	 * @return -1 for a path of more than {@link #DEEPEST_PATH} parts; an event of it, or a link to it, is skipped and counted
	 */
	public int producer(List<String> path) {
		if (path.size() > DEEPEST_PATH) {
			return -1;
		}
		int known = NameTree.ROOT;
		for (String part : path) {
			known = producers.child(known, part);
		}
		return known;
	}

	private void checkProducers() throws TraceFormatException {
		if (producers.size() > MOST_PRODUCERS) {
			throw new TraceFormatException(input.text(), 0, String.format(Locale.ROOT,
					"row %,d: there are more than %,d event producers, and a trace can have no more", rows, MOST_PRODUCERS));
		}
	}

	/**
	 * An event.
	 *
	 * @param endNs equal to the start for a punctual one
	 * @param value level of a state, number of the end producer of a link, value of a variable
	 * @param cpu 0 when not known
	 * @param parameters texts by name
	 */
	public void event(int type, int producer, long startNs, long endNs, double value, int cpu, Map<String, String> parameters)
			throws MemtraceException {
		event(type, producer, startNs, endNs, value, cpu, parameters.isEmpty() ? 0 : parameters(type, parameters));
	}

	/** Makes a set of parameters for events of a type that are told later; 0 for an empty one. */
	public int parameters(int type, Map<String, String> values) throws MemtraceException {
		if (type >= typesTold) {
			tellTypes();
		}
		return writer.parameters(type, values);
	}

	/** An event as {@link #event(int, int, long, long, double, int, Map)}, with a set from {@link #parameters}. */
	public void event(int type, int producer, long startNs, long endNs, double value, int cpu, int parameters) throws MemtraceException {
		if (type < 0 || endNs < startNs) {
			skips.skip(input.text() + ", row " + rows, 0, type < 0 ? "type that had another category" : "ends before it starts");
			return;
		}
		boolean tooDeep = producer < 0 || value < 0 && categories[type] == EventCategory.LINK.ordinal();
		if (tooDeep || !TimeRange.holds(startNs, endNs)) {
			skips.skip(input.text() + ", row " + rows, 0, tooDeep ? TOO_DEEP : TimeRange.REASON);
			return;
		}
		if (batch.isFull()) {
			flush();
		}
		batch.add(-1, type, producer, startNs, endNs, value, cpu);
		batch.setParameters(parameters);
		imported++;
		counts[categories[type]]++;
		firstNs = Math.min(firstNs, startNs);
		lastNs = Math.max(lastNs, endNs);
	}

	/** Events so far. */
	public long events() {
		return imported;
	}

	private void tellTypes() throws MemtraceException {
		if (typesTold < typeList.size()) {
			writer.eventTypes(Collections.unmodifiableList(typeList));
			typesTold = typeList.size();
		}
	}

	private void flush() throws MemtraceException {
		tellTypes();
		writer.events(batch);
		batch.count = 0;
		progress.check();
	}

	/** Something known about the trace, such as {@code time_unit}. */
	public void property(String key, String value) {
		properties.put(key, value);
	}

	/** Something that {@link org.memtrace.model.store.TraceStore#readNote} finds. */
	public void note(String key, byte[] value) throws MemtraceException {
		writer.note(key, value);
	}

	/** What was traced. */
	public void application(String program) {
		application = program;
	}

	/** When it was recorded. */
	public void recordedAt(Instant when) {
		recordedAt = when;
	}

	/** Events that the recorder knows to have lost, in addition to those told before. */
	public void lost(long events) {
		lost += events;
	}

	/**
	 * Makes the trace visible.
	 *
	 * @param traceType name of the format in FrameSoc's catalogue, such as {@code OTF2}
	 * @param reader id of the reader
	 */
	public ImportReport commit(String traceType, String reader) throws MemtraceException {
		checkProducers();
		if (imported == 0) {
			throw new TraceFormatException(input.text(), 0, "has no events to import"
					+ (skips.total() > 0 ? "; all " + rows + " rows were skipped: " + skips.byReason() : "")
					+ (skips.warnings().isEmpty() ? "" : "; " + skips.warnings().getFirst()));
		}
		flush();
		int[] idOf = new int[producers.size()];
		ProducerTree tree = tree(idOf);
		writer.producers(tree, idOf);
		properties.put("losses", Long.toString(lost));
		properties.put("reader", reader);
		properties.put("source", input.first().toAbsolutePath().normalize().toString());
		try {
			properties.put("source_identity", input.identity());
		} catch (java.io.IOException e) {
			throw new TraceFormatException(input.text(), 0, "cannot be read: " + e.getMessage());
		}
		TraceInfo info = new TraceInfo(-1, name, "", traceType, application, "", "", 0, 0, 0, firstNs, lastNs, recordedAt, 0, "",
				properties);
		Map<String, Object> values = values(tree, reader);
		ImportReport report = new ImportReport(values, skips.warnings(), text(tree));
		return report.stored(writer.commit(info, report.toJson(), progress));
	}

	/** In display order: siblings by name, numbers in names by value. */
	private ProducerTree tree(int[] idOf) throws MemtraceException {
		int size = producers.size();
		Integer[] order = new Integer[size];
		String[] names = new String[size];
		for (int n = 0; n < size; n++) {
			order[n] = n;
			names[n] = producers.name(n);
			if (n % PROGRESS_ROWS == 0) {
				progress.check();
			}
		}
		Arrays.sort(order, (a, b) -> producers.parent(a) != producers.parent(b) ? Integer.compare(producers.parent(a), producers.parent(b))
				: NaturalOrder.compare(names[a], names[b]));
		progress.check();
		int[] first = new int[size + 2]; // where in the order the children of n begin: at n + 1
		for (int n = 0; n < size; n++) {
			first[producers.parent(n) + 2]++;
		}
		for (int n = 1; n < first.length; n++) {
			first[n] += first[n - 1];
		}
		ProducerTreeBuilder builder = new ProducerTreeBuilder(0, size);
		add(builder, NameTree.ROOT, order, first, names, idOf);
		return builder.build();
	}

	/** What is below a producer. By calls: {@link #DEEPEST_PATH} of them at most. */
	private void add(ProducerTreeBuilder builder, int above, Integer[] order, int[] first, String[] names, int[] idOf)
			throws MemtraceException {
		progress.check();
		for (int i = first[above + 1]; i < first[above + 2]; i++) {
			int n = order[i];
			idOf[n] = builder.begin(ProducerKind.OTHER, names[n], 0, 0, -1);
			add(builder, n, order, first, names, idOf);
			builder.end();
		}
	}

	private Map<String, Object> values(ProducerTree tree, String reader) {
		Map<String, Object> values = new LinkedHashMap<>();
		values.put("source", input.text());
		values.put("format", reader);
		Map<String, Object> numbers = new LinkedHashMap<>();
		numbers.put("read", rows);
		numbers.put("skipped", skips.total());
		numbers.put("incomplete_last_lines", skips.incompleteLines());
		numbers.put("skipped_by_reason", skips.byReason());
		numbers.put("first_place_by_reason", skips.firstPlaces());
		values.put("rows", numbers);
		values.put("events", imported);
		Map<String, Object> byCategory = new LinkedHashMap<>();
		for (EventCategory category : EventCategory.values()) {
			if (counts[category.ordinal()] > 0) {
				byCategory.put(category.name().toLowerCase(Locale.ROOT), counts[category.ordinal()]);
			}
		}
		values.put("events_by_category", byCategory);
		values.put("event_types", types.size());
		values.put("event_producers", tree.size());
		values.put("lost_by_recorder", lost);
		TimeUnit unit = TimeUnit.of(properties.get(TimeUnit.PROPERTY));
		values.put(unit.column("start_ns"), firstNs);
		values.put(unit.column("end_ns"), lastNs);
		return values;
	}

	private String text(ProducerTree tree) {
		StringBuilder text = new StringBuilder();
		ImportReport.line(text, "rows read", "%,d", rows);
		ImportReport.line(text, "rows skipped", "%,d", skips.total());
		skips.byReason().forEach((reason, n) -> ImportReport.line(text, "", "%,d: %s (first: %s)", n, reason,
				skips.firstPlaces().get(reason)));
		if (skips.incompleteLines() > 0) {
			ImportReport.line(text, "", "%,d: incomplete last line", skips.incompleteLines());
		}
		ImportReport.line(text, "events", "%,d", imported);
		for (EventCategory category : EventCategory.values()) {
			if (counts[category.ordinal()] > 0) {
				ImportReport.line(text, "", "%,d %s", counts[category.ordinal()], switch (category) {
				case PUNCTUAL -> "punctual events";
				case STATE -> "states";
				case LINK -> "links";
				case VARIABLE -> "variables";
				});
			}
		}
		ImportReport.line(text, "event types", "%,d", types.size());
		ImportReport.line(text, "event producers", "%,d", tree.size());
		ImportReport.line(text, "lost by the recorder", "%,d events", lost);
		return text.toString();
	}

	@Override
	public void close() throws MemtraceException {
		writer.close();
	}
}
