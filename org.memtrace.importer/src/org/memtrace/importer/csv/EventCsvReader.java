// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.csv;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import org.memtrace.importer.input.CountedInput;
import org.memtrace.importer.input.CsvTable;
import org.memtrace.importer.input.DecimalNumber;
import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.input.InputFormat;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.store.EventCategory;

/**
 * States, links, instants and variables as rows of CSV: the plainest way from any tool into memtrace. docs/reference/input-events.md,
 * "Events as CSV", describes the columns.
 */
public final class EventCsvReader implements InputReader {
	private static final List<String> REQUIRED = List.of("type", "category", "producer");
	private static final Set<String> OWN = Set.of("type", "category", "producer", "value", "cpu", "parameters");
	/** Units of the columns start and end, and what one of them is; a tick is one of a logical clock. */
	/** The power of ten of each unit, in nanoseconds; ticks stay as they are. */
	private static final Map<String, Integer> UNITS = Map.of("ns", 0, "us", 3, "ms", 6, "s", 9, "tick", 0);

	@Override
	public String id() {
		return "events-csv";
	}

	@Override
	public String description() {
		return "events as CSV: states, links, instants, variables";
	}

	@Override
	public List<Example> examples() {
		return List.of(new Example("any.csv", "events of any tool: type,category,producer,..."));
	}

	@Override
	public Optional<ImportSource> look(Input input) throws MemtraceException, IOException {
		if (input.isFolder()) {
			return Optional.empty();
		}
		List<ImportSource.File> files = new ArrayList<>();
		String unit = null;
		long bytes = 0;
		for (InputFile file : input.files()) {
			List<String> columns = InputFormat.columns(InputFormat.firstLine(file.head()));
			String own = unit(columns);
			if (own == null || !columns.containsAll(REQUIRED)) {
				return Optional.empty();
			}
			if (unit != null && own.equals("tick") != unit.equals("tick")) {
				throw new TraceFormatException(file.name(), 1, "has times in " + own + ", the file before it in " + unit);
			}
			unit = own;
			bytes += file.size();
			files.add(ImportSource.File.of(file, "events as CSV"));
		}
		return Optional.of(new ImportSource(id(), "events as CSV", input.name(), "events as CSV", files, bytes,
				"tick".equals(unit) ? "tick" : "ns", List.of(), Set.of()));
	}

	/** Unit of the column of starts, null when there is none. */
	private static String unit(List<String> columns) {
		return UNITS.keySet().stream().filter(u -> columns.contains("start_" + u)).findFirst().orElse(null);
	}

	@Override
	public ImportReport read(Input input, ImportRequest request, Progress progress) throws MemtraceException, IOException {
		long bytes = 0;
		for (InputFile file : input.files()) {
			bytes += file.size();
		}
		progress.beginBytes("Reading events", bytes);
		try (EventSink sink = new EventSink(input, request, progress)) {
			for (InputFile file : input.files()) {
				List<String> columns = InputFormat.columns(InputFormat.firstLine(file.head()));
				String unit = unit(columns);
				if (unit.equals("tick")) {
					sink.property("time_unit", "tick");
				}
				try (CountedInput in = file.open()) {
					Rows rows = new Rows(file.name(), unit, columns, sink, in, progress);
					CsvTable.read(in.stream(), file.name(), REQUIRED, sink.skips(), rows);
				} catch (IOException e) {
					sink.skips().problem(file.name(), "cannot be read: " + e.getMessage()); // damaged: what came before it counts
				}
			}
			return sink.commit("events", id());
		}
	}

	/** One file. */
	private static final class Rows implements CsvTable.RowVisitor {
		private final String file;
		private final String start;
		private final String end;
		private final int places;
		/** Columns whose values are parameters. */
		private final List<String> others;
		private final EventSink sink;
		private final CountedInput in;
		private final Progress progress;
		private long told;

		Rows(String file, String unit, List<String> columns, EventSink sink, CountedInput in, Progress progress) {
			this.file = file;
			this.start = "start_" + unit;
			this.end = "end_" + unit;
			this.places = UNITS.get(unit);
			this.others = columns.stream().filter(c -> !c.isEmpty() && !OWN.contains(c) && !c.equals(start) && !c.equals(end)).toList();
			this.sink = sink;
			this.in = in;
			this.progress = progress;
		}

		@Override
		public void visit(CsvTable.Row row) throws MemtraceException {
			sink.row();
			progress.worked(in.bytes() - told);
			told = in.bytes();
			String problem = event(row);
			if (problem != null) {
				sink.skip(file, row.line(), problem);
			}
		}

		/** @return why the row is not used, or null */
		private String event(CsvTable.Row row) throws MemtraceException {
			EventCategory category = category(row.text("category").strip());
			if (category == null) {
				return "unknown category: neither state, link, event nor variable";
			}
			String name = row.text("type").strip();
			List<String> path = path(row.text("producer"));
			if (name.isEmpty() || name.length() > 128) {
				return "no type, or one of more than 128 characters";
			}
			if (path == null) {
				return "no producer, or one with an empty part";
			}
			long from = time(row.text(start));
			long to = row.text(end).isBlank() || category == EventCategory.PUNCTUAL ? from : time(row.text(end));
			if (to < from) {
				return "ends before it starts";
			}
			String text = row.text("value").strip();
			double value;
			if (category == EventCategory.LINK) {
				List<String> target = path(text);
				if (target == null) {
					return "link without an end producer as its value";
				}
				value = sink.producer(target);
			} else {
				value = text.isEmpty() ? 0 : Double.parseDouble(text);
				if (!Double.isFinite(value)) {
					return "value that is not finite";
				}
			}
			int type = sink.type(category, name);
			if (type < 0) {
				return "type that had another category before";
			}
			sink.event(type, sink.producer(path), from, to, value, (int) row.number("cpu", 0), parameters(row));
			return null;
		}

		private static EventCategory category(String text) {
			return switch (text.toLowerCase(Locale.ROOT)) {
			case "state" -> EventCategory.STATE;
			case "link" -> EventCategory.LINK;
			case "event", "punctual" -> EventCategory.PUNCTUAL;
			case "variable" -> EventCategory.VARIABLE;
			default -> null;
			};
		}

		/** Parts between slashes; null when one is empty. */
		private static List<String> path(String text) {
			List<String> parts = Arrays.stream(text.split("/", -1)).map(String::strip).toList();
			return parts.stream().anyMatch(String::isEmpty) ? null : parts;
		}

		/** Whole numbers are exact; others are rounded to a nanosecond. */
		private long time(String text) {
			String number = text.strip();
			try {
				return DecimalNumber.scaled(number, places);
			} catch (ArithmeticException e) {
				throw new NumberFormatException(number);
			}
		}

		private Map<String, String> parameters(CsvTable.Row row) {
			Map<String, String> all = new LinkedHashMap<>();
			for (String column : others) {
				if (!row.text(column).isEmpty()) {
					all.put(column, row.text(column));
				}
			}
			for (String pair : row.text("parameters").split(";")) {
				int equals = pair.indexOf('=');
				if (equals > 0 && !pair.substring(0, equals).isBlank()) {
					all.put(pair.substring(0, equals).strip(), pair.substring(equals + 1).strip());
				}
			}
			return all;
		}
	}
}
