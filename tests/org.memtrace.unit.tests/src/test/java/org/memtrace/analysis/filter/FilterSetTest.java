// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.filter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.function.Predicate;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.AccessDetails;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.analysis.SyntheticEvents;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

class FilterSetTest {
	private static final long SEED = 20261120;
	private static TraceStore store;
	private static AccessTable table;
	private static ProducerTree tree;
	private static List<Row> all;

	/** A record as the store gives it. */
	private record Row(int producer, int thread, int cpu, long reads, long writes, boolean shared, int node) {
	}

	@BeforeAll
	static void load() throws MemtraceException {
		store = SyntheticTrace.matrixMultiplication(24, 30);
		table = AccessTable.load(store, Progress.NONE);
		tree = store.producers();
		all = new ArrayList<>();
		store.visitAccesses(AccessQuery.ALL, b -> {
			for (int i = 0; i < b.count; i++) {
				int cpu = b.cpuSet[i] < 0 ? -1 : store.cpuSets().get(b.cpuSet[i]).nextSetBit(0);
				all.add(new Row(b.producer[i], b.thread[i], cpu, b.reads[i], b.writes[i], b.sharing[i] > 1, b.node[i]));
			}
		}, Progress.NONE);
	}

	private static AccessTable apply(TraceFilter... filters) throws MemtraceException {
		return FilterSet.of(filters).apply(table, store.structures(), Progress.NONE);
	}

	private static double total(AccessTable t) throws MemtraceException {
		AccessDetails d = t.details(0);
		return d.reads() + d.writes();
	}

	private static double total(Predicate<Row> wanted) {
		return all.stream().filter(wanted).mapToDouble(r -> r.reads() + r.writes()).sum();
	}

	private static int find(String name) {
		for (int id = 0; id < tree.size(); id++) {
			if (tree.name(id).equals(name)) {
				return id;
			}
		}
		throw new AssertionError(name);
	}

	private static boolean below(int root, int id) {
		return id >= root && id < tree.subtreeEnd(root);
	}

	@Test
	void noFilterIsTheTableItself() throws Exception {
		assertSame(table, apply());
		assertSame(table, apply(TraceFilter.only(Condition.thread(1)).withEnabled(false)));
		assertNotSame(table, apply(TraceFilter.only(Condition.thread(1))));
	}

	@Test
	void onlyAndHideDivideTheTrace() throws Exception {
		int a = find("A");
		List<Condition> conditions = List.of(new Condition.Name("^[AB]$"), Condition.Subtree.of(tree, a),
				new Condition.Kind(new TreeSet<>(List.of("stack", "static"))), new Condition.Level(0, 2),
				Condition.type(EventType.SHARED_READ), Condition.thread(2), Condition.cpu(3), Condition.node(0),
				new Condition.Count(Condition.Per.PAGE, 100, 1000), new Condition.Share(Condition.Per.STRUCTURE, 10, 100),
				new Condition.Lifetime(1_000_000_000, Long.MAX_VALUE), new Condition.Size(0, 3 * 4096));
		double whole = total(table);
		for (Condition c : conditions) {
			double kept = total(apply(TraceFilter.only(c)));
			double hidden = total(apply(TraceFilter.hide(c)));
			assertEquals(whole, kept + hidden, 1e-6, c.toString());
			assertEquals(0, total(apply(TraceFilter.only(c), TraceFilter.hide(c))), c.toString());
		}
	}

