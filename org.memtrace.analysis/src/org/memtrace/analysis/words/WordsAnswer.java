// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.words;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.statistics.AccessCount;
import org.memtrace.analysis.statistics.GroupCounts;
import org.memtrace.analysis.text.NaturalOrder;
import org.memtrace.analysis.text.Quantities;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.AccessQuery;

/**
 * The answer to {@link Words} about a trace, or about two.
 *
 * @param understood the question, in a sentence without a full stop
 * @param keys heads of the columns of keys
 * @param counts what is shown of each group, the count that orders the groups first
 * @param rows the groups, in the order in which they are shown
 * @param notes what a reader must know, each a sentence without a full stop
 */
public record WordsAnswer(String understood, List<String> keys, List<WordCount> counts, List<Row> rows, List<String> notes) {
	private static final List<WordCount> USUAL = List.of(WordCount.ACCESSES, WordCount.READS, WordCount.WRITES, WordCount.THREADS,
			WordCount.PAGES);

	/**
	 * A group.
	 *
	 * @param keys a text or a number for each key, null for not known; of time the start of the step since the start of the trace
	 * @param values a number for each count
	 * @param other the same in the other trace; null when there is none, with nulls where it has no such group
	 */
	public record Row(List<Object> keys, List<Object> values, List<Object> other) {
	}

	/** Groups of one trace. */
	private record Found(List<Row> rows, GroupCounts.Found from) {
	}

	/**
	 * Answers a question.
	 *
	 * @param table all accesses of the trace
	 * @param other those of the trace behind {@code vs}; null for none
	 */
	public static WordsAnswer of(Words words, AccessTable table, AccessTable other, Progress progress) throws MemtraceException {
		TraceInfo trace = table.info();
		String understood = WordsText.of(words, trace);
		List<WordCount> shown = shown(words);
		List<String> missing = new ArrayList<>();
		FilterSet filters = WordsMeaning.filters(words, table, missing, progress);
		FilterSet ofOther = FilterSet.NONE;
		if (other != null) {
			List<String> missingThere = new ArrayList<>();
			ofOther = WordsMeaning.filters(words, other, missingThere, progress);
			Set<String> names = missingThere.stream().map(WordsAnswer::withoutNear).collect(Collectors.toSet());
			missing.removeIf(m -> !names.contains(withoutNear(m))); // a name of one of both is enough
		}
		if (!missing.isEmpty()) {
			throw new WordsException(String.join("; ", missing));
		}
		Found found = found(words, filters, table, shown, progress);
		List<Row> rows = new ArrayList<>();
		if (other != null) {
			rows = joined(words, found.rows(), found(words, ofOther, other, shown, progress).rows(), shown, trace);
		} else {
			for (Row r : found.rows()) {
				if (passes(words, r.values(), shown, trace)) {
					rows.add(r);
				}
			}
			rows.sort(order(words, byCount(shown.getFirst())));
		}
		rows = top(words, rows);
		return new WordsAnswer(understood, keys(words, trace), shown.stream().filter(c -> isShown(words, c)).toList(),
				rows.stream().map(r -> only(words, r, shown)).toList(), notes(shown, words, found.from(), table, progress));
	}

	private static String withoutNear(String sentence) {
		return sentence.replaceFirst("; (near|there is|there are|the ).*|: the trace knows no.*", "");
	}

	/** Those that are shown and those that limits need. */
	private static List<WordCount> shown(Words words) {
		List<WordCount> all = new ArrayList<>(words.show());
		if (words.show().isEmpty()) {
			words.limits().stream().map(Words.Limit::count).filter(c -> !all.contains(c)).forEach(all::add);
			USUAL.stream().filter(c -> !all.contains(c)).forEach(all::add);
		}
		words.limits().stream().map(Words.Limit::count).filter(c -> !all.contains(c)).forEach(all::add);
		return all;
	}

	private static boolean isShown(Words words, WordCount count) {
		return words.show().isEmpty() || words.show().contains(count);
	}

	private static Row only(Words words, Row r, List<WordCount> shown) {
		return new Row(r.keys(), only(words, r.values(), shown), r.other() == null ? null : only(words, r.other(), shown));
	}

