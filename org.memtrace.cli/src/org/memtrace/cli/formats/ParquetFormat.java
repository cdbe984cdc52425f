// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.formats;

import java.nio.file.Files;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.export.OutputFile;
import org.memtrace.analysis.export.ParquetExport;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.AccessOptions;
import org.memtrace.cli.options.TraceWindow;

/** A folder that needs nothing else: docs/reference/parquet.md. */
final class ParquetFormat implements ExportFormat {
	@Override
	public String name() {
		return "parquet";
	}

	@Override
	public void write(Request r) throws Exception {
		r.needsOutput();
		CommandLine args = r.args();
		boolean byTime = args.has("window") || args.get("partition").equals("time");
		if (args.has("window") && args.get("partition").equals("memory")) {
			throw new UsageException("--window is the length of windows of time: it needs --partition time");
		}
		long window = args.has("window") ? TraceWindow.length(args, r.store().info()) : 0;
		if (args.has("window") && window <= 0) {
			throw new UsageException("--window must be greater than 0");
		}
		OutputFile.write(r.output(), temporary -> {
			Files.createDirectory(temporary);
			AccessTable table = AccessOptions.load(r.store(), r.console());
			if (byTime) {
				ParquetExport.byTime(r.store(), table, r.filter(), temporary, window, r.console().progress());
			} else if (!ParquetExport.byMemory(r.store(), table, r.filter(), temporary, true, r.console().progress())) {
				r.console().hint("note: " + r.output() + " has accesses and tables only: sql, aggregate, render and model-part read it, the workbench"
						+ " does not");
			}
		});
	}
}
