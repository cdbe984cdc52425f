// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.filter;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.LongStream;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.tree.ProducerTree;

/**
 * What filters name and a trace does not have: such a filter hides everything, or nothing, and nobody would know that a name is wrong. A
 * name counts as there when the trace knows it, also when nothing was done with it.
 */
public final class FilterNames {
	private static final String REGION_PATH = "region_path";
	private static final int MOST_NEAR = 5;
	/** Names that are compared; a trace with more of them says only that there is no such name. */
	private static final int MOST_COMPARED = 100_000;
	private static final int CHECK_EVERY = 1 << 14;

	private FilterNames() {
	}

	/** A sentence, without a full stop, for each name or number that filters which are switched on want and a trace of accesses lacks. */
	public static List<String> missing(FilterSet filters, AccessTable table, Progress progress) throws MemtraceException {
		Set<String> missing = new LinkedHashSet<>();
		for (Condition c : conditions(filters)) {
			if (c instanceof Condition.Value v) {
				Dimension dimension = Dimensions.find(v.dimension(), Use.FILTER);
				if (dimension != null && !v.isRange()) {
					values(v, dimension, dimension.values(table, progress), missing, progress);
				}
			} else {
				memory(c, table.producers(), missing, progress);
			}
		}
		return List.copyOf(missing);
	}

	/** The same of a trace of events. */
	public static List<String> missing(FilterSet filters, EventTable table, Progress progress) throws MemtraceException {
		Set<String> missing = new LinkedHashSet<>();
		for (Condition c : conditions(filters)) {
			if (c instanceof Condition.Value v) {
				Dimension dimension = Dimensions.find(v.dimension(), Use.FILTER);
				List<String> names = table.typeNames();
				// the names of other properties are their numbers
				if (dimension != null && dimension.ofEvents() != null && !names.isEmpty()
						&& dimension.ofEvents().name(0, names).equals(names.getFirst())) {
					names(v.values(), dimension.label(), names, missing);
				}
			} else {
				memory(c, table.producers(), missing, progress);
			}
		}
		return List.copyOf(missing);
	}

	/** Of all filters that are switched on, also of those of which one is enough. */
	private static List<Condition> conditions(FilterSet filters) {
		List<Condition> all = new ArrayList<>();
		for (TraceFilter f : filters.filters()) {
			if (f.enabled() && f.condition() instanceof Condition.Any any) {
				any.enabled().forEach(alternative -> all.add(alternative.condition()));
			} else if (f.enabled()) {
				all.add(f.condition());
			}
		}
		return all;
	}

	private static void values(Condition.Value v, Dimension dimension, DimensionValues values, Set<String> missing, Progress progress)
			throws MemtraceException {
		long size = values.size();
		if (size < 0) {
			return; // all numbers are possible
		}
		Set<String> known = known(values, progress);
		Set<Long> numbers = new LinkedHashSet<>();
		for (long i = 0; i < size; i++) {
			numbers.add(values.kind() == DimensionValues.Kind.SHARES ? i : values.number(i));
		}
		if (dimension.id().equals(REGION_PATH)) { // a part of a path is one, too
			v.values().stream().filter(w -> LongStream.range(0, size).anyMatch(i -> values.isNamed(i, Set.of(w)))).forEach(known::add);
		}
		names(v.values(), dimension.label(), known, missing);
		for (long number : v.numbers()) {
			if (number != DimensionValues.UNKNOWN && !numbers.contains(number)) {
				missing.add("there is no " + dimension.label().toLowerCase(Locale.ROOT) + " " + number);
			}
		}
	}

	/** Names of all values, in their order; none of a dimension of which all numbers are possible. */
	public static Set<String> known(DimensionValues values, Progress progress) throws MemtraceException {
		Set<String> known = new LinkedHashSet<>();
		for (long i = 0; i < values.size(); i++) {
			if (i % CHECK_EVERY == 0) {
				progress.check();
			}
			known.add(values.name(i));
			if (values.kind() == DimensionValues.Kind.SINGLE) {
				known.add(String.valueOf(values.cell(i)));
			}
		}
		if (values.kind() == DimensionValues.Kind.SHARES) {
			for (int set = 0; set < values.sets(); set++) {
				known.add(values.text(set, true, true));
			}
		}
		return known;
	}

