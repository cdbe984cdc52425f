// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.formats;

import java.nio.file.Files;

import org.memtrace.analysis.export.OutputFile;
import org.memtrace.analysis.export.TabarnacExport;
import org.memtrace.cli.options.TraceWindow;
import org.memtrace.cli.output.Console;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;

/** A folder with the files of TABARNAC, which have its name. */
final class TabarnacFormat implements ExportFormat {
	@Override
	public String name() {
		return "tabarnac";
	}

	@Override
	public void write(Request r) throws Exception {
		r.needsOutput();
		TraceStore store = r.store();
		Console console = r.console();
		long period = r.args().has("window") ? TraceWindow.length(r.args(), store.info()) : 0;
		String name = r.output().getFileName().toString();
		OutputFile.write(r.output(), temporary -> {
			Files.createDirectory(temporary);
			try {
				TabarnacExport.Omitted omitted = TabarnacExport.write(store, r.filter(), temporary, name, period, console.progress());
				if (omitted.unattributed() > 0) {
					console.hint("note: " + omitted.unattributed() + " " + store.info().counts().plural()
							+ " without a known thread are left out");
				}
				if (omitted.structures() > 0) {
					console.hint("note: " + omitted.structures() + " structures had the addresses of others, which lived longer");
				}
			} catch (IllegalArgumentException e) {
				throw new MemtraceException(e.getMessage());
			}
		});
		if (!store.info().counts().isExact()) {
			console.hint("note: these are numbers of " + store.info().counts().plural() + ", not of accesses; record --exact counts them");
		}
	}
}
