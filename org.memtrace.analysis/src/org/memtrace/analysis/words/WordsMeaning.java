// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.words;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterNames;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.words.Words.Adjective;
import org.memtrace.analysis.words.Words.Value;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.tree.ProducerTree;

/**
 * What the terms of {@link Words} mean in a trace: filters. Names are looked up; one that the trace does not have is an error that
 * tells near ones.
 */
public final class WordsMeaning {
	private static final String UNKNOWN = "unknown";
	private static final long LOCAL = 10;
	/** Words of which an access has one, so that two of them without a comma are a mistake. */
	private static final List<List<Adjective>> EITHER = List.of(List.of(Adjective.READ, Adjective.WRITTEN),
			List.of(Adjective.PRIVATE, Adjective.SHARED, Adjective.UNKNOWN), List.of(Adjective.LOCAL, Adjective.REMOTE));

	private final AccessTable table;
	private final Progress progress;
	private final List<TraceFilter> filters = new ArrayList<>();
	private final List<String> missing = new ArrayList<>();

	private WordsMeaning(AccessTable table, Progress progress) {
		this.table = table;
		this.progress = progress;
	}

	/** Filters that mean the same as words, for all accesses of a trace; words about groups are an error. */
	public static FilterSet filters(String text, AccessTable table, Progress progress) throws MemtraceException {
		Words words = WordsParser.parse(text);
		if (!words.isFilter()) {
			throw new WordsException("a filter has no by, every, show, top and vs, and no count of groups such as writers>2: 'memtrace ask' has them;"
					+ " page.writers>2 is about pages");
		}
		List<String> missing = new ArrayList<>();
		FilterSet filters = filters(words, table, missing, progress);
		if (!missing.isEmpty()) {
			throw new WordsException(String.join("; ", missing));
		}
		return filters;
	}

	/** @param missing gets a sentence for each name that the trace does not have */
	static FilterSet filters(Words words, AccessTable table, List<String> missing, Progress progress) throws MemtraceException {
		WordsMeaning meaning = new WordsMeaning(table, progress);
		meaning.contradictions(words.terms());
		for (Words.Term term : words.terms()) {
			meaning.term(term);
		}
		missing.addAll(meaning.missing);
		return new FilterSet(meaning.filters);
	}

	private void contradictions(List<Words.Term> terms) throws WordsException {
		for (List<Adjective> group : EITHER) {
			Set<Adjective> found = new TreeSet<>();
			for (Words.Term t : terms) {
				if (t instanceof Words.Adjectives a && !a.not() && a.words().size() == 1 && group.contains(a.words().getFirst())) {
					found.add(a.words().getFirst());
				}
			}
			if (found.size() > 1) {
				List<String> words = found.stream().map(Adjective::word).toList();
				throw new WordsException("no access is " + String.join(" and ", words) + " at once; 'or' is a comma: " + String.join(",",
						words)
						+ (found.contains(Adjective.WRITTEN) ? "; pages that were read and written are page.reads>0 page.writes>0" : ""));
			}
		}
	}

	private void term(Words.Term term) throws MemtraceException {
		List<Condition> either = new ArrayList<>();
		switch (term) {
		case Words.Adjectives a -> adjectives(a.words(), either);
		case Words.PageCount p -> {
			for (Value v : p.ranges()) {
				WordRange r = WordRange.numbers("page." + p.count().word(), v);
				either.add(Condition.Value.range("page_" + p.count().word(), r.min(), r.max()));
			}
		}
		case Words.Field f -> field(f, either);
		case Words.Bare b -> throw bare(b);
		}
		filters.add(either.size() == 1 ? new TraceFilter(either.getFirst(), term.not(), true)
				: new TraceFilter(new Condition.Any(either.stream().map(TraceFilter::only).toList()), term.not(), true));
	}

	private void adjectives(List<Adjective> words, List<Condition> either) throws MemtraceException {
		Set<String> types = new TreeSet<>();
		for (Adjective word : words) {
			switch (word) {
			case READ, WRITTEN, PRIVATE, SHARED, UNKNOWN -> {
				for (int i = 0; i < AccessFilter.TYPES.length; i++) {
					boolean of = switch (word) {
					case READ -> i % 2 == 0;
					case WRITTEN -> i % 2 == 1;
					case PRIVATE -> i / 2 == 0;
					case SHARED -> i / 2 == 1;
					default -> i / 2 == 2;
					};
					if (of) {
						types.add(AccessFilter.TYPES[i]);
					}
				}
			}
			case LOCAL -> either.add(distance(word, 0, LOCAL));
			case REMOTE -> either.add(distance(word, LOCAL + 1, Long.MAX_VALUE));
			case FIRST -> either.add(Condition.Value.range("first_touch", 1, 1));
			}
		}
		if (!types.isEmpty()) {
			either.add(Condition.Value.of("type", types));
		}
	}

