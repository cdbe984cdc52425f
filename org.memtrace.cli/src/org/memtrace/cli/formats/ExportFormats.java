// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.formats;

import java.util.List;
import java.util.stream.Collectors;

import org.memtrace.analysis.export.ChromeTrace;
import org.memtrace.analysis.export.PajeTrace;
import org.memtrace.analysis.export.TraceExport;
import org.memtrace.cli.options.AccessOptions;
import org.memtrace.model.MemtraceException;

/** All export formats: one line for each. */
public final class ExportFormats {
	/** All of them, in the order of the option {@code --format}. */
	static final List<ExportFormat> ALL = List.of(new ExportFormat.OfText("csv", false, ExportFormats::csv),
			new ExportFormat.OfText("paje", true, (r, out) -> PajeTrace.write(r.store(), r.filter(), out, r.console().progress())),
			new ExportFormat.OfText("pjdump", true, (r, out) -> TraceExport.pjdump(r.store(), r.filter(), out, r.console().progress())),
			new ExportFormat.OfText("chrome", true, (r, out) -> ChromeTrace.write(r.store(), r.filter(), out, r.console().progress())),
			new Otf2Format(), new ParquetFormat(), new TabarnacFormat());

	private ExportFormats() {
	}

	/** The format of that name. */
	public static ExportFormat named(String name) {
		return ALL.stream().filter(f -> f.name().equals(name)).findFirst().orElseThrow();
	}

	/** Names of those that can write traces of events. */
	public static String namesOfEvents() {
		return ALL.stream().filter(ExportFormat::isOfEvents).map(ExportFormat::name).collect(Collectors.joining(", "));
	}

	private static void csv(ExportFormat.Request r, Appendable out) throws MemtraceException {
		TraceExport.csv(r.store(), AccessOptions.load(r.store(), r.console()), r.filter(), AccessOptions.columns(r.args()), out,
				r.console().progress());
	}
}
