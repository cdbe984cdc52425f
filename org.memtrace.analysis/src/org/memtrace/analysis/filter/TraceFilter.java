// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.filter;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CountUnit;
import org.memtrace.model.ThreadInfo;

/**
 * A filter: keeps the accesses that have a property, or those that do not have it.
 *
 * @param condition the property
 * @param excludes whether what has it is hidden
 * @param enabled false for a filter that is there but does nothing
 */
public record TraceFilter(Condition condition, boolean excludes, boolean enabled) {
	private static final int MOST_NAMES = 3;
	private static final String ANY_CASE = "(?i)";

	/** Keeps what has a property. */
	public static TraceFilter only(Condition condition) {
		return new TraceFilter(condition, false, true);
	}

	/** Hides what has a property. */
	public static TraceFilter hide(Condition condition) {
		return new TraceFilter(condition, true, true);
	}

	/** Keeps what one or the other lets pass; what is either already gets more of it. */
	public static TraceFilter any(TraceFilter one, TraceFilter other) {
		List<TraceFilter> all = new ArrayList<>(one.alternatives());
		other.alternatives().stream().filter(f -> !all.contains(f)).forEach(all::add);
		return all.size() == 1 ? all.get(0) : new TraceFilter(new Condition.Any(all), false, one.enabled);
	}

	/** The filters of which one is enough; only itself when it is no choice, or hides what passes one of them. */
	public List<TraceFilter> alternatives() {
		return condition instanceof Condition.Any a && !excludes ? a.of() : List.of(this);
	}

	public TraceFilter withEnabled(boolean now) {
		return new TraceFilter(condition, excludes, now);
	}

	/** What a person reads, short, about a trace whose times are nanoseconds and whose counts are of accesses. */
	public String text(List<ThreadInfo> threads) {
		return text(threads, false, CountUnit.ACCESSES);
	}

	/**
	 * What a person reads, short.
	 *
	 * @param ticks whether times are ticks of a logical clock
	 * @param unit what the counts of the trace are of
	 */
	public String text(List<ThreadInfo> threads, boolean ticks, CountUnit unit) {
		boolean several = condition instanceof Condition.Any a && a.of().size() > 1;
		return (!excludes || condition instanceof Condition.Name ? "" : several ? "neither " : "not ") + switch (condition) {
		case Condition.Name n -> name(n.regex());
		case Condition.Subtree s -> some(s.parts().stream().map(Condition.Part::name).toList());
		case Condition.Kind k -> some(k.kinds().stream().map(t -> t.equals("range") ? "outside structures" : t).toList());
		case Condition.Level l -> "level " + range(l.min(), l.max() == Integer.MAX_VALUE ? Double.POSITIVE_INFINITY : l.max(), "");
		case Condition.Count c -> range(c.min(), c.max(), "") + " " + unit.plural() + " per " + per(c.per());
		case Condition.Share s -> range(s.minPercent(), s.maxPercent(), " %") + " of " + unit.plural() + " per " + per(s.per());
		case Condition.Lifetime l -> "lived " + between(l.minNs() == 0 ? "" : Units.duration(l.minNs(), ticks),
				l.maxNs() == Long.MAX_VALUE ? "" : Units.duration(l.maxNs(), ticks));
		case Condition.Time t -> "time " + (t.maxNs() == Long.MAX_VALUE ? "from " + Units.duration(t.minNs(), ticks)
				: Units.duration(Math.max(0, t.minNs()), ticks) + " to " + Units.duration(t.maxNs(), ticks));
		case Condition.Size s -> "size " + between(s.minBytes() == 0 ? "" : Units.bytes(s.minBytes()),
				s.maxBytes() == Long.MAX_VALUE ? "" : Units.bytes(s.maxBytes()));
		case Condition.Value v -> value(v, threads);
		case Condition.Any a -> a.of().stream().map(f -> f.text(threads, ticks, unit) + (f.enabled() ? "" : " (off)"))
				.collect(Collectors.joining(excludes ? " nor " : " or "));
		};
	}

	/** What an expression looks for, in words where it only has a text and the beginning or end of a name. */
	private String name(String regex) {
		boolean anyCase = regex.startsWith(ANY_CASE);
		String body = anyCase ? regex.substring(ANY_CASE.length()) : regex;
		boolean begin = body.startsWith("^");
		boolean end = body.endsWith("$");
		String text = body.substring(begin ? 1 : 0, Math.max(begin ? 1 : 0, body.length() - (end ? 1 : 0)));
		if (text.isEmpty() || text.chars().anyMatch(c -> "\\[](){}.*+?^$|".indexOf(c) >= 0)) {
			return "name " + (excludes ? "does not match " : "matches ") + regex;
		}
		String verb = begin && end ? excludes ? "is not" : "is" : begin ? excludes ? "does not begin with" : "begins with"
				: end ? excludes ? "does not end with" : "ends with" : excludes ? "does not contain" : "contains";
		return "name " + verb + (anyCase ? "" : " exactly") + " \"" + text + "\"";
	}

	private static String per(Condition.Per per) {
		return per.name().toLowerCase(Locale.ROOT);
	}

	/** The label of the dimension and the values, or only the values when they need no label. */
	private static String value(Condition.Value v, List<ThreadInfo> threads) {
		Dimension dimension = Dimensions.find(v.dimension(), Use.FILTER);
		String label = (dimension == null ? v.dimension().replace('_', ' ') : dimension.label()) + " ";
		if (v.isRange()) {
			return label + between(v.min() == Long.MIN_VALUE ? "" : Long.toString(v.min()), v.max() == Long.MAX_VALUE ? "" : Long.toString(v.max()));
		}
		List<String> names = new ArrayList<>();
		for (long number : v.numbers()) {
			String told = dimension == null ? null : dimension.told(number, threads);
			label = told == null ? label : "";
			names.add(told != null ? told : number < 0 ? "unknown" : Long.toString(number));
		}
		for (String name : v.values()) {
			String told = dimension == null || name.isEmpty() ? null : dimension.told(name);
			label = told == null ? label : "";
			names.add(told != null ? told : name.isEmpty() ? "unknown" : name);
		}
		return label + some(names);
	}

	private static String some(List<String> names) {
		return names.stream().limit(MOST_NAMES).collect(Collectors.joining(", ")) + more(names.size());
	}

	private static String more(int count) {
		return count > MOST_NAMES ? ", and " + (count - MOST_NAMES) + " more" : "";
	}

	private static String range(double min, double max, String unit) {
		return between(min <= 0 ? "" : number(min) + unit, Double.isInfinite(max) ? "" : number(max) + unit);
	}

	private static String number(double v) {
		return v == Math.rint(v) && Math.abs(v) < 1e15 ? String.format(Locale.ROOT, "%,.0f", v)
				: Double.toString(v);
	}

	private static String between(String min, String max) {
		return min.isEmpty() ? max.isEmpty() ? "any" : "≤ " + max : max.isEmpty() ? "≥ " + min
				: min.equals(max) ? min : min + " to " + max;
	}
}
