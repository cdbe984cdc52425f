// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.analysis.catalogue.TraceSearch;
import org.memtrace.analysis.findings.TraceSummary;
import org.memtrace.analysis.text.Units;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.TraceInfo;

/** What the Details view says about a trace, as rows. */
public final class TraceDetails {
	/**
	 * A row.
	 *
	 * @param heading whether it begins a section; then there is no value
	 * @param warning whether the value is something that the user should know before trusting the numbers
	 * @param edits what a person can change: {@link #NAME}, {@link #DESCRIPTION}, the key of an own property, or null
	 */
	public record Row(String name, String value, boolean heading, boolean warning, String edits) {
		Row(String name, String value, boolean heading, boolean warning) {
			this(name, value, heading, warning, null);
		}
	}

	/** The value of a row is that of several traces which differ. */
	static final String DIFFERENT = "(different)";
	static final String NAME = "name";
	static final String DESCRIPTION = "description";

	private static final String UNKNOWN = "unknown";
	private static final String LOSSES = "losses";
	/** Prefixes of properties that make a section of their own. */
	private static final Map<String, String> SECTIONS = Map.of("guarantee_", "What the backend guarantees", "parameter_",
			"Parameters", TraceInfo.PROPERTY_SETTING, "Kernel settings", TraceInfo.PROPERTY_ENVIRONMENT, "Environment", "job_",
			"Parallel job");
	private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern("d MMM yyyy HH:mm:ss", Locale.ENGLISH)
			.withZone(ZoneId.systemDefault());

	private final List<Row> rows = new ArrayList<>();
	/** Properties that have no row yet. */
	private final Map<String, String> left;

	private TraceDetails(TraceInfo trace) {
		left = new TreeMap<>(trace.properties());
	}

	/** Number of accesses that the recorder is known to have lost, 0 when none or not known. */
	public static long lostAccesses(TraceInfo trace) {
		try {
			return Long.parseLong(trace.properties().getOrDefault(LOSSES, "0"));
		} catch (NumberFormatException e) {
			return 0;
		}
	}

	/**
	 * All rows of a trace: what a user asks first, then all properties that are left, by section.
	 *
	 * @param file the database when it is in no catalogue, else null
	 * @param importReport as JSON, empty when not known
	 */
	public static List<Row> of(TraceInfo t, Path file, String importReport) {
		TraceDetails d = new TraceDetails(t);
		d.heading("Trace");
		d.rows.add(new Row("Name", t.alias(), false, false, NAME));
		d.row("File", file == null ? "" : file.toString());
		d.property("Command", "command");
		if (!t.description().isBlank()) {
			d.rows.add(new Row("Purpose", t.description(), false, false, DESCRIPTION));
		}
		d.left.remove("purpose");
		d.row("Recorded", t.recordedAt().equals(Instant.EPOCH) ? "" : DATE.format(t.recordedAt()));
		d.row("Duration", Units.duration(t, t.durationNs()));
		d.property("Exit code", "exit_code");
		d.property("Killed by signal", "signal");
		d.property("State", "state");
		long lost = lostAccesses(t);
		boolean known = d.left.remove(LOSSES) != null;
		if (known || t.type().equals(TraceInfo.TYPE_MEMTRACE)) {
			d.rows.add(new Row("Lost " + t.counts().plural(), lost == 0 ? "none" : Units.count(lost), false, lost != 0));
		}
		String windows = d.left.remove(TraceInfo.PROPERTY_WINDOWS);
		if (windows != null) {
			d.rows.add(new Row("Windows", windows, false, true));
		}
		List.of(TraceInfo.PROPERTY_UNSEEN, TraceInfo.PROPERTY_ALL_SEEN, TraceInfo.PROPERTY_UNREACHED).forEach(d.left::remove);
		if (t.type().equals(TraceInfo.TYPE_MEMTRACE)) {
			d.rows.add(new Row("Memory", TraceSummary.seen(t), false, !TraceSummary.unseen(t).isEmpty()));
		}
		d.property("Intervals", TraceInfo.PROPERTY_LATE);
		d.property("Blocks", TraceInfo.PROPERTY_UNLISTED);
		d.property("Processes", TraceInfo.PROPERTY_UNRECORDED);
		String untouched = d.left.remove(TraceInfo.PROPERTY_MAYBE_UNTOUCHED);
		if (untouched != null) {
			d.rows.add(new Row("Reads", untouched, false, true));
		}
		d.property("Shared", TraceInfo.PROPERTY_NOT_PRIVATE);
		d.property("Backend", "backend");
		d.row("Event producers", Units.count(t.producers()));
		d.row("Events", t.events() == 0 && t.type().equals(TraceInfo.TYPE_MEMTRACE) ? "" : Units.count(t.events())); // it has accesses
		List<String> own = d.left.keySet().stream().filter(k -> k.startsWith(TraceSearch.OWN_PROPERTY)).toList();
		if (!own.isEmpty()) {
			d.heading("Own properties");
			for (String key : own) {
				d.rows.add(new Row(key.substring(TraceSearch.OWN_PROPERTY.length()), d.left.remove(key), false, false, key));
			}
		}
		d.heading("Machine");
		d.known("Host", t.host());
		d.property("Processor", "cpu_model");
		d.row("CPUs", t.cpus() > 0 ? Integer.toString(t.cpus()) : "");
		d.property("NUMA nodes", "numa_nodes");
		d.known("System", t.operatingSystem());
		d.row("Page size", t.pageSizeBytes() > 0 ? Units.bytes(t.pageSizeBytes()) : "");
		if (d.rows.get(d.rows.size() - 1).heading()) {
			d.rows.remove(d.rows.size() - 1); // nothing is known of the machine
		}
		SECTIONS.entrySet().stream().sorted(Map.Entry.comparingByValue()).forEach(e -> {
			List<String> keys = d.left.keySet().stream().filter(k -> k.startsWith(e.getKey())).toList();
			if (!keys.isEmpty()) {
				d.heading(e.getValue());
				for (String key : keys) {
					d.property(title(key.substring(e.getKey().length())), key);
				}
			}
		});
		d.heading("More");
		d.known("Program", t.application());
		d.left.remove("executable");
		for (String key : List.copyOf(d.left.keySet())) {
			d.property(title(key), key);
		}
		d.row("Database", file == null ? t.databaseName() : "");
		if (d.rows.get(d.rows.size() - 1).heading()) {
			d.rows.remove(d.rows.size() - 1);
		}
		if (!importReport.isBlank()) {
			Map<String, String> report = ImportReport.rows(importReport);
			if (!report.isEmpty()) {
				d.heading("Import");
				String[] group = { "" };
				report.forEach((name, value) -> {
					boolean bad = name.startsWith("warnings") || name.equals("rows: skipped") && !value.equals("0");
					int colon = name.indexOf(": ");
					String parent = colon < 0 ? "" : name.substring(0, colon);
					if (!parent.isEmpty() && !parent.equals(group[0])) {
						d.rows.add(new Row(title(parent), "", false, false));
					}
					group[0] = parent;
					d.rows.add(new Row(colon < 0 ? title(name) : "    " + name.substring(colon + 2), value, false, bad));
				});
			}
		}
		return List.copyOf(d.rows);
	}