	@Test
	void eachConditionKeepsWhatItSays() throws Exception {
		int a = find("A");
		int b = find("B");
		assertEquals(total(r -> below(a, r.producer())), total(apply(TraceFilter.only(Condition.Subtree.of(tree, a)))));
		assertEquals(total(r -> below(a, r.producer()) || below(b, r.producer())),
				total(apply(TraceFilter.only(new Condition.Name("^[AB]$")))));
		assertEquals(total(r -> r.thread() == 2 || r.thread() == 3),
				total(apply(TraceFilter.only(Condition.Value.numbers("thread", List.of(2, 3))))));
		assertEquals(total(r -> r.cpu() != 1), total(apply(TraceFilter.hide(Condition.cpu(1)))));
		assertEquals(all.stream().filter(Row::shared).mapToDouble(Row::reads).sum(),
				total(apply(TraceFilter.only(Condition.type(EventType.SHARED_READ)))));
		assertEquals(all.stream().mapToDouble(Row::writes).sum(), total(apply(TraceFilter.only(
				Condition.Value.of("type", List.of(EventType.PRIVATE_WRITE, EventType.SHARED_WRITE))))));
		assertEquals(total(r -> tree.level(r.producer()) <= 2), total(apply(TraceFilter.only(new Condition.Level(0, 2)))));
		assertEquals(total(r -> tree.endAddress(member(r.producer())) - tree.startAddress(member(r.producer())) <= 3 * 4096),
				total(apply(TraceFilter.only(new Condition.Size(0, 3 * 4096)))));
		assertEquals(total(r -> tree.kind(member(r.producer())) == ProducerKind.STACK),
				total(apply(TraceFilter.only(new Condition.Kind(new TreeSet<>(List.of("stack")))))));
		double[] counts = new double[tree.size()];
		all.forEach(r -> counts[r.producer()] += r.reads() + r.writes());
		double middle = Arrays.stream(counts).max().orElseThrow() / 2;
		assertEquals(total(r -> counts[r.producer()] >= middle),
				total(apply(TraceFilter.only(new Condition.Count(Condition.Per.PAGE, middle, Double.POSITIVE_INFINITY)))));
	}

	private static int member(int id) {
		int member = id;
		while (tree.kind(member) == ProducerKind.PART || tree.kind(member) == ProducerKind.PAGE) {
			member = tree.parent(member);
		}
		return member;
	}

	@Test
	void thresholdsAreOfWhatTheOtherFiltersLeave() throws Exception {
		TraceFilter thread = TraceFilter.only(Condition.thread(1));
		TraceFilter half = TraceFilter.only(new Condition.Share(Condition.Per.STRUCTURE, 20, Double.POSITIVE_INFINITY));
		double[] counts = new double[tree.size()];
		all.stream().filter(r -> r.thread() == 1).forEach(r -> counts[member(r.producer())] += r.reads() + r.writes());
		double sum = Arrays.stream(counts).sum();
		double expected = Arrays.stream(counts).filter(c -> c >= 0.2 * sum).sum();
		assertTrue(expected > 0 && expected < sum, expected + " of " + sum);
		assertEquals(expected, total(apply(thread, half)));
		assertEquals(expected, total(apply(half, thread)), "the order makes no difference");
	}

	/** Inclusion and exclusion: what one or the other keeps is what both keep alone without what they keep together. */
	@Test
	void oneOfSeveralIsEnough() throws Exception {
		List<TraceFilter> filters = List.of(TraceFilter.only(new Condition.Name("^A$")), TraceFilter.hide(Condition.thread(2)),
				TraceFilter.only(Condition.type(EventType.SHARED_READ)), TraceFilter.only(Condition.cpu(1)),
				TraceFilter.only(new Condition.Size(0, 3 * 4096)));
		TraceFilter third = TraceFilter.hide(Condition.type(EventType.PRIVATE_WRITE));
		double whole = total(table);
		for (TraceFilter f : filters) {
			assertEquals(total(apply(f)), total(apply(TraceFilter.only(new Condition.Any(List.of(f))))), f.toString());
			for (TraceFilter g : filters) {
				TraceFilter any = TraceFilter.any(f, g);
				double either = total(apply(f)) + total(apply(g)) - total(apply(f, g));
				assertEquals(either, total(apply(any)), 1e-6, any.toString());
				assertEquals(whole - either, total(apply(TraceFilter.hide(new Condition.Any(any.alternatives())))), 1e-6, any.toString());
				assertEquals(total(apply(f, third)) + total(apply(g, third)) - total(apply(f, g, third)), total(apply(any, third)), 1e-6,
						any.toString());
			}
		}
		assertEquals(total(r -> r.thread() == 1 || r.thread() == 3 || below(find("B"), r.producer())), total(apply(TraceFilter.any(
				TraceFilter.any(TraceFilter.only(Condition.thread(1)), TraceFilter.only(Condition.thread(3))),
				TraceFilter.only(new Condition.Name("^B$"))))));
		TraceFilter off = filters.get(0).withEnabled(false);
		assertEquals(whole, total(apply(TraceFilter.only(new Condition.Any(List.of(off))))), "all of them are off");
		assertEquals(total(apply(filters.get(1))), total(apply(TraceFilter.any(filters.get(1), off))));
	}

