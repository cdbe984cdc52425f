// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;

import org.memtrace.importer.input.Json;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.memtrace.ContextTables;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.PageCells;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;

/** What an import did: every number, and why something is not in the trace. */
public final class ImportReport {
	private static final Gson GSON = new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create();

	private final Map<String, Object> values = new LinkedHashMap<>();
	private final List<String> warnings;
	private TraceInfo trace;

	ImportReport(TraceDirectory directory, ContextTables context, SkipCounter skips, ImportCounts counts,
			ProducerTree tree, PageCells cells, int images) {
		Json manifest = directory.manifest();
		values.put("source", directory.path().toString());
		values.put("state", manifest.object("status").text("state"));
		values.put("process_images", images);
		values.put("access_files", counts.files);
		Map<String, Object> rows = new LinkedHashMap<>();
		rows.put("read", counts.rows);
		rows.put("imported", counts.imported);
		rows.put("skipped", counts.skipped);
		rows.put("incomplete_last_lines", skips.incompleteLines());
		rows.put("skipped_by_reason", skips.byReason());
		rows.put("first_place_by_reason", skips.firstPlaces());
		rows.put("segments_put_together", counts.merged);
		rows.put("out_of_order", counts.unsorted.values().stream().mapToLong(Long::longValue).sum());
		rows.put("without_thread", counts.unattributedRows);
		rows.put("from_page_table_scan", counts.scanRows);
		values.put("rows", rows);
		Map<String, Object> sums = new LinkedHashMap<>();
		sums.put("reads", counts.reads);
		sums.put("writes", counts.writes);
		sums.put("reads_written", counts.writtenReads);
		sums.put("writes_written", counts.writtenWrites);
		sums.put("without_thread", counts.unattributedAccesses);
		values.put("accesses", sums);
		Map<String, Object> kinds = new LinkedHashMap<>();
		long inside = 0;
		for (StructureKind kind : StructureKind.values()) {
			long n = counts.accessesByKind[kind.ordinal()];
			kinds.put(kind.name().toLowerCase(Locale.ROOT), n);
			inside += kind == StructureKind.BRK || kind == StructureKind.FILE ? 0 : n;
		}
		kinds.put("outside", counts.accessesByKind[StructureKind.values().length]);
		values.put("accesses_by_kind_of_structure", kinds);
		values.put("percent_in_known_structures", percent(inside, counts.reads + counts.writes));
		values.put("structures", context.structures().size());
		values.put("structures_with_accesses", structuresIn(cells));
		values.put("call_stacks", context.stacks().size());
		values.put("threads", context.threads().size());
		values.put("threads_not_listed", context.unlistedThreads());
		values.put("monitoring_intervals", context.intervals().size());
		values.put("event_producers", tree.size());
		values.put("pages", leaves(tree));
		values.put("lost_by_recorder", losses(manifest, context));
		values.put("lost_by_reason", manifest.object("losses").object("by_reason").numbers());
		values.put("start_ns", counts.firstNs);
		values.put("end_ns", counts.lastNs);
		directory.notes().forEach(skips::warn);
		String incomplete = manifest.object("status").text("incomplete");
		if (!incomplete.isEmpty()) {
			skips.warn("the recorder could not write everything: " + incomplete);
		}
		if (counts.sharedDiffers > 0) {
			skips.warn(String.format(Locale.ROOT, "of %,d accesses the column Shared says otherwise than their times",
					counts.sharedDiffers));
		}
		if (manifest.text("time_unit").equals("tick")) {
			skips.warn("times are ticks of Moca's logical clock, one for each fault, and no nanoseconds");
		}
		warnings = skips.warnings();
		values.put("warnings", warnings);
	}

	/** Accesses that the recorder knows to have lost; of a killed one, what its intervals tell. */
	static long losses(Json manifest, ContextTables context) {
		return Math.max(manifest.object("losses").number("total", 0), context.lostAccesses());
	}

	private static double percent(long part, long whole) {
		return whole == 0 ? 0 : Math.round(1000.0 * part / whole) / 10.0;
	}

	/** Not from the tree: merged structures are none of its producers. */
	private static int structuresIn(PageCells cells) {
		BitSet found = new BitSet();
		for (int structure : cells.structure()) {
			if (structure >= 0) {
				found.set(structure);
			}
		}
		return found.cardinality();
	}

	private static int leaves(ProducerTree tree) {
		int n = 0;
		for (int id = 0; id < tree.size(); id++) {
			n += tree.isLeaf(id) && tree.kind(id) != ProducerKind.ROOT ? 1 : 0;
		}
		return n;
	}