	private static void names(Collection<String> wanted, String label, Collection<String> known, Set<String> missing) {
		for (String name : wanted) {
			if (!name.isEmpty() && !known.contains(name)) {
				missing.add("there is no " + label.toLowerCase(Locale.ROOT) + " '" + name + "'" + near(name, known));
			}
		}
	}

	/** Conditions on the names of memory, or of what else made events. */
	private static void memory(Condition c, ProducerTree tree, Set<String> missing, Progress progress) throws MemtraceException {
		if (c instanceof Condition.Name n) {
			Pattern pattern = Pattern.compile(n.regex());
			for (int id = 0; id < tree.size(); id++) {
				if (id % CHECK_EVERY == 0) {
					progress.check();
				}
				if (pattern.matcher(tree.name(id)).find()) {
					return;
				}
			}
			missing.add("no name has '" + n.regex() + "' in it" + near(n.regex(), namesOf(tree)));
		} else if (c instanceof Condition.Subtree s) {
			Set<String> known = null;
			for (Condition.Part part : s.parts()) {
				if (part.producer() >= 0 && part.producer() < tree.size() && tree.name(part.producer()).equals(part.name())) {
					continue;
				}
				known = known == null ? namesOf(tree) : known;
				names(List.of(part.name()), "part of memory", known, missing);
			}
		}
	}

	private static Set<String> namesOf(ProducerTree tree) {
		Set<String> names = new LinkedHashSet<>();
		for (int id = 0; id < tree.size(); id++) {
			names.add(tree.name(id));
		}
		return names;
	}

	/**
	 * Names that a person may have meant, as the end of a sentence: those that have the wanted one in them or are in it, and those that few
	 * letters tell apart; all of them when there are few; empty when there is none.
	 */
	public static String near(String wanted, Collection<String> known) {
		if (known.size() > MOST_COMPARED) {
			return "";
		}
		record Near(String name, int distance) {
		}
		String low = wanted.toLowerCase(Locale.ROOT);
		List<Near> found = new ArrayList<>();
		for (String name : known) {
			String other = name.toLowerCase(Locale.ROOT);
			boolean within = !other.isEmpty() && !low.isEmpty()
					&& (other.contains(low) || low.contains(other) && 2 * other.length() >= low.length());
			int distance = within ? Math.abs(other.length() - low.length()) : distance(low, other);
			if (within || distance <= most(low)) {
				found.add(new Near(name, distance));
			}
		}
		List<String> names = found.stream().sorted(Comparator.comparingInt(Near::distance)).map(Near::name).filter(n -> !n.isBlank())
				.limit(MOST_NEAR).toList();
		if (names.isEmpty()) {
			List<String> all = known.stream().filter(n -> !n.isBlank()).toList();
			return all.isEmpty() || all.size() > MOST_NEAR ? "" : "; there is " + String.join(", ", all);
		}
		return "; near: " + String.join(", ", names);
	}

	/** Letters that may be wrong. */
	private static int most(String wanted) {
		return (wanted.length() + 2) / 3;
	}

	/** Letters to change, add or leave out (Levenshtein); a large number for texts of very different lengths. */
	private static int distance(String a, String b) {
		if (Math.abs(a.length() - b.length()) > most(a)) {
			return Integer.MAX_VALUE;
		}
		int[] row = new int[b.length() + 1];
		for (int j = 0; j < row.length; j++) {
			row[j] = j;
		}
		for (int i = 1; i <= a.length(); i++) {
			int diagonal = row[0];
			row[0] = i;
			for (int j = 1; j < row.length; j++) {
				int above = row[j];
				row[j] = Math.min(Math.min(above, row[j - 1]) + 1, diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1));
				diagonal = above;
			}
		}
		return row[b.length()];
	}
}