	/** A threshold that is one of several is of what the filters beside all of them leave. */
	@Test
	void thresholdAmongSeveral() throws Exception {
		TraceFilter thread = TraceFilter.only(Condition.thread(1));
		TraceFilter large = TraceFilter.only(new Condition.Share(Condition.Per.STRUCTURE, 20, Double.POSITIVE_INFINITY));
		int a = find("A");
		double[] counts = new double[tree.size()];
		all.stream().filter(r -> r.thread() == 1).forEach(r -> counts[member(r.producer())] += r.reads() + r.writes());
		double sum = Arrays.stream(counts).sum();
		double expected = total(r -> r.thread() == 1 && (counts[member(r.producer())] >= 0.2 * sum || below(a, r.producer())));
		TraceFilter either = TraceFilter.any(TraceFilter.only(Condition.Subtree.of(tree, a)), large);
		assertTrue(expected > 0 && expected < sum);
		assertEquals(expected, total(apply(thread, either)));
		assertEquals(expected, total(apply(either, thread)), "the order makes no difference");
	}

	/** Expressions that only look for a text are said in words; the others as they are. */
	@Test
	void namesAreWrittenAsAPersonReads() throws Exception {
		String[][] expected = {{"(?i)stack", "name contains \"stack\"", "name does not contain \"stack\""},
				{"stack", "name contains exactly \"stack\"", "name does not contain exactly \"stack\""},
				{"(?i)^c$", "name is \"c\"", "name is not \"c\""}, {"^A", "name begins with exactly \"A\"", "name does not begin with exactly \"A\""},
				{"(?i)_buf$", "name ends with \"_buf\"", "name does not end with \"_buf\""},
				{"(?i)a|b", "name matches (?i)a|b", "name does not match (?i)a|b"}, {"a\\$", "name matches a\\$", "name does not match a\\$"},
				{"^", "name matches ^", "name does not match ^"}, {"$", "name matches $", "name does not match $"},
				{"^$", "name matches ^$", "name does not match ^$"}, {"", "name matches ", "name does not match "}};
		for (String[] e : expected) {
			assertEquals(e[1], TraceFilter.only(new Condition.Name(e[0])).text(store.threads()));
			assertEquals(e[2], TraceFilter.hide(new Condition.Name(e[0])).text(store.threads()));
		}
	}

	@Test
	void anyIsWrittenAsAPersonReads() throws Exception {
		TraceFilter cpu = TraceFilter.only(Condition.cpu(1));
		TraceFilter either = TraceFilter.any(cpu, TraceFilter.hide(new Condition.Name("x")));
		assertEquals("CPU 1 or name does not contain exactly \"x\"", either.text(store.threads()));
		assertEquals("CPU 1 or name does not contain exactly \"x\" or node 0",
				TraceFilter.any(either, TraceFilter.only(Condition.node(0))).text(store.threads()));
		assertEquals(either, TraceFilter.any(either, cpu), "it is there already");
		assertSame(cpu, TraceFilter.any(cpu, cpu));
		TraceFilter neither = TraceFilter.hide(new Condition.Any(List.of(cpu, TraceFilter.only(Condition.node(0)))));
		assertEquals("neither CPU 1 nor node 0", neither.text(store.threads()));
		assertEquals(List.of(neither), neither.alternatives());
		assertEquals("[{\"by\":\"any\",\"of\":[{\"by\":\"cpu\",\"numbers\":[1]},{\"by\":\"name\",\"pattern\":\"x\",\"not\":true}]}]",
				FilterSet.of(either).toJson());
	}

	@Test
	void chipsAreJoinedAndSeparated() {
		TraceFilter a = TraceFilter.only(Condition.cpu(1));
		TraceFilter b = TraceFilter.only(Condition.node(0));
		TraceFilter c = TraceFilter.hide(Condition.thread(1));
		TraceFilter off = TraceFilter.only(Condition.cpu(7)).withEnabled(false);
		FilterSet set = FilterSet.of(a, off, b, c);
		assertEquals(FilterSet.of(TraceFilter.any(a, c), off, b), set.joined(c, a));
		FilterSet any = set.any();
		assertEquals(FilterSet.of(TraceFilter.any(TraceFilter.any(a, b), c), off), any);
		assertEquals(FilterSet.of(a, b, c, off), any.separated(any.filters().get(0)));
		assertEquals(FilterSet.of(off), FilterSet.of(off).any());
		TraceFilter switchedOff = any.filters().get(0).withEnabled(false);
		assertTrue(FilterSet.of(switchedOff).separated(switchedOff).filters().stream().noneMatch(TraceFilter::enabled));
	}

