// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.access;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.importer.input.Json;
import org.memtrace.importer.memtrace.ContextTables;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.MeasuredMachine;

/**
 * What an imported trace says of itself: what its manifest has, and what was counted.
 *
 * @param name wanted; empty for the name in the manifest
 */
record ImportedTrace(TraceDirectory trace, String name, int fanout, ImportCounts counts, ContextTables context) {
	/** As wanted, else the name in the manifest, else that of the folder. */
	String displayName() {
		String wanted = name.isEmpty() ? trace.manifest().text("name").strip() : name;
		return wanted.isEmpty() ? trace.path().getFileName().toString().replaceFirst("\\.memtrace$", "") : wanted;
	}

	/** How many records say no more than that a page was mapped; empty when none does. */
	private String maybeUntouched(long groupBytes) {
		if (counts.maybeUntouchedRows == 0) {
			return "";
		}
		return String.format(Locale.ROOT, "%.1f %% of the records are of pages that may not have been touched; the kernel maps groups of up to"
				+ " %d pages around a read", 100.0 * counts.maybeUntouchedRows / counts.imported,
				Math.max(2, groupBytes / Math.max(1, trace.pageSizeBytes())));
	}

	/** How much is to memory of which each process has a page of its own here, and really none; empty when that is nothing. */
	private String notPrivate() {
		// the segments of a job are one memory here, too
		if (counts.notPrivateRows == 0 || trace.isJob() || trace.images().size() < 2) {
			return "";
		}
		return String.format(Locale.ROOT, "%.1f %% of the records are of memory that other processes may use, too: each has pages, threads and"
				+ " first touches of its own here, and what they share is not known", 100.0 * counts.notPrivateRows / counts.imported);
	}

	/** Memory that the recorder did not see: the sentence, and bytes and largest names by kind. */
	private static void unseen(Json unseen, Map<String, String> p) throws MemtraceException {
		p.put(unseen.text("state").equals("all") ? TraceInfo.PROPERTY_ALL_SEEN : TraceInfo.PROPERTY_UNSEEN, unseen.text("text"));
		p.put("unseen_bytes", unseen.text("bytes"));
		for (Json kind : unseen.objects("kinds")) {
			StringBuilder names = new StringBuilder();
			for (Json name : kind.objects("names")) {
				if (!name.text("name").isEmpty()) {
					names.append(names.isEmpty() ? ": " : ", ").append(name.text("name")).append(' ').append(name.text("bytes"));
				}
			}
			String more = kind.text("more_names");
			p.put("unseen_" + kind.text("kind"), kind.text("bytes") + " bytes" + names + (more.isEmpty() ? "" : " and " + more + " more"));
		}
	}