	/** What several traces have in common: rows that all of them have, with the value or that it differs. */
	public static List<Row> common(List<TraceInfo> traces) {
		List<Row> common = new ArrayList<>(of(traces.get(0), null, ""));
		for (TraceInfo t : traces.subList(1, traces.size())) {
			List<Row> other = of(t, null, "");
			String[] sections = sections(other);
			String[] mine = sections(common);
			List<Row> kept = new ArrayList<>();
			for (int i = 0; i < common.size(); i++) {
				Row row = common.get(i);
				for (int k = 0; k < other.size(); k++) {
					Row r = other.get(k);
					if (r.name().equals(row.name()) && r.heading() == row.heading() && sections[k].equals(mine[i])) {
						kept.add(r.value().equals(row.value()) ? row
								: new Row(row.name(), DIFFERENT, false, row.warning() || r.warning(), row.edits()));
						break;
					}
				}
			}
			common = kept;
		}
		List<Row> rows = new ArrayList<>();
		for (int i = 0; i < common.size(); i++) {
			boolean empty = common.get(i).heading() && (i + 1 == common.size() || common.get(i + 1).heading());
			if (!empty) {
				rows.add(common.get(i));
			}
		}
		return rows;
	}

	/** For each row the heading above it. */
	private static String[] sections(List<Row> rows) {
		String[] sections = new String[rows.size()];
		String section = "";
		for (int i = 0; i < sections.length; i++) {
			section = rows.get(i).heading() ? rows.get(i).name() : section;
			sections[i] = section;
		}
		return sections;
	}

	private void heading(String name) {
		rows.add(new Row(name, "", true, false));
	}

	private void row(String name, String value) {
		if (value != null && !value.isBlank()) {
			rows.add(new Row(name, value, false, false));
		}
	}

	/** A row of something that other tools call unknown. */
	private void known(String name, String value) {
		row(name, UNKNOWN.equalsIgnoreCase(value) ? "" : value);
	}

	private void property(String name, String key) {
		String value = left.remove(key);
		if (value != null) {
			row(name, readable(key, value));
		}
	}

	/** Numbers with their unit in the key get that of a person. */
	private static String readable(String key, String value) {
		try {
			if (key.endsWith("_ns")) {
				return Units.duration(Long.parseLong(value));
			}
			if (key.endsWith("_bytes")) {
				return Units.bytes(Long.parseLong(value));
			}
		} catch (NumberFormatException e) {
			return value;
		}
		return value;
	}

	/** {@code interval_ns} becomes {@code Interval}. */
	private static String title(String key) {
		String text = key.replaceFirst("_(ns|bytes)$", "").replace('_', ' ').replace('.', ' ').strip();
		return text.isEmpty() ? key : text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
	}
}
