// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.commands;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.analysis.findings.TraceSummary;
import org.memtrace.analysis.text.Units;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.Json;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.memory.MeasuredMachine;
import org.memtrace.model.store.TraceStore;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;

/** {@code memtrace info} for what was imported; the native program has it for trace directories. Reads no accesses. */
public final class InfoCommand implements Command {
	@Override
	public int run(CommandLine args, Console console) throws Exception {
		if (args.has("explain")) {
			throw new UsageException("--explain is for trace directories; a trace that was imported keeps what 'memtrace info "
					+ args.argument(0) + "' prints");
		}
		try (TraceStore store = TraceArgument.open(args.argument(0), console)) {
			TraceArgument.Database file = TraceArgument.database(args.argument(0), store, console);
			if (args.isJson()) {
				console.out().println(Json.text(json(store, file)));
			} else {
				values(store, file).forEach((label, text) -> line(console, label, text));
				store.importReport().ifPresent(report -> {
					console.out().println("\nImport");
					ImportReport.rows(report).forEach((label, text) -> console.out().printf(Locale.ROOT, "  %-40s %s%n", label, text));
				});
				console.out().println("\nProperties");
				new TreeMap<>(store.info().properties())
						.forEach((name, value) -> console.out().printf(Locale.ROOT, "  %-40s %s%n", name, value));
			}
		}
		return ExitCode.OK;
	}

	private static void line(Console console, String label, String text) {
		if (!text.isEmpty()) {
			console.out().printf(Locale.ROOT, "%-12s%s%n", label, text);
		}
	}

	private static Map<String, String> values(TraceStore store, TraceArgument.Database file) throws MemtraceException {
		TraceInfo info = store.info();
		Map<String, String> v = new LinkedHashMap<>();
		v.put("Trace", info.alias() + (info.id() < 0 ? "" : ", number " + info.id() + " in the catalogue"));
		v.put("Database", file.name() == null ? "" : file.name() + String.format(Locale.ROOT, ", %.1f MB", Math.max(0, file.bytes()) / 1e6));
		v.put("Notes", info.description().strip().replace("\n", "\n            "));
		v.put("Command", info.properties().getOrDefault("command", info.application()));
		v.put("Recorded", (info.recordedAt().getEpochSecond() == 0 ? "" : info.recordedAt() + ", ") + "lasted "
				+ info.timeUnit().lasted(info.durationNs(), 3));
		v.put("Machine", info.host() + ", " + info.operatingSystem() + ", " + info.cpus() + " CPUs");
		if (store.accessCount() == 0) {
			v.put("Events", String.format(Locale.ROOT, "%,d of %,d types by %,d event producers", info.events(), store.eventTypes().size(),
					info.producers()));
			String lost = info.properties().get("losses");
			v.put("Lost", lost == null ? "" : lost + " events");
			return v;
		}
		v.put("Records", String.format(Locale.ROOT, "%,d of %s, which are %,d events", store.accessCount(), info.counts().plural(),
				info.events()));
		v.put("Memory", String.format(Locale.ROOT, "%,d event producers%s; pages of %,d bytes", info.producers(),
				store.addressSpaces().contains(AddressSpace.PHYSICAL) ? ", and a physical tree" : "", info.pageSizeBytes()));
		v.put("Structures", String.format(Locale.ROOT, "%,d", store.structures().size()));
		v.put("Threads", String.format(Locale.ROOT, "%,d", store.threads().size()));
		String losses = info.properties().get("losses");
		v.put("Lost", losses == null ? "" : Units.counted(losses, info.counts().plural()));
		v.put("Windows", info.windows());
		v.put("Seen", TraceSummary.seen(info));
		v.put("Intervals", info.properties().getOrDefault(TraceInfo.PROPERTY_LATE, ""));
		v.put("Ticks", info.properties().getOrDefault(TraceInfo.PROPERTY_TICKS, ""));
		v.put("Costs", costs(MeasuredMachine.of(info.properties().getOrDefault(TraceInfo.PROPERTY_MEASURED, ""))));
		v.put("Blocks", info.properties().getOrDefault(TraceInfo.PROPERTY_UNLISTED, ""));
		v.put("Processes", info.properties().getOrDefault(TraceInfo.PROPERTY_UNRECORDED, ""));
		v.put("Reads", TraceSummary.maybeUntouched(info));
		return v;
	}

	/** What memory cost on the recorded machine, the figures that say most. */
	private static String costs(MeasuredMachine m) {
		StringBuilder b = new StringBuilder();
		Map<String, String> shown = new LinkedHashMap<>();
		shown.put("latency_l2", "L2");
		shown.put("latency_l3", "L3");
		shown.put("latency_memory", "memory");
		shown.put("line_transfer", "a line of another core");
		shown.put("fault", "a page fault");
		shown.forEach((name, words) -> m.figure(name).ifPresent(f -> b.append(b.isEmpty() ? "" : ", ").append(words)
				.append(String.format(Locale.ROOT, f.value() < 10 ? " %.2f ns" : " %.0f ns", f.value()))));
		return b.toString();
	}

	private static JsonObject json(TraceStore store, TraceArgument.Database file) throws MemtraceException {
		TraceInfo info = store.info();
		JsonObject o = Json.of("memtrace.info/1");
		o.addProperty("id", info.id() < 0 ? null : info.id());
		o.addProperty("name", info.alias());
		o.addProperty("type", info.type());
		o.addProperty("database", file.name());
		o.addProperty("database_bytes", Math.max(0, file.bytes()));
		o.addProperty("notes", info.description());
		o.addProperty("recorded", info.recordedAt().toString());
		o.addProperty("time_unit", info.timeUnit().id());
		o.addProperty(info.timeUnit().column("start_ns"), info.startNs());
		o.addProperty(info.timeUnit().column("end_ns"), info.endNs());
		o.addProperty("application", info.application());
		o.addProperty("host", info.host());
		o.addProperty("operating_system", info.operatingSystem());
		o.addProperty("cpus", info.cpus());
		o.addProperty("page_size_bytes", info.pageSizeBytes());
		o.addProperty("accesses", store.accessCount());
		o.addProperty("counts", info.counts().id());
		o.addProperty("events", info.events());
		o.addProperty("producers", info.producers());
		o.addProperty("structures", store.structures().size());
		o.addProperty("threads", store.threads().size());
		o.addProperty("physical_tree", store.addressSpaces().contains(AddressSpace.PHYSICAL));
		JsonObject properties = new JsonObject();
		new TreeMap<>(info.properties()).forEach(properties::addProperty);
		o.add("properties", properties);
		try {
			o.add("import", JsonParser.parseString(store.importReport().orElse("null")));
		} catch (JsonParseException e) {
			o.add("import", null);
		}
		return o;
	}
}