	@Test
	void modelsOfAFilteredTableCountWhatIsLeft() throws Exception {
		AccessTable filtered = apply(TraceFilter.only(Condition.thread(1)), TraceFilter.hide(new Condition.Name("^A$")));
		ModelRequest request = ModelRequest.whole(store.info().startNs(), store.info().endNs());
		assertEquals(total(r -> r.thread() == 1 && !below(find("A"), r.producer())),
				sum(new AccessModels(filtered).model(request, Progress.NONE)), 1e-6);
		assertEquals(store.info(), filtered.info());
		AccessTable nothing = apply(TraceFilter.only(Condition.thread(99)));
		assertEquals(0, nothing.records());
		assertEquals(0, sum(new AccessModels(nothing).model(request, Progress.NONE)));
	}

	private static double sum(MicroscopicModel model) {
		return Arrays.stream(model.totals()).sum();
	}

	@Test
	void partsOfAnotherTraceAreFoundByName() throws Exception {
		int a = find("A");
		Condition other = new Condition.Subtree(List.of(new Condition.Part(tree.size() + 7, "A"), new Condition.Part(1, "B")));
		assertEquals(total(r -> below(a, r.producer()) || below(find("B"), r.producer())),
				total(apply(TraceFilter.only(other))));
	}

	@Test
	void randomSetsSurviveJson() throws Exception {
		Random random = new Random(SEED);
		for (int i = 0; i < 200; i++) {
			FilterSet set = random(random);
			FilterSet read = FilterSet.parse(set.toJson());
			assertEquals(set, read, "seed " + SEED + ", set " + i + ": " + set.toJson());
			assertEquals(set.toJson(), read.toJson());
			for (TraceFilter f : set.filters()) {
				assertTrue(f.text(store.threads()).length() > 2, f.toString());
			}
		}
	}

	@Test
	void levelsOfTheTreeAndOfMemoryHaveOneName() throws Exception {
		FilterSet both = FilterSet.of(TraceFilter.only(new Condition.Level(2, Integer.MAX_VALUE)),
				TraceFilter.only(Condition.Value.of("level", List.of("L3 hit"))), TraceFilter.only(new Condition.Level(0, Integer.MAX_VALUE)));
		assertEquals(both, FilterSet.parse(both.toJson()), both.toJson());
	}

	/** Four dimensions had forms of their own; traces and scripts still have them. */
	@Test
	void filtersOfOlderVersionsAreRead() throws Exception {
		FilterSet now = FilterSet.of(TraceFilter.only(Condition.Value.numbers("thread", List.of(1, -1))),
				TraceFilter.hide(Condition.Value.numbers("cpu", List.of(3))), TraceFilter.only(Condition.node(0)).withEnabled(false),
				TraceFilter.any(TraceFilter.only(Condition.type(EventType.SHARED_READ)), TraceFilter.only(Condition.thread(2))));
		assertEquals(now, FilterSet.parse("""
				[{"by":"thread","threads":[-1,1]},{"by":"cpu","cpus":[3],"not":true},{"by":"node","nodes":[0],"off":true},
				{"by":"any","of":[{"by":"type","types":["Shared_Read"]},{"by":"thread","threads":[2]}]}]"""));
		assertEquals(now, FilterSet.parse(now.toJson()));
		assertEquals("[{\"by\":\"thread\",\"numbers\":[-1,1]},{\"by\":\"cpu\",\"numbers\":[3],\"not\":true},"
				+ "{\"by\":\"node\",\"numbers\":[0],\"off\":true},{\"by\":\"any\",\"of\":[{\"by\":\"type\",\"values\":[\"Shared_Read\"]},"
				+ "{\"by\":\"thread\",\"numbers\":[2]}]}]", now.toJson());
	}

