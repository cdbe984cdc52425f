// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.commands;

import java.math.BigInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.analysis.text.Units;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.args.Values;
import org.memtrace.model.TraceInfo;

/**
 * The window of time that --from and --to select: counted from the start of the trace, or, behind an @, in the clock of the trace.
 *
 * @param fromNs in the clock of the trace
 * @param toNs in the clock of the trace, after {@code fromNs}; at most the end of the trace
 */
record TraceWindow(long fromNs, long toNs) {
	private static final Pattern CLOCK = Pattern.compile("@(-?\\d{1,18})");
	private static final Pattern TICKS = Pattern.compile("(\\d{1,18})ticks?");

	static boolean isGiven(CommandLine args) {
		return args.has("from") || args.has("to");
	}

	static TraceWindow of(CommandLine args, TraceInfo trace) throws UsageException {
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
	static long length(CommandLine args, TraceInfo trace) throws UsageException {
		String text = args.get("window");
		Matcher ticks = TICKS.matcher(text);
		Long length = trace.isInTicks() ? ticks.matches() ? Long.valueOf(ticks.group(1)) : null : Values.parseDurationNs(text);
		if (length == null || length <= 0) {
			throw new UsageException("--window is '" + text + "'; it needs a length above 0, such as "
					+ (trace.isInTicks() ? "500ticks (this trace has a logical clock)" : "250ms or 1.5s"));
		}
		return length;
	}

	/** A time beyond what the clock can show is the end of it. */
	private static long time(CommandLine args, String option, TraceInfo trace) throws UsageException {
		String text = args.get(option);
		Matcher clock = CLOCK.matcher(text);
		if (clock.matches()) {
			return Long.parseLong(clock.group(1));
		}
		Matcher ticks = TICKS.matcher(text);
		Long sinceStart = ticks.matches() && trace.isInTicks() ? Long.valueOf(ticks.group(1))
				: trace.isInTicks() && !text.equals("0") ? null : Values.parseDurationNs(text);
		if (sinceStart == null) {
			throw new UsageException("--" + option + " is '" + text + "'; it needs a time from the start of the trace, such as "
					+ (trace.isInTicks() ? "500ticks (this trace has a logical clock)" : "0, 250ms or 1.5s")
					+ ", or one of its clock, such as @" + trace.startNs());
		}
		return BigInteger.valueOf(trace.startNs()).add(BigInteger.valueOf(sinceStart)).min(BigInteger.valueOf(Long.MAX_VALUE)).longValueExact();
	}
}
