// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.access;

import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

import org.memtrace.importer.input.Json;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.memtrace.ContextTables;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.CountUnit;
import org.memtrace.model.TimeUnit;
import org.memtrace.model.memory.PageCells;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;

/** Makes the report of an import of accesses. */
final class AccessReport {
	private AccessReport() {
	}

	/** @param sharedMemory a sentence about the memory that ranks share; empty when they share none */
	static ImportReport of(TraceDirectory directory, ContextTables context, SkipCounter skips, ImportCounts counts,
			ProducerTree tree, PageCells cells, String sharedMemory, CountUnit counted) {
		Map<String, Object> values = new LinkedHashMap<>();
		Json manifest = directory.manifest();
		values.put("source", directory.path().toString());
		values.put("state", manifest.object("status").text("state"));
		values.put("process_images", directory.images().size());
		if (directory.isJob()) {
			Json job = manifest.object("job");
			values.put("ranks", job.number("ranks", 0));
			values.put("machines", job.number("machines", 0));
			values.put("clocks", job.text("clocks"));
			values.put("shared_memory", sharedMemory);
		}
		values.put("access_files", counts.files);
		values.put("rows", rows(skips, counts));
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
		values.put("not_kept", context.leftOut());
		values.put("event_producers", tree.size());
		values.put("pages", leaves(tree));
		values.put("lost_by_recorder", losses(manifest, context));
		values.put("lost_by_reason", manifest.object("losses").object("by_reason").numbers());
		TimeUnit unit = TimeUnit.of(manifest.text(TimeUnit.PROPERTY));
		values.put(unit.column("start_ns"), counts.firstNs);
		values.put(unit.column("end_ns"), counts.lastNs);
		warn(directory, context, counts, skips);
		return new ImportReport(values, skips.warnings(), text(values, counted));
	}

	private static void warn(TraceDirectory directory, ContextTables context, ImportCounts counts, SkipCounter skips) {
		directory.notes().forEach(skips::warn);
		String incomplete = directory.manifest().object("status").text("incomplete");
		if (!incomplete.isEmpty()) {
			skips.warn("the recorder could not write everything: " + incomplete);
		}
		if (context.lostRegionMarks() > 0) {
			skips.warn(String.format(Locale.ROOT, "%,d begins or ends of regions could not be written by the recorder: regions may be missing, or"
					+ " last too long", context.lostRegionMarks()));
		}
		if (counts.sharedDiffers > 0) {
			skips.warn(String.format(Locale.ROOT, "of %,d accesses the column Shared says otherwise than their times",
					counts.sharedDiffers));
		}
		ticks(directory.manifest()).ifPresent(skips::warn);
	}

	private static Map<String, Object> rows(SkipCounter skips, ImportCounts counts) {
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
		rows.put("maybe_untouched", counts.maybeUntouchedRows);
		return rows;
	}

	private static Optional<String> ticks(Json manifest) {
		String clock = manifest.text("trace_type").equals("Moca") ? "Moca's logical clock, one for each fault" : "a logical clock";
		return manifest.text("time_unit").equals("tick") ? Optional.of("times are ticks of " + clock + ", and no nanoseconds") : Optional.empty();
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

	private static String text(Map<String, Object> values, CountUnit counted) {
		StringBuilder text = new StringBuilder();
		Map<?, ?> rows = (Map<?, ?>) values.get("rows");
		Map<?, ?> sums = (Map<?, ?>) values.get("accesses");
		ImportReport.line(text, "rows read", "%,d in %,d files of %,d process image(s)", rows.get("read"), values.get("access_files"),
				values.get("process_images"));
		if (values.containsKey("ranks")) {
			ImportReport.line(text, "ranks", "%,d on %,d machine(s); %s", values.get("ranks"), values.get("machines"), values.get("clocks"));
			if (!values.get("shared_memory").equals("")) {
				ImportReport.line(text, "shared memory", "%s", values.get("shared_memory"));
			}
		}
		ImportReport.line(text, "rows imported", "%,d", rows.get("imported"));
		ImportReport.line(text, "rows skipped", "%,d", rows.get("skipped"));
		((Map<?, ?>) rows.get("skipped_by_reason")).forEach((reason, n) -> ImportReport.line(text, "", "%,d: %s (first: %s)", n, reason,
				((Map<?, ?>) rows.get("first_place_by_reason")).get(reason)));
		if ((long) rows.get("incomplete_last_lines") > 0) {
			ImportReport.line(text, "", "%,d: incomplete last line", rows.get("incomplete_last_lines"));
		}
		if ((long) rows.get("segments_put_together") > 0) {
			ImportReport.line(text, "segments", "%,d rows continue the one before", rows.get("segments_put_together"));
		}
		if ((long) rows.get("out_of_order") > 0) {
			ImportReport.line(text, "rows out of order", "%,d (sorted)", rows.get("out_of_order"));
		}
		ImportReport.line(text, "reads", "%,d (all written: %,d)", sums.get("reads"), sums.get("reads_written"));
		ImportReport.line(text, "writes", "%,d (all written: %,d)", sums.get("writes"), sums.get("writes_written"));
		if ((long) rows.get("without_thread") > 0) {
			ImportReport.line(text, "without a thread", "%,d rows, %,d %s", rows.get("without_thread"),
					sums.get("without_thread"), counted.plural());
		}
		ImportReport.line(text, "in known structures", "%s %% of the %s", values.get("percent_in_known_structures"), counted.plural());
		ImportReport.line(text, "structures", "%,d, of which %,d are accessed", values.get("structures"),
				values.get("structures_with_accesses"));
		ImportReport.line(text, "threads", "%,d", values.get("threads"));
		ImportReport.line(text, "event producers", "%,d, of which %,d are pages", values.get("event_producers"), values.get("pages"));
		((Map<?, ?>) values.get("not_kept")).forEach((what, why) -> ImportReport.line(text, "not kept", "%s: %s", what, why));
		Map<Object, Object> reasons = new LinkedHashMap<>((Map<?, ?>) values.get("lost_by_reason"));
		reasons.values().removeIf(n -> n.equals(0L));
		ImportReport.line(text, "lost by the recorder", "%,d %s %s", values.get("lost_by_recorder"), counted.plural(),
				reasons.isEmpty() ? "" : reasons);
		return text.toString();
	}
}
