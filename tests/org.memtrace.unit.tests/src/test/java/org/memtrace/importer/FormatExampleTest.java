// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.source.Instructions;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.InstructionCounts;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.storage.Stores;

/** The worked example of docs/reference/trace-format.md; the facts are those of its README. */
class FormatExampleTest {
	private static final Path EXAMPLE = Path.of(System.getProperty("memtrace.root", "../.."), "testdata", "format-example");

	@Test
	void theExampleIsReadAsItsReadmeSays() throws Exception {
		try (TraceCatalogue catalogue = Stores.inMemory()) {
			ImportReport report = new ImportOperation(EXAMPLE, catalogue::create).call(Progress.NONE);
			String json = report.toJson();
			for (String fact : List.of("\"process_images\": 2", "\"access_files\": 3", "\"imported\": 14",
					"\"incomplete_last_lines\": 1", "\"reads\": 11", "\"writes\": 13", "\"monitoring_intervals\": 5",
					"\"lost_by_recorder\": 3", "\"structures\": 13", "\"threads\": 3", "\"from_page_table_scan\": 1")) {
				assertTrue(json.contains(fact), fact + " is not in " + json);
			}
			try (TraceStore store = catalogue.open(report.trace().id())) {
				ProducerTree tree = store.producers();
				List<String> rows = new ArrayList<>();
				store.visitAccesses(AccessQuery.ALL, b -> {
					for (int i = 0; i < b.count; i++) {
						long interval = (b.startNs[i] - 1_000_000_000) / 50_000_000;
						rows.add(interval + " " + tree.name(b.producer[i]) + " "
								+ (b.thread[i] < 0 ? -1 : store.threads().get(b.thread[i]).taskId()) + " " + b.sharing[i]
								+ " " + b.flags[i]);
					}
				}, Progress.NONE);
				assertEquals(List.of("0 table [page 0] 1000 0 0", "0 A [page 0] 1000 0 0", "0 A [page 1] 1001 2 0",
						"0 A [page 1] 1000 2 0", "0 stack of main thread [page 2047] 1000 0 0", "1 A [page 0] 1000 0 0",
						"1 A [page 2] -1 0 1", "1 stack of thread 1 (worker) [page 2047] 1001 0 0", "2 B of p0000 app [page 0] 1001 0 0",
						"2 B of p0001 app [page 0] 1002 0 4", "2 B of p0001 app [page 2] 1002 1 0", "3 table [page 1] 1000 0 0",
						"3 B of p0000 app [page 0] 1000 0 0", "3 B of p0000 app [page 1] 1001 0 2"), rows);
				assertTrue(store.structures().stream().anyMatch(s -> s.name().equals("buffer[0], \"raw\"")));
				assertEquals(List.of("fill 9 1:8:7:0 3:4048:1:0 B", "sum 1  B"), Instructions.of(store, true).stream()
						.map(r -> r.place().function() + " " + r.use().accesses() + " " + InstructionCounts.text(r.use().strides()) + " "
								+ r.structure().name() + (r.several() ? ", …" : "")).toList());
				assertEquals(List.of("char 1", "double 8", "struct cell 16;0 8 sum double;8 4 n int"), store.structures().stream()
						.filter(s -> !s.members().isEmpty()).map(s -> s.elementType() + " " + s.members()).distinct().sorted().toList());
				assertEquals(List.of("A double[1024]", "B struct cell[768]", "B struct cell[768]", "table char[8192]", "table char[8192]"),
						store.structures().stream().filter(s -> !s.typeName().isEmpty()).map(s -> s.name() + " " + s.typeName()).sorted().toList());
			}
		}
	}
}