	private static List<Object> only(Words words, List<Object> values, List<WordCount> shown) {
		List<Object> only = new ArrayList<>();
		for (int i = 0; i < values.size(); i++) {
			if (isShown(words, shown.get(i))) {
				only.add(values.get(i));
			}
		}
		return only;
	}

	private static List<String> keys(Words words, TraceInfo trace) {
		List<String> keys = new ArrayList<>();
		if (words.every() != null) {
			keys.add(trace.timeUnit().column("from_ns"));
		}
		keys.addAll(words.by());
		return keys;
	}

	private static Found found(Words words, FilterSet filters, AccessTable table, List<WordCount> shown, Progress progress)
			throws MemtraceException {
		TraceInfo trace = table.info();
		List<Dimension> keys = new ArrayList<>();
		long windowNs = 0;
		if (words.every() != null) {
			try {
				windowNs = Quantities.duration(words.every(), trace.isInTicks());
			} catch (IllegalArgumentException e) {
				throw new WordsException("every: " + e.getMessage());
			}
			if (windowNs <= 0) {
				throw new WordsException("every: a step of time is longer than 0");
			}
			keys.add(Dimensions.find("time", Use.GROUP));
		}
		for (String field : words.by()) {
			keys.add(WordsParser.groupField(field));
		}
		Set<AccessCount> counts = EnumSet.of(AccessCount.RECORDS);
		shown.forEach(c -> counts.addAll(c.needs()));
		AccessQuery query = AccessQuery.ALL;
		for (TraceFilter f : filters.filters()) { // chunks outside of a window need not be read
			if (f.condition() instanceof Condition.Time t && !f.excludes()) {
				query = query.window(Math.max(query.fromNs(), trace.startNs() + t.minNs()),
						Math.min(query.toNs(), t.maxNs() == Long.MAX_VALUE ? t.maxNs() : trace.startNs() + t.maxNs()));
			}
		}
		GroupCounts.Found found = query.fromNs() >= query.toNs() ? new GroupCounts.Found(List.of(), 0, 0, 0)
				: GroupCounts.of(filters.apply(table, table.structures(), progress), query, keys, windowNs, counts, progress);
		List<Row> rows = new ArrayList<>();
		for (GroupCounts.Group g : found.groups()) {
			List<Object> labels = new ArrayList<>(g.keys());
			if (words.every() != null) {
				labels.set(0, (Long) labels.get(0) - trace.startNs());
			}
			List<Object> values = new ArrayList<>();
			shown.forEach(c -> values.add(c.value(g.counts(), trace)));
			rows.add(new Row(labels, values, null));
		}
		return new Found(rows, found);
	}

	private static boolean passes(Words words, List<Object> values, List<WordCount> shown, TraceInfo trace) throws WordsException {
		for (Words.Limit limit : words.limits()) {
			Object value = values == null ? null : values.get(shown.indexOf(limit.count()));
			boolean in = false;
			for (Words.Value v : limit.ranges()) {
				in |= value instanceof Number n && WordsText.range(limit.count(), v, trace).has(n.doubleValue());
			}
			if (in == limit.not()) {
				return false;
			}
		}
		return true;
	}

	/** Steps of time first, then what has most (of some counts least), then names. */
	private static Comparator<Row> order(Words words, Comparator<Row> byCount) {
		Comparator<Row> byKeys = (a, b) -> compare(a.keys(), b.keys());
		return words.every() == null ? byCount.thenComparing(byKeys)
				: Comparator.comparingLong((Row r) -> (Long) r.keys().getFirst()).thenComparing(byCount).thenComparing(byKeys);
	}

	private static Comparator<Row> byCount(WordCount first) {
		Comparator<Row> order = Comparator.comparingDouble(r -> number(r.values().getFirst()));
		return first.isAscending() ? order : order.reversed();
	}

	private static double number(Object value) {
		return value instanceof Number n ? n.doubleValue() : 0;
	}

