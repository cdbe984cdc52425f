// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.text;

import java.util.Locale;

import org.memtrace.model.TraceInfo;

/** Numbers for people: always a point as decimal mark, always with a unit. */
public final class Units {
	private static final String[] BYTES = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

	private Units() {
	}

	/** Such as {@code 8.0 MiB}. */
	public static String bytes(long bytes) {
		double v = bytes;
		int unit = 0;
		while (v >= 1024 && unit < BYTES.length - 1) {
			v /= 1024;
			unit++;
		}
		if (unit == 0) {
			return bytes + " B";
		}
		return (v >= 100 ? String.format(Locale.ROOT, "%.0f", v) : String.format(Locale.ROOT, "%.1f", v)) + " " + BYTES[unit];
	}

	/** Such as {@code 12.3 ms}, three digits. */
	public static String duration(double ns) {
		double a = Math.abs(ns);
		if (a < 1e3) {
			return digits(ns) + " ns";
		}
		if (a < 1e6) {
			return digits(ns / 1e3) + " µs";
		}
		if (a < 1e9) {
			return digits(ns / 1e6) + " ms";
		}
		return digits(ns / 1e9) + " s";
	}

	/** A length of time of a trace, such as {@code 12.3 ms}, or {@code 1,234 ticks} when its clock is a logical one. */
	public static String duration(TraceInfo trace, double time) {
		return duration(time, trace.isInTicks());
	}

	/** @param ticks whether times are ticks of a logical clock, see {@link TraceInfo#isInTicks} */
	public static String duration(double time, boolean ticks) {
		return ticks ? number(time) + (time == 1 ? " tick" : " ticks") : duration(time);
	}

	/**
	 * A number of things, such as {@code 1,234} or {@code 12.3 million}. Nobody counts half a thing: where the share of a record that is
	 * in a window makes one, {@code ≈ 39} stands for 38.5, and {@code < 1} for what rounds to none.
	 */
	public static String count(double n) {
		double a = Math.abs(n);
		if (a < 100 && n != Math.rint(n)) {
			return a < 0.5 ? "< 1" : String.format(Locale.ROOT, "≈ %d", Math.round(n));
		}
		return number(n);
	}

	/** A number that need not be whole, as a mean or a rate: {@code 38.5}, {@code 1,234} or {@code 12.3 million}. */
	public static String number(double n) {
		double a = Math.abs(n);
		if (a >= 1e9) {
			return digits(n / 1e9) + " billion";
		}
		if (a >= 1e6) {
			return digits(n / 1e6) + " million";
		}
		if (a >= 100 || n == Math.rint(n)) {
			return String.format(Locale.ROOT, "%,d", Math.round(n));
		}
		return digits(n);
	}

	/** Such as {@code 3.4 %}; what is not 0 is never shown as 0 %, what is not all never as 100 %. */
	public static String percent(double percent) {
		if (percent == 0 || percent == 100) {
			return (int) percent + " %";
		}
		if (percent < 0.1) {
			return "< 0.1 %";
		}
		if (percent > 99.9) {
			return "> 99.9 %";
		}
		return String.format(Locale.ROOT, "%.1f %%", percent);
	}

	/** Such as {@code 0.1230}. */
	public static String p(double p) {
		String s = String.format(Locale.ROOT, "%.4f", p);
		return s.replaceFirst("(\\.\\d*?)0+$", "$1").replaceFirst("\\.$", "");
	}

	/** Three significant digits, without exponent. */
	public static String digits(double v) {
		double a = Math.abs(v);
		if (a == 0) {
			return "0";
		}
		int decimals = a >= 100 ? 0 : a >= 10 ? 1 : a >= 1 ? 2 : Math.min(9, 2 - (int) Math.floor(Math.log10(a)));
		String s = String.format(Locale.ROOT, "%." + decimals + "f", v);
		return decimals > 0 ? s.replaceFirst("\\.?0+$", "") : s;
	}

	/** A count as a person reads it and what it is of, given in the plural: {@code 1 page fault}, {@code 2 page faults}. */
	public static String counted(String count, String plural) {
		boolean one = (count.equals("1") || count.equals("≈ 1")) && plural.endsWith("s");
		return count + " " + (one ? plural.substring(0, plural.length() - (plural.endsWith("sses") ? 2 : 1)) : plural);
	}

	/** Plural: {@code 1 page}, {@code 2 pages}. */
	public static String plural(long n, String noun) {
		String word = n == 1 ? noun : noun.endsWith("s") ? noun + "es" : noun + "s";
		return String.format(Locale.ROOT, "%,d %s", n, word);
	}

	/** 1, 2 or 5 times a power of ten, so that at most {@code most} steps cover {@code range}. */
	public static double roundStep(double range, double most) {
		double raw = range / most;
		double power = Math.pow(10, Math.floor(Math.log10(raw)));
		for (int factor : new int[] {1, 2, 5}) {
			if (factor * power >= raw * (1 - 1e-9)) {
				return factor * power;
			}
		}
		return 10 * power;
	}
}