	ImportReport stored(TraceInfo info) {
		trace = info;
		return this;
	}

	/** The trace as the store knows it. */
	public TraceInfo trace() {
		return trace;
	}

	/**
	 * A stored report for a table: what was counted, and how many, in the order of the report. Objects inside give a row for
	 * each of their values.
	 *
	 * @param json from {@link #toJson}
	 */
	public static Map<String, String> rows(String json) {
		Map<String, String> rows = new LinkedHashMap<>();
		try {
			rows("", JsonParser.parseString(json), rows);
		} catch (JsonParseException e) {
			rows.put("report", "cannot be read: " + e.getMessage());
		}
		return rows;
	}

	private static void rows(String path, JsonElement value, Map<String, String> rows) {
		if (value.isJsonObject()) {
			value.getAsJsonObject().asMap()
					.forEach((key, v) -> rows(path.isEmpty() ? key : path + ": " + key, v, rows));
		} else if (value.isJsonArray()) {
			int i = 1;
			for (JsonElement v : value.getAsJsonArray()) {
				rows(value.getAsJsonArray().size() == 1 ? path : path + " " + i++, v, rows);
			}
		} else if (!value.isJsonNull()) {
			JsonPrimitive p = value.getAsJsonPrimitive();
			boolean whole = p.isNumber() && p.getAsString().matches("-?\\d+");
			rows.put(path.replace('_', ' '), whole ? String.format(Locale.ROOT, "%,d", p.getAsLong()) : p.getAsString());
		}
	}

	/** Sentences about what a user should know. */
	public List<String> warnings() {
		return warnings;
	}

	/** The report as a JSON object. */
	public String toJson() {
		return GSON.toJson(values);
	}

	/** The report for a person, several lines. */
	public String toText() {
		StringBuilder text = new StringBuilder();
		Map<?, ?> rows = (Map<?, ?>) values.get("rows");
		Map<?, ?> sums = (Map<?, ?>) values.get("accesses");
		line(text, "rows read", "%,d in %,d files of %,d process image(s)", rows.get("read"), values.get("access_files"),
				values.get("process_images"));
		line(text, "rows imported", "%,d", rows.get("imported"));
		line(text, "rows skipped", "%,d", rows.get("skipped"));
		((Map<?, ?>) rows.get("skipped_by_reason")).forEach((reason, n) -> line(text, "", "%,d: %s (first: %s)", n, reason,
				((Map<?, ?>) rows.get("first_place_by_reason")).get(reason)));
		if ((long) rows.get("incomplete_last_lines") > 0) {
			line(text, "", "%,d: incomplete last line", rows.get("incomplete_last_lines"));
		}
		if ((long) rows.get("segments_put_together") > 0) {
			line(text, "segments", "%,d rows continue the one before", rows.get("segments_put_together"));
		}
		if ((long) rows.get("out_of_order") > 0) {
			line(text, "rows out of order", "%,d (sorted)", rows.get("out_of_order"));
		}
		line(text, "reads", "%,d (all written: %,d)", sums.get("reads"), sums.get("reads_written"));
		line(text, "writes", "%,d (all written: %,d)", sums.get("writes"), sums.get("writes_written"));
		if ((long) rows.get("without_thread") > 0) {
			line(text, "without a thread", "%,d rows, %,d accesses", rows.get("without_thread"),
					sums.get("without_thread"));
		}
		line(text, "in known structures", "%s %% of the accesses", values.get("percent_in_known_structures"));
		line(text, "structures", "%,d, of which %,d are accessed", values.get("structures"),
				values.get("structures_with_accesses"));
		line(text, "threads", "%,d", values.get("threads"));
		line(text, "event producers", "%,d, of which %,d are pages", values.get("event_producers"), values.get("pages"));
		Map<Object, Object> reasons = new LinkedHashMap<>((Map<?, ?>) values.get("lost_by_reason"));
		reasons.values().removeIf(n -> n.equals(0L));
		line(text, "lost by the recorder", "%,d accesses %s", values.get("lost_by_recorder"),
				reasons.isEmpty() ? "" : reasons);
		warnings.forEach(warning -> line(text, "warning", "%s", warning));
		return text.toString();
	}

	private static void line(StringBuilder text, String label, String format, Object... arguments) {
		text.append(String.format(Locale.ROOT, "%-22s", label)).append(String.format(Locale.ROOT, format, arguments).strip())
				.append('\n');
	}
}