	private Condition distance(Adjective word, long min, long max) throws MemtraceException {
		Dimension distances = Dimensions.find("numa_distance", Use.FILTER);
		if (distances.values(table, progress).size() == 0 || Dimensions.find("node", Use.FILTER).values(table, progress).size() == 0) {
			throw new WordsException("it is not known what is " + word.word() + ": the trace has no NUMA nodes of its pages and CPUs");
		}
		return Condition.Value.range(distances.id(), min, max);
	}

	private WordsException bare(Words.Bare b) throws MemtraceException {
		if (b.before() != null && exists(b.before().substring(0, b.before().indexOf(':')), b.before().replaceFirst("^[^:]*:",
				"").replace("\"", ""))) {
			return new WordsException("a name with blanks stands in quotation marks: " + b.before());
		}
		List<String> fields = fieldsOf(b.text());
		if (!fields.isEmpty()) {
			return new WordsException("'" + b.text() + "' is no word, but a " + fields.getFirst().replace('_', ' ')
					+ " has this name: write "
					+ fields.getFirst() + ":" + quoted(b.text()));
		}
		List<String> known = new ArrayList<>(Words.adjectives());
		known.addAll(Words.CLAUSES);
		known.addAll(Words.FIELDS);
		known.addAll(WordCount.words());
		String near = FilterNames.near(b.text(), known);
		return new WordsException("there is no word '" + b.text() + "'" + (near.startsWith("; near") ? near : "") + "; words are "
				+ String.join(", ", Words.adjectives()) + "; names stand behind a field, such as structure:NAME");
	}

	static String quoted(String name) {
		return name.matches("[\\w.#/@+-]+") ? name : '"' + name + '"';
	}

	private boolean exists(String field, String name) throws MemtraceException {
		Dimension d = Dimensions.find(field, Use.FILTER);
		return d != null && !d.looksAtAll() && FilterNames.known(d.values(table, progress), progress).contains(name);
	}

	/** Fields of which a name of the trace is a value. */
	private List<String> fieldsOf(String name) throws MemtraceException {
		List<String> fields = new ArrayList<>();
		for (String field : List.of("structure", "region", "function", "thread", "type_name", "kind", "source", "site", "level")) {
			if (field.equals("kind") ? Condition.Kind.KINDS.contains(name) : exists(field, name)) {
				fields.add(field);
			}
		}
		return fields;
	}

	private void field(Words.Field f, List<Condition> either) throws MemtraceException {
		switch (f.field()) {
		case "time" -> {
			for (Value v : f.values()) {
				WordRange r = WordRange.times("time", v, table.info());
				either.add(new Condition.Time(Math.max(0, r.min()), r.max() == Long.MAX_VALUE ? r.max() : r.max() + 1));
			}
		}
		case "kind" -> {
			Set<String> kinds = new TreeSet<>();
			for (Value v : f.values()) {
				kinds.addAll(named(f.field(), v, Condition.Kind.KINDS));
			}
			either.add(new Condition.Kind(new TreeSet<>(kinds)));
		}
		case "page" -> pages(f, either);
		case "region" -> regions(f, either);
		default -> {
			Dimension d = Dimensions.find(f.field(), Use.FILTER);
			if (d.type() == Dimension.Type.TEXT && !List.of("thread", "cpu").contains(d.id())) {
				texts(d, f.values(), either);
			} else {
				numbers(d, f.values(), either);
			}
		}
		}
		if (either.isEmpty()) { // a name is missing: nothing has it
			either.add(Condition.Value.numbers("image", List.of(-2)));
		}
	}

	/** The names of a value, of those that there are; {@link #missing} gets a sentence when there is none. */
	private List<String> named(String field, Value v, Collection<String> known) throws MemtraceException {
		List<String> found = known.stream().filter(n -> !n.isEmpty() && v.matches(n)).toList();
		if (found.isEmpty()) {
			String label = field.replace('_', ' ');
			List<String> elsewhere = v.pattern() ? List.of() : fieldsOf(v.text());
			String near = FilterNames.near(v.text(), known);
			missing.add((v.pattern() ? "no " + label + " is like '" : "there is no " + label + " '") + v.text() + "'" + (known.isEmpty()
					? ": the trace knows no "
					+ label : near.isEmpty() ? "; 'memtrace ask TRACE by " + field + "' lists them" : near) + (elsewhere.isEmpty() ? ""
							: "; there is " + elsewhere.getFirst() + ":" + quoted(v.text())));
		}
		return found;
	}

	private void texts(Dimension d, List<Value> wanted, List<Condition> either) throws MemtraceException {
		Set<String> known = FilterNames.known(d.values(table, progress), progress);
		Set<String> names = new LinkedHashSet<>();
		for (Value v : wanted) {
			if (v.text().equals(UNKNOWN) && !v.quoted()) {
				names.add("");
			} else {
				names.addAll(named(d.id(), v, known));
			}
		}
		if (!names.isEmpty()) {
			either.add(Condition.Value.of(d.id(), names));
		}
	}

