// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import java.io.ByteArrayInputStream;
import java.nio.file.Path;
import java.util.List;

import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/**
 * The target of coverage-guided fuzzing ({@code bench/fuzz/run.sh}) and of {@link ImportFuzzerTest}: any bytes, imported from a
 * stream, in whatever format they look like. Either one sentence says why not, or everything that was read is in the trace.
 */
public final class ImportFuzzer {
	private ImportFuzzer() {
	}

	/** What Jazzer calls. The first byte chooses whether the import is strict. */
	public static void fuzzerTestOneInput(byte[] data) {
		if (data.length > 0) {
			imports(java.util.Arrays.copyOfRange(data, 1, data.length), (data[0] & 1) != 0);
		}
	}

	/** Whether the bytes could be imported; an {@link AssertionError} or any other throwable is a bug. */
	static boolean imports(byte[] data, boolean strict) {
		try (TraceCatalogue catalogue = Stores.inMemory()) {
			ImportReport report = new ImportOperation(List.of(Path.of("-")), new ByteArrayInputStream(data), catalogue::create)
					.setStrict(strict).call(Progress.NONE);
			report.toText();
			check(!strict || report.toJson().contains("\"skipped_by_reason\": {}"), "something was skipped in a strict import");
			try (TraceStore store = catalogue.open(report.trace().id())) {
				long[] seen = new long[1];
				store.visitAccesses(AccessQuery.ALL, b -> {
					for (int i = 0; i < b.count; i++) {
						check(b.startNs[i] < b.endNs[i] && b.startNs[i] >= 0, "times");
						check(b.reads[i] >= 0 && b.writes[i] >= 0 && b.reads[i] + b.writes[i] > 0, "counts");
						check(b.sharing[i] >= 0 && b.sharing[i] <= Math.max(1, store.threads().size()), "sharing");
						check(store.producers().isLeaf(b.producer[i]), "no leaf");
						seen[0]++;
					}
				}, Progress.NONE);
				check(seen[0] == store.accessCount() && seen[0] > 0, "number of accesses");
			}
			return true;
		} catch (MemtraceException e) {
			check(!e.getMessage().isBlank() && !e.getMessage().contains("please report"), e.getMessage());
			return false;
		}
	}

	private static void check(boolean good, String what) {
		if (!good) {
			throw new AssertionError(what);
		}
	}
}
