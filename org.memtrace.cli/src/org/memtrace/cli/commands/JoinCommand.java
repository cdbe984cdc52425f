// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.io.PrintStream;
import java.util.Locale;

import org.memtrace.analysis.text.Units;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.Json;
import org.memtrace.importer.join.ClockFit;
import org.memtrace.importer.join.JoinOperation;
import org.memtrace.model.store.TraceStore;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/** {@code memtrace join}. */
public final class JoinCommand implements Command {
	@Override
	public int run(CommandLine args, Console console) throws Exception {
		if (args.has("undo") != (args.arguments().size() == 1)) {
			throw new UsageException(args.has("undo") ? "--undo takes one trace" : "the application trace is missing");
		}
		if (args.has("undo") && (args.has("marker") || args.has("clock-offset")) || args.has("marker") && args.has("clock-offset")) {
			throw new UsageException("--undo, --marker and --clock-offset exclude each other");
		}
		try (TraceStore memory = TraceArgument.open(args.argument(0), console)) {
			if (args.has("undo")) {
				boolean undone = JoinOperation.undo(memory);
				if (args.isJson()) {
					JsonObject o = Json.of("memtrace.join/1");
					o.addProperty("trace", memory.info().alias());
					o.addProperty("undone", undone);
					console.out().println(Json.text(o));
				} else {
					console.out().println(undone ? "The joined regions are taken back." : "Nothing was joined.");
				}
				return ExitCode.OK;
			}
			try (TraceStore application = TraceArgument.open(args.argument(1), console)) {
				JoinOperation join = new JoinOperation(memory, application).setMarker(args.get("marker"))
						.setOffset(args.has("clock-offset") ? args.getInt("clock-offset") : null);
				print(join.call(console.progress()), memory, application, args, console);
			}
		}
		return ExitCode.OK;
	}

	private static void print(JoinOperation.Result r, TraceStore memory, TraceStore application, CommandLine args, Console console) {
		ClockFit clock = r.clock();
		if (args.isJson()) {
			JsonObject o = Json.of("memtrace.join/1");
			o.addProperty("trace", memory.info().alias());
			o.addProperty("application", application.info().alias());
			o.addProperty("offset_ns", clock.offsetNs());
			o.addProperty("offset_at_ns", clock.referenceNs());
			o.addProperty("drift", clock.drift());
			o.addProperty("drift_known", clock.drifts());
			o.addProperty("compared_by", r.by());
			o.addProperty("compared", clock.anchors());
			o.addProperty("residual_ns", clock.residualNs() < 0 ? null : clock.residualNs());
			o.addProperty("threads", r.threads());
			o.addProperty("threads_found", r.matched());
			o.addProperty("threads_by", r.byTaskId() ? "id" : "birth");
			JsonArray late = new JsonArray();
			r.lateNs().forEach(late::add);
			o.add("late_births_ns", late);
			o.addProperty("threads_alike", r.alike());
			o.addProperty("states", r.states());
			o.addProperty("states_shorter", r.shorter());
			o.addProperty("interval_ns", r.intervalNs());
			o.addProperty("states_without_thread", r.withoutThread());
			o.addProperty("states_without_duration", r.withoutDuration());
			o.addProperty("states_outside", r.outside());
			o.addProperty("states_too_many", r.tooMany());
			console.out().println(Json.text(o));
			return;
		}
		PrintStream out = console.out();
		line(out, "Clock", String.format(Locale.ROOT, "times of %s + %d ns%s", application.info().alias(), clock.offsetNs(), clock.drifts()
				? String.format(Locale.ROOT, ", drift %.3f ppm", clock.drift() * 1e6)
				: "; a drift was not looked for" + (args.has("clock-offset") ? "" : ", as what was compared is not spread over the run")));
		line(out, "Residual", clock.residualNs() < 0 ? "not known: nothing is in both traces"
				: String.format(Locale.ROOT, "%.3f ms, the largest of %d (%s)", clock.residualNs() / 1e6, clock.anchors(), r.by()));
		line(out, "Threads", String.format(Locale.ROOT, "%d of %d, found by %s", r.matched(), r.threads(),
				r.byTaskId() ? "their ids" : "the order of their births"));
		for (long ns : r.lateNs()) {
			line(out, "", String.format(Locale.ROOT, "%s has the birth of one of them %.3f ms %s than the others agree on; it is the one that was"
					+ " left, and is not compared", application.info().alias(), Math.abs(ns) / 1e6, ns > 0 ? "later" : "earlier"));
		}
		if (r.alike() > 0) {
			line(out, "", String.format(Locale.ROOT, "of %d pairs the births are so near that the threads could be interchanged", r.alike()));
		}
		line(out, "Regions", String.format(Locale.ROOT, "%,d states", r.states()));
		if (r.shorter() > 0) {
			line(out, "", String.format(Locale.ROOT, "%,d are shorter than the median interval of the recording, %s: sums of these are a sample",
					r.shorter(), Units.duration(memory.info(), r.intervalNs())));
		}
		left(out, r.withoutThread(), "of threads that the memory trace has not");
		left(out, r.withoutDuration(), "without duration");
		left(out, r.outside(), "before or after the memory trace");
		left(out, r.tooMany(), "the shortest ones, as there are too many");
		out.flush();
		console.hint("next: memtrace query --what groups --by region,structure " + args.argument(0));
	}

	private static void left(PrintStream out, long number, String why) {
		if (number > 0) {
			line(out, "Left out", String.format(Locale.ROOT, "%,d states %s", number, why));
		}
	}

	private static void line(PrintStream out, String label, String text) {
		out.println(String.format(Locale.ROOT, "%-10s %s", label, text));
	}
}
