// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Whether a program takes more time and more CPU time than before, and how sure that is: what a comparison says first. Times are those of
 * recorded runs, with the cost of recording.
 *
 * @param time time of the runs; null when it is not known on both sides
 * @param cpu CPU time of the runs; null when it is not known on both sides
 * @param before number of runs before
 * @param after number of runs after
 */
public record Verdict(Comparison time, Comparison cpu, int before, int after) {
	/** How a time changed. */
	public enum Change {
		LESS, SAME, MORE, UNKNOWN;

		/** For programs. */
		public String id() {
			return name().toLowerCase(Locale.ROOT);
		}
	}

	static Verdict of(List<Comparison> whole, int before, int after) {
		return new Verdict(find(whole, Metric.TIME), find(whole, Metric.CPU), before, after);
	}

	private static Comparison find(List<Comparison> whole, Metric m) {
		return whole.stream().filter(c -> c.metric() == m).findFirst().orElse(null);
	}

	/** How a time changed: what was tested, only if it is significant; what was not, if it is above what is never called a change. */
	public static Change change(Comparison c) {
		boolean changed = c != null && (c.isTested() ? c.isSignificant() : Math.abs(c.change()) > Comparison.LEAST);
		return c == null ? Change.UNKNOWN : !changed ? Change.SAME : c.change() > 0 ? Change.MORE : Change.LESS;
	}

	/** Whether the program needs more time, or more CPU time and not less time, in these runs: then no advice is said to have worked. */
	public boolean isSlower() {
		return change(time) == Change.MORE || change(cpu) == Change.MORE && change(time) != Change.LESS;
	}

	/** Whether the difference is told from noise by a test. */
	public boolean isTested() {
		return time != null && time.isTested();
	}

	/** What a slower program needs more: {@code time +83.0 %}. */
	String more() {
		Comparison c = change(time) == Change.MORE ? time : cpu;
		return c.metric().id().replace("cpu", "CPU time") + " " + DiffText.change(c);
	}

	/** In a few words, for a heading: {@code Time +83.0 %, CPU time +2.0 % (one run each)}. */
	public String brief() {
		List<String> parts = new ArrayList<>();
		for (Comparison c : new Comparison[] {time, cpu}) {
			if (c != null) {
				parts.add((c == time ? "time " : "CPU time ") + DiffText.change(c)
						+ (c.isTested() && !c.isSignificant() ? " (within the noise)" : ""));
			}
		}
		String text = parts.isEmpty() ? "times are not known" : String.join(", ", parts);
		String sure = isTested() ? "" : before == 1 && after == 1 ? " (one run each)" : " (too few runs to tell noise)";
		return Character.toUpperCase(text.charAt(0)) + text.substring(1) + sure;
	}

	/** One sentence for each time, and one about how sure they are. At least one. */
	public List<String> sentences() {
		List<String> all = new ArrayList<>();
		if (time != null) {
			all.add(sentence("Time", time, "slower", "faster"));
		}
		if (cpu != null) {
			all.add(sentence("CPU time", cpu, "more", "less"));
		}
		if (all.isEmpty()) {
			return List.of("Times are not known on both sides.");
		}
		String with = "These are times of recorded runs, with the cost of recording. ";
		all.add(with + (isTested() ? "A difference that is not significant is called noise."
				: before == 1 && after == 1 ? "One run each: cannot tell how much is noise (memtrace record --repeat 5)."
						: Math.min(before, after) == 1 ? "One run on a side: cannot tell how much is noise (memtrace record --repeat 5)."
								: "Fewer than four runs on a side: the intervals tell little of the noise (memtrace record --repeat 5)."));
		return all;
	}

	private static String sentence(String what, Comparison c, String more, String less) {
		String range = c.interval() == null ? "" : ", 95 % interval of the difference " + DiffText.difference(c.metric(), c.interval()[0])
				+ " to " + DiffText.difference(c.metric(), c.interval()[1]);
		String p = c.isTested() ? String.format(Locale.ROOT, ", p %.3f", c.p()) : "";
		// of too few runs nobody knows: two runs of one program differ by a third on a busy machine
		String word = switch (change(c)) {
		case MORE -> c.isTested() ? more : "not known whether that is noise";
		case LESS -> c.isTested() ? less : "not known whether that is noise";
		default -> c.isTested() ? "no difference beyond noise" : "about the same";
		};
		return what + ": " + DiffText.value(c.metric(), c.before()) + " to " + DiffText.value(c.metric(), c.after()) + ", " + DiffText.change(c)
				+ range + p + ": " + word + ".";
	}
}