	/** At any depth; a name with a slash is a part of a path. */
	private void regions(Words.Field f, List<Condition> either) throws MemtraceException {
		Dimension region = Dimensions.find("region", Use.FILTER);
		Set<String> known = FilterNames.known(region.values(table, progress), progress);
		DimensionValues paths = Dimensions.find("region_path", Use.FILTER).values(table, progress);
		Set<String> inPaths = new LinkedHashSet<>();
		List<Value> names = new ArrayList<>();
		for (Value v : f.values()) {
			boolean isPath = v.text().indexOf('/') > 0 && !v.pattern() && !known.contains(v.text())
					&& FilterNames.known(paths, progress).stream().anyMatch(p -> ("/" + p + "/").contains("/" + v.text() + "/"));
			if (isPath) {
				inPaths.add(v.text());
			} else {
				names.add(v);
			}
		}
		texts(region, names, either);
		if (!inPaths.isEmpty()) {
			either.add(Condition.Value.of("region_path", inPaths));
		}
	}

	/** By number or, of threads and CPUs, by name. */
	private void numbers(Dimension d, List<Value> wanted, List<Condition> either) throws MemtraceException {
		DimensionValues values = d.values(table, progress);
		Set<Long> numbers = new TreeSet<>();
		Set<String> names = new LinkedHashSet<>();
		for (Value v : wanted) {
			boolean digits = !v.quoted() && v.text().matches("\\d{1,9}");
			if (v.text().equals(UNKNOWN) && !v.quoted()) {
				numbers.add(DimensionValues.UNKNOWN);
			} else if (digits && !d.id().equals("offset")) {
				long n = Long.parseLong(v.text());
				if (values.size() >= 0 && !has(values, n)) {
					missing.add("there is no " + d.id().replace('_', ' ') + " " + n + task(d, n) + all(values));
				} else {
					numbers.add(n);
				}
			} else if (d.type() == Dimension.Type.TEXT && (v.quoted() || !v.text().matches("[<>]=?\\d+|\\d*\\.\\.\\d*"))) {
				names.addAll(named(d.id(), v, FilterNames.known(values, progress)));
			} else {
				WordRange r = d.id().equals("offset") ? WordRange.sizes(d.id(), v) : WordRange.numbers(d.id(), v);
				if (d.type() == Dimension.Type.TEXT) { // a filter by these has no ranges
					long before = numbers.size();
					LongStream.range(0, values.size()).filter(r::has).forEach(numbers::add);
					if (numbers.size() == before) {
						missing.add("there is no " + d.id() + " in " + v.text() + all(values));
					}
				} else {
					either.add(Condition.Value.range(d.id(), Math.max(0, r.min()), r.max()));
				}
			}
		}
		if (!numbers.isEmpty()) {
			either.add(Condition.Value.numbers(d.id(), numbers));
		}
		if (!names.isEmpty()) {
			either.add(Condition.Value.of(d.id(), names));
		}
	}

	private static boolean has(DimensionValues values, long number) throws MemtraceException {
		if (values.kind() == DimensionValues.Kind.SHARES) {
			return number < values.size();
		}
		for (long i = 0; i < values.size(); i++) {
			if (values.number(i) == number) {
				return true;
			}
		}
		return false;
	}

	/** Of a number that the operating system gives a thread: which one it is. */
	private String task(Dimension d, long n) {
		return !d.id().equals("thread") ? "" : IntStream.range(0,
				table.threads().size()).filter(t -> table.threads().get(t).taskId() == n).mapToObj(
				t -> "; the thread with the id " + n + " is thread:" + t).findFirst().orElse("");
	}

	private static String all(DimensionValues values) throws MemtraceException {
		long last = values.size() - 1;
		boolean members = values.kind() == DimensionValues.Kind.SHARES; // these are their numbers
		return last < 0 ? "; the trace knows none" : last == 0 ? "; there is " + (members ? 0 : values.number(0))
				: "; there are " + (members ? 0 : values.number(0)) + " to " + (members ? last : values.number(last));
	}

	/** By an address that is in it, or by name. */
	private void pages(Words.Field f, List<Condition> either) throws MemtraceException {
		ProducerTree tree = table.producers();
		Map<Integer, Boolean> found = new LinkedHashMap<>();
		for (Value v : f.values()) {
			boolean isAddress = v.text().matches("0[xX][0-9a-fA-F]{1,16}");
			long address = isAddress ? Long.parseUnsignedLong(v.text().substring(2), 16) : 0;
			int before = found.size();
			for (int id = 0; id < tree.size(); id++) {
				if (id % 16_384 == 0) {
					progress.check();
				}
				if (tree.isLeaf(id) && (isAddress ? Long.compareUnsigned(address, tree.startAddress(id)) >= 0
						&& Long.compareUnsigned(address, tree.endAddress(id)) < 0 : v.matches(tree.name(id)))) {
					found.put(id, true);
				}
			}
			if (found.size() == before) {
				missing.add("there is no page " + (isAddress ? "with accesses at " : "'") + v.text() + (isAddress ? ""
						: "'; an address such as 0x7f0000001000 finds the"
						+ " page that it is in"));
			}
		}
		if (!found.isEmpty()) {
			either.add(Condition.Subtree.of(tree, found.keySet().stream().mapToInt(Integer::intValue).toArray()));
		}
	}
}