	private static int compare(List<Object> a, List<Object> b) {
		for (int i = 0; i < a.size(); i++) {
			Object x = a.get(i);
			Object y = b.get(i);
			int c = x == null || y == null ? Boolean.compare(x != null, y != null)
					: x instanceof Long m && y instanceof Long n ? Long.compare(m, n) : NaturalOrder.INSTANCE.compare(x.toString(),
							y.toString());
			if (c != 0) {
				return c;
			}
		}
		return 0;
	}

	/** The first groups; with steps of time and keys, of each step. */
	private static List<Row> top(Words words, List<Row> rows) {
		if (words.top() == 0) {
			return rows;
		}
		if (words.every() == null || words.by().isEmpty()) {
			return rows.subList(0, Math.min(words.top(), rows.size()));
		}
		List<Row> top = new ArrayList<>();
		Object step = null;
		int of = 0;
		for (Row r : rows) {
			of = r.keys().getFirst().equals(step) ? of + 1 : 1;
			step = r.keys().getFirst();
			if (of <= words.top()) {
				top.add(r);
			}
		}
		return top;
	}

	/** Groups of both traces by their keys, the largest difference first. A limit is met by one of both. */
	private static List<Row> joined(Words words, List<Row> here, List<Row> there, List<WordCount> shown,
			TraceInfo trace) throws WordsException {
		Map<List<Object>, Row> both = new LinkedHashMap<>();
		List<Object> none = Arrays.asList(new Object[shown.size()]);
		here.forEach(r -> both.putIfAbsent(r.keys(), new Row(r.keys(), r.values(), none)));
		there.forEach(r -> both.merge(r.keys(), new Row(r.keys(), none, r.values()), (a, b) -> new Row(a.keys(), a.values(), b.other())));
		List<Row> rows = new ArrayList<>();
		for (Row r : both.values()) {
			if (passes(words, r.values(), shown, trace) || passes(words, r.other(), shown, trace)) {
				rows.add(r);
			}
		}
		rows.sort(order(words,
				Comparator.comparingDouble((Row r) -> Math.abs(number(r.values().getFirst()) - number(r.other().getFirst())))
				.reversed()));
		return rows;
	}

	private static List<String> notes(List<WordCount> shown, Words words, GroupCounts.Found found, AccessTable table, Progress progress)
			throws MemtraceException {
		List<String> notes = new ArrayList<>();
		boolean pages = words.terms().stream().anyMatch(t -> t instanceof Words.PageCount p
				&& p.count().needs().stream().anyMatch(AccessCount::isOfThreads));
		boolean threads = pages || shown.stream().anyMatch(c -> c.needs().stream().anyMatch(AccessCount::isOfThreads));
		if (threads && found.noThread() > 0) {
			notes.add(String.format(Locale.ROOT, "%,d of %,d records belong to no known thread: there may be more threads than these",
					found.noThread(),
					found.records()));
		}
		if (threads && found.notKnown() > 0) {
			notes.add(String.format(Locale.ROOT,
					"for %,d of %,d records it is not known whether other threads used the page, too: there may be more threads than"
					+ " these; -unknown leaves them out", found.notKnown(), found.records()));
		}
		if (words.terms().stream().anyMatch(t -> t instanceof Words.Adjectives a
				&& a.words().stream().anyMatch(Words.Adjective::isOfNodes))) {
			GroupCounts.Found all = GroupCounts.of(table, AccessQuery.ALL, List.of(Dimensions.find("numa_distance", Use.GROUP)), 0,
					EnumSet.of(AccessCount.RECORDS), progress);
			long notKnown = all.groups().stream().filter(g -> g.keys().getFirst() == null).mapToLong(g -> g.counts().get(AccessCount.RECORDS)).sum();
			if (notKnown > 0) {
				notes.add(String.format(Locale.ROOT, "for %,d of all %,d records it is not known whether they are local or remote",
						notKnown,
						all.records()));
			}
		}
		if (shown.stream().anyMatch(WordCount::isOfLines)) {
			notes.add("lines are those of which an address was seen: where the recorder keeps one address of a record, there may be more");
		}
		return notes;
	}
}