	/** A name, a number and a range that mean the same leave the same; what is not known has the number -1 and an empty name. */
	@Test
	void namesNumbersAndRangesAgree() throws Exception {
		double ofOne = total(r -> r.cpu() == 1);
		assertTrue(ofOne > 0 && ofOne < total(table));
		assertEquals(ofOne, total(apply(TraceFilter.only(Condition.cpu(1)))));
		assertEquals(ofOne, total(apply(TraceFilter.only(Condition.Value.of("cpu", List.of("CPU 1"))))));
		double ofThread = total(r -> r.thread() == 2);
		assertEquals(ofThread, total(apply(TraceFilter.only(Condition.Value.of("thread", List.of(
				org.memtrace.aggregation.ModelType.thread(store.threads().get(2)).name()))))));
		assertEquals(ofThread, total(apply(TraceFilter.only(Condition.thread(2)))));
		double noThread = total(r -> r.thread() < 0);
		assertEquals(noThread, total(apply(TraceFilter.only(Condition.thread(-1)))));
		assertEquals(noThread, total(apply(TraceFilter.only(Condition.Value.of("thread", List.of(""))))));
		assertEquals(total(apply(TraceFilter.only(Condition.node(0)))), total(apply(TraceFilter.only(Condition.Value.range("node", 0, 0)))));
		assertEquals(total(apply(TraceFilter.only(Condition.node(-1)))), total(apply(TraceFilter.only(Condition.Value.of("node", List.of(""))))));
	}

	private static FilterSet random(Random r) {
		List<TraceFilter> filters = new ArrayList<>();
		for (int i = r.nextInt(5); i >= 0; i--) {
			Condition c = switch (r.nextInt(13)) {
			case 12 -> new Condition.Any(List.of(new TraceFilter(Condition.thread(r.nextInt(4)), r.nextBoolean(), r.nextBoolean()),
					TraceFilter.only(Condition.cpu(r.nextInt(4)))));
			case 0 -> new Condition.Name("a\\d*\"[b-" + (char) ('c' + r.nextInt(20)) + "]");
			case 1 -> Condition.Subtree.of(tree, r.nextInt(tree.size()), r.nextInt(tree.size()));
			case 2 -> new Condition.Kind(new TreeSet<>(Condition.Kind.KINDS.subList(0, 1 + r.nextInt(6))));
			case 3 -> new Condition.Level(r.nextInt(3), r.nextBoolean() ? Integer.MAX_VALUE : 5);
			case 4 -> Condition.type(EventType.PRIVATE_READ);
			case 5 -> Condition.thread(r.nextInt(9) - 1);
			case 6 -> Condition.cpu(r.nextInt(200) - 1);
			case 7 -> Condition.node(r.nextInt(4) - 1);
			case 8 -> new Condition.Count(Condition.Per.PAGE, r.nextInt(3), r.nextDouble() * 1e9);
			case 9 -> new Condition.Share(Condition.Per.STRUCTURE, r.nextDouble(), Double.POSITIVE_INFINITY);
			case 10 -> new Condition.Lifetime(r.nextLong(1000), r.nextBoolean() ? Long.MAX_VALUE : 1L << 60);
			default -> new Condition.Size(r.nextInt(2), r.nextLong(1L << 50));
			};
			filters.add(new TraceFilter(c, r.nextBoolean(), r.nextInt(4) > 0));
		}
		return new FilterSet(filters);
	}

	@Test
	void mistakesAreExplained() {
		assertEquals("the filters are not JSON: End of input at line 1 column 3 path $[0].", refusal("[{"));
		assertEquals("'colour' is nothing to filter by; use name, subtree, kind, level, count, share, lifetime, time, size, any or one of the dimensions "
				+ Dimensions.ids(Dimension.Use.FILTER), refusal("{\"by\":\"colour\"}"));
		assertEquals("'[' is not a regular expression: Unclosed character class", refusal("{\"by\":\"name\",\"pattern\":\"[\"}"));
		assertEquals("filter 2 is wrong: it has no 'values' or 'numbers'",
				refusal("[{\"by\":\"node\",\"nodes\":[0]},{\"by\":\"cpu\",\"cpu\":3}]"));
		assertEquals("filter 1 is wrong: 'per' is page or structure, not 'line'", refusal("{\"by\":\"count\",\"per\":\"line\"}"));
		assertEquals("filter 1 is wrong: 'any' has one or more filters, which are not 'any' themselves",
				refusal("{\"by\":\"any\",\"of\":[]}"));
		assertEquals("filter 1 is wrong: it has no 'of'", refusal("{\"by\":\"any\"}"));
		assertTrue(refusal("[3]").startsWith("filter 1 is wrong: "));
		assertTrue(refusal("\"x\"").startsWith("filter 1 is wrong: "));
	}