	/** What the store keeps of it; its id is not known yet. */
	TraceInfo info() throws MemtraceException {
		Json manifest = trace.manifest();
		Json host = manifest.object("host");
		Json clock = manifest.object("clock");
		Json backend = manifest.object("backend");
		Map<String, String> p = new LinkedHashMap<>();
		p.put("command", String.join(" ", manifest.texts("command").stream().map(ImportedTrace::quoted).toList()));
		p.put("executable", manifest.text("executable"));
		p.put("working_directory", manifest.text("working_directory"));
		p.put("purpose", manifest.text("purpose"));
		p.put("state", manifest.object("status").text("state"));
		p.put("exit_code", manifest.object("status").text("exit_code"));
		p.put("signal", manifest.object("status").text("signal"));
		p.put("backend", backend.text("name"));
		p.put("recorder_version", manifest.object("tool").text("version"));
		p.put("cpu_model", host.text("cpu_model"));
		p.put("numa_nodes", host.text("numa_nodes"));
		p.put("losses", Long.toString(AccessReport.losses(manifest, context)));
		unseen(manifest.object("unseen"), p);
		p.put("zoom", manifest.object("zoom").text("text"));
		manifest.object("overhead").primitives().forEach((key, value) -> p.put("overhead_" + key, value));
		p.put(TraceInfo.PROPERTY_LATE, manifest.object("late").text("text"));
		p.put(TraceInfo.PROPERTY_TICKS, manifest.object("ticks").text("text"));
		p.put(TraceInfo.PROPERTY_MEASURED, measured(manifest.object("measured")).text());
		p.put(TraceInfo.PROPERTY_UNLISTED, manifest.object("unlisted").text("text"));
		p.put(TraceInfo.PROPERTY_WINDOWS, manifest.object("windows").text("text"));
		p.put(TraceInfo.PROPERTY_UNRECORDED, manifest.object("unrecorded").text("text"));
		long unreached = manifest.object("unrecorded").number("unreached", 0);
		p.put(TraceInfo.PROPERTY_UNREACHED, unreached > 0 ? Long.toString(unreached) : "");
		p.put(TraceInfo.PROPERTY_MAYBE_UNTOUCHED, maybeUntouched(backend.object("guarantee").number("read_group_bytes", 0)));
		p.put(TraceInfo.PROPERTY_NOT_PRIVATE, notPrivate());
		backend.object("guarantee").primitives().forEach((key, value) -> p.put("guarantee_" + key, value));
		manifest.object("parameters").primitives().forEach((key, value) -> p.put("parameter_" + key, value));
		host.object("settings").primitives().forEach((key, value) -> p.put(TraceInfo.PROPERTY_SETTING + key, value));
		manifest.object("environment").primitives().forEach((key, value) -> {
			if (key.matches(TraceInfo.ENVIRONMENT_OF_PROGRAMS)) {
				p.put(TraceInfo.PROPERTY_ENVIRONMENT + key, value);
			}
		});
		manifest.object("job").primitives().forEach((key, value) -> p.put("job_" + key, value));
		if (trace.isJob()) { // of one of them
			p.remove("job_rank");
			p.remove("job_local_rank");
			p.remove("job_node");
		}
		p.put(ImportSource.PROPERTY_SOURCE, trace.path().toString());
		p.put(ImportSource.PROPERTY_SOURCE_IDENTITY, trace.identity());
		p.put("time_unit", manifest.text("time_unit"));
		p.put("fanout", Integer.toString(fanout));
		p.values().removeIf(String::isEmpty);
		long start = Math.min(counts.firstNs, clock.number("start_ns", counts.firstNs));
		long end = Math.max(counts.lastNs, clock.number("end_ns", counts.lastNs));
		String purpose = manifest.text("purpose");
		String type = manifest.text("trace_type");
		return new TraceInfo(-1, displayName(), "", type.isEmpty() ? TraceInfo.TYPE_MEMTRACE : type, manifest.text("executable"),
				host.text("name"), (host.text("os") + " " + host.text("kernel")).strip(),
				(int) host.number("cpus_online", 0), 0, 0, Math.max(0, start), end,
				recordedAt(clock.text("start_realtime")), trace.pageSizeBytes(), purpose, new TreeMap<>(p));
	}

	/** What memory costs there; of a job on several machines that of the lowest rank, as all else of the host. */
	private static MeasuredMachine measured(Json m) {
		Json figures = m.object("figures");
		StringBuilder text = new StringBuilder("l2_bytes=").append(m.number("l2_bytes", 0));
		for (String name : figures.object().keySet()) {
			Json f = figures.object(name);
			text.append(' ').append(name).append('=').append(f.text("value")).append(',').append(f.text("low")).append(',').append(f.text("high"));
		}
		return MeasuredMachine.of(text.toString());
	}

	private static Instant recordedAt(String text) {
		try {
			return OffsetDateTime.parse(text).toInstant();
		} catch (DateTimeException e) {
			return Instant.EPOCH;
		}
	}

	private static String quoted(String argument) {
		return argument.matches("[A-Za-z0-9_@%+=:,./-]+") ? argument : "'" + argument.replace("'", "'\\''") + "'";
	}
}
