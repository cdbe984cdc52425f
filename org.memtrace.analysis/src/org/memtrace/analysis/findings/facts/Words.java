// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.Locale;

import org.memtrace.analysis.text.Units;

/** Numbers in the sentences of findings. */
public final class Words {
	private Words() {
	}

	/** A share of one as a percentage. */
	public static String percent(double share) {
		return Units.percent(100 * Math.min(1, Math.max(0, share)));
	}

	/** A number with its noun. */
	public static String count(long n, String noun) {
		return Units.plural(n, noun);
	}

	/** A ratio with two digits. */
	public static String ratio(double value) {
		return String.format(Locale.ROOT, "%.2f", value);
	}

	/** A size. */
	public static String bytes(long bytes) {
		return Units.bytes(bytes);
	}

	/** A length of time. */
	public static String duration(TraceFacts trace, long ns) {
		return Units.duration(trace.info(), ns);
	}

	/** A time since the start of the trace. */
	public static String time(TraceFacts trace, long ns) {
		return Units.duration(trace.info(), Math.max(0, ns - trace.info().startNs()));
	}
}