	private static String refusal(String json) {
		return assertThrows(MemtraceException.class, () -> FilterSet.parse(json)).getMessage();
	}

	@Test
	void eventsOfOtherTracesAreFilteredToo() throws Exception {
		ProducerTreeBuilder b = new ProducerTreeBuilder(0);
		b.begin(ProducerKind.OTHER, "machine", 0, 0, -1);
		for (int i = 0; i < 3; i++) {
			b.leaf(ProducerKind.OTHER, "process " + i, 0, 0, -1);
		}
		b.end();
		SyntheticEvents e = new SyntheticEvents();
		for (int i = 0; i < 60; i++) {
			e.add(i % 2 == 0 ? SyntheticEvents.RUN : SyntheticEvents.TICK, i < 40 ? 1 : i < 59 ? 2 : 3, 10 * i, 10 * i + 5, 0, i % 3);
		}
		EventTable events = e.table(b.build(), 0, 1000);
		assertEquals(60, left(events));
		assertEquals(19, left(events, TraceFilter.only(new Condition.Name("1$"))));
		assertEquals(41, left(events, TraceFilter.hide(Condition.Subtree.of(events.producers(), 2))));
		assertEquals(60, left(events, TraceFilter.only(new Condition.Level(1, 1))));
		assertEquals(30, left(events, TraceFilter.only(Condition.type("Run"))));
		assertEquals(20, left(events, TraceFilter.only(Condition.cpu(1))));
		assertEquals(59, left(events, TraceFilter.only(new Condition.Count(Condition.Per.PAGE, 2, Double.POSITIVE_INFINITY))));
		assertEquals(40, left(events, TraceFilter.only(new Condition.Share(Condition.Per.PAGE, 50, 100))));
		assertEquals(60, left(events, TraceFilter.only(Condition.thread(7))), "memory is not known, so it hides nothing");
		assertEquals(9, left(events, TraceFilter.only(Condition.type("Tick")), TraceFilter.only(new Condition.Name("1$"))));
		TraceFilter first = TraceFilter.only(new Condition.Name("0$"));
		assertEquals(50, left(events, TraceFilter.any(first, TraceFilter.only(Condition.type("Tick")))));
		assertEquals(10, left(events, TraceFilter.hide(new Condition.Any(List.of(first, TraceFilter.only(Condition.type("Tick")))))));
		assertEquals(40, left(events, TraceFilter.any(first, TraceFilter.only(Condition.thread(7)))), "what is of memory is no choice");
		assertEquals(60, left(events, TraceFilter.only(new Condition.Any(List.of(TraceFilter.only(Condition.thread(7)))))));
		assertEquals(41, left(events, TraceFilter.any(TraceFilter.only(new Condition.Share(Condition.Per.PAGE, 50, 100)),
				TraceFilter.only(new Condition.Name("2$")))));
		assertEquals(30, left(events, TraceFilter.only(Condition.type("Tick")), TraceFilter.any(
				TraceFilter.only(new Condition.Count(Condition.Per.PAGE, 20, 20)), TraceFilter.hide(new Condition.Name("0$")))),
				"20 and 10 of the ticks");
	}

	private static int left(EventTable events, TraceFilter... filters) throws Exception {
		return FilterSet.of(filters).apply(events, Progress.NONE).size();
	}

	@Test
	void textsSayWhatIsLeft() throws Exception {
		assertEquals("A, B, C, and 1 more", TraceFilter.only(
				Condition.Subtree.of(tree, find("A"), find("B"), find("C"), find("pids"))).text(store.threads()));
		assertEquals("not worker (4001)", TraceFilter.hide(Condition.thread(1)).text(store.threads()));
		assertEquals("CPU unknown, 3", TraceFilter.only(Condition.Value.numbers("cpu", List.of(3, -1))).text(List.of()));
		assertEquals("≥ 1.5 % of accesses per structure", TraceFilter.only(
				new Condition.Share(Condition.Per.STRUCTURE, 1.5, Double.POSITIVE_INFINITY)).text(List.of()));
		assertEquals("1,000 to 2,000 accesses per page", TraceFilter.only(
				new Condition.Count(Condition.Per.PAGE, 1000, 2000)).text(List.of()));
		assertEquals("Shared Write", TraceFilter.only(Condition.type(EventType.SHARED_WRITE)).text(List.of()));
	}
}
