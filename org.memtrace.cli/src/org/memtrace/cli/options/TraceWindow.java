// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.options;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.analysis.text.Quantities;
import org.memtrace.analysis.text.Units;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.args.Values;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Regions;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.TraceStore;

/**
 * The window of time that --from and --to select: counted from the start of the trace, or, behind an @, in the clock of the trace.
 *
 * @param fromNs in the clock of the trace
 * @param toNs in the clock of the trace, after {@code fromNs}; at most the end of the trace
 */
public record TraceWindow(long fromNs, long toNs) {
	/** One of the times of a region: {@code solve#2}. */
	private static final Pattern TIMES = Pattern.compile("(.*)#(\\d{1,9})");
	private static final Pattern TICKS = Pattern.compile("(\\d{1,18})ticks?");

	static boolean isGiven(CommandLine args) {
		return args.has("from") || args.has("to") || args.has("region");
	}

	/** The window of a trace that may be that of a region of the program, too. */
	public static TraceWindow of(CommandLine args, TraceStore store) throws MemtraceException, UsageException {
		if (!args.has("region")) {
			return of(args, store.info());
		}
		if (args.has("from") || args.has("to")) {
			throw new UsageException("--region is a window of its own: it excludes --from and --to");
		}
		byte[] note = store.readNote(Regions.NOTE).orElse(null);
		Regions regions = note == null ? Regions.NONE : Regions.parse(note);
		String text = args.get("region");
		Matcher m = TIMES.matcher(text);
		boolean one = !regions.names().contains(text) && m.matches();
		List<Regions.Region> times = regions.times(one ? m.group(1) : text);
		int number = one ? Integer.parseInt(m.group(2)) : 0;
		if (times.isEmpty() || number > times.size() || one && number == 0) {
			throw new UsageException("--region is '" + text + "'; " + (regions.isEmpty() ? "the program named no regions"
					: times.isEmpty() ? "the regions of the trace are " + String.join(", ", regions.names())
							: m.group(1) + " occurs " + Units.plural(times.size(), "time")));
		}
		long from = Math.max(store.info().startNs(), times.get(one ? number - 1 : 0).fromNs());
		long to = Math.min(store.info().endNs(), times.get(one ? number - 1 : times.size() - 1).toNs());
		if (from >= to) {
			throw new UsageException("--region: " + text + " has no time within the trace");
		}
		return new TraceWindow(from, to);
	}

	public static TraceWindow of(CommandLine args, TraceInfo trace) throws UsageException {
		long from = args.has("from") ? time(args, "from", trace) : trace.startNs();
		long to = args.has("to") ? time(args, "to", trace) : trace.endNs();
		if (from >= trace.endNs() || to <= trace.startNs()) {
			String option = from >= trace.endNs() ? "from" : "to";
			throw new UsageException("the window is outside of the trace, which lasts " + Units.duration(trace, trace.durationNs())
					+ " (from @" + trace.startNs() + " to @" + trace.endNs() + "): --" + option + " is " + args.get(option));
		}
		if (from >= to) {
			throw new UsageException("the window is empty: --from is " + args.get("from") + ", --to is " + args.get("to")
					+ "; the trace lasts " + Units.duration(trace, trace.durationNs()));
		}
		return new TraceWindow(Math.max(from, trace.startNs()), Math.min(to, trace.endNs()));
	}

	/** The length that --window asks for, above 0: a time, or ticks where the trace counts them. */
	public static long length(CommandLine args, TraceInfo trace) throws UsageException {
		String text = args.get("window");
		Matcher ticks = TICKS.matcher(text);
		Long length = trace.isInTicks() ? ticks.matches() ? Long.valueOf(ticks.group(1)) : null : Values.parseDurationNs(text);
		if (length == null || length <= 0) {
			throw new UsageException("--window is '" + text + "'; it needs a length above 0, such as "
					+ (trace.isInTicks() ? "500ticks (this trace has a logical clock)" : "250ms or 1.5s"));
		}
		return length;
	}

	/** An instant that an option names. */
	public static long time(CommandLine args, String option, TraceInfo trace) throws UsageException {
		try {
			return Quantities.time(args.get(option), trace);
		} catch (IllegalArgumentException e) {
			throw new UsageException("--" + option + " is '" + args.get(option) + "'; " + e.getMessage());
		}
	}
}
