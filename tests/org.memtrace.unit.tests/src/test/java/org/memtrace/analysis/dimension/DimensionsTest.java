// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.statistics.AccessGroups.Group;
import org.memtrace.analysis.statistics.AccessGroups;
import org.memtrace.importer.ImportOperation;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/** What must hold for each dimension of the list, of a recorded trace. */
class DimensionsTest {
	private static final Path TRACE = Path.of(System.getProperty("memtrace.root", "../.."), "testdata", "traces", "bucketsort-dynamic");
	private static TraceCatalogue catalogue;
	private static TraceStore store;
	private static AccessTable table;

	@BeforeAll
	static void load() throws Exception {
		catalogue = Stores.inMemory();
		store = catalogue.open(new ImportOperation(TRACE, catalogue::create).call(Progress.NONE).trace().id());
		table = AccessTable.load(store, Progress.NONE);
	}

	@AfterAll
	static void close() {
		store.close();
		catalogue.close();
	}

	private static List<Group> groups(AccessFilter filter, Dimension... keys) throws MemtraceException {
		return AccessGroups.of(table, filter, List.of(keys), 1_000_000, Progress.NONE);
	}

	/** Reads and writes by name. */
	private static Map<String, List<Long>> sums(List<Group> groups) {
		Map<String, List<Long>> sums = new TreeMap<>();
		for (Group g : groups) {
			String name = g.keys().get(0) == null ? "" : g.keys().get(0).toString();
			List<Long> before = sums.getOrDefault(name, List.of(0L, 0L));
			sums.put(name, List.of(before.get(0) + g.reads(), before.get(1) + g.writes()));
		}
		return sums;
	}

	private static AccessFilter filter(TraceFilter... filters) throws MemtraceException {
		FilterSet set = new FilterSet(List.of(filters));
		assertEquals(set, FilterSet.parse(set.toJson()), "as JSON");
		return AccessFilter.of(AccessQuery.ALL).with(set, table);
	}

	/** What the rows of the store have in the order of time, that is without a scan. */
	private static List<Long> visited(AccessFilter filter) throws MemtraceException {
		long[] sum = new long[2];
		filter.visit(store, b -> {
			for (int i = 0; i < b.count; i++) {
				sum[0] += b.reads[i];
				sum[1] += b.writes[i];
			}
		}, Progress.NONE);
		return List.of(sum[0], sum[1]);
	}

	private static List<Long> sum(List<Group> groups) {
		return List.of(groups.stream().mapToLong(Group::reads).sum(), groups.stream().mapToLong(Group::writes).sum());
	}

	/** Arrays and blocks of one type are together, whatever their dimensions. */
	@Test
	void typesAreThoseOfElements() throws Exception {
		Path example = Path.of(System.getProperty("memtrace.root", "../.."), "testdata", "format-example");
		Dimension type = Dimensions.all().stream().filter(d -> d.id().equals("type_name")).findFirst().orElseThrow();
		try (TraceCatalogue c = Stores.inMemory();
				TraceStore s = c.open(new ImportOperation(example, c::create).call(Progress.NONE).trace().id())) {
			List<Group> groups = AccessGroups.of(AccessTable.load(s, Progress.NONE), AccessFilter.of(AccessQuery.ALL), List.of(type), 100,
					Progress.NONE);
			assertEquals(List.of("", "char", "double", "struct cell"), List.copyOf(sums(groups).keySet()));
		}
	}

	@Test
	void idsAndTextsAreInForm() {
		List<String> ids = Dimensions.all().stream().map(Dimension::id).toList();
		assertEquals(ids.size(), ids.stream().distinct().count());
		for (Dimension d : Dimensions.all()) {
			assertTrue(d.id().matches("[a-z][a-z0-9_]*"), d.id());
			assertTrue(!d.title().isBlank() && !d.choice().isBlank() && !d.meaning().endsWith("."), d.id());
			assertTrue(d.meaning().matches("[ -~]+") && d.meaning().indexOf('&') < 0, "for the native program: " + d.id());
		}
		assertThrows(IllegalArgumentException.class, () -> Dimensions.add(Dimensions.all().get(0)));
	}

	/** A filter by a value leaves what the group of this value has, in chunks and in rows; its opposite leaves the rest. */
	@Test
	void filtersLeaveTheGroup() throws Exception {
		List<Long> whole = visited(AccessFilter.of(AccessQuery.ALL));
		int looked = 0;
		for (Dimension d : Dimensions.of(Use.FILTER)) {
			Map<String, List<Long>> all = sums(groups(AccessFilter.of(AccessQuery.ALL), d));
			List<String> names = new ArrayList<>(all.keySet());
			Collections.shuffle(names, new java.util.Random(20261122));
			for (String name : names.subList(0, Math.min(12, names.size()))) {
				Condition one = Condition.Value.of(d.id(), List.of(name));
				AccessFilter only = filter(TraceFilter.only(one));
				assertEquals(Map.of(name, all.get(name)), sums(groups(only, d)), d + " " + name);
				assertEquals(all.get(name), visited(only), d + " " + name);
				AccessFilter hide = filter(TraceFilter.hide(one));
				List<Long> rest = List.of(whole.get(0) - all.get(name).get(0), whole.get(1) - all.get(name).get(1));
				assertEquals(rest, sum(groups(hide)), d + " without " + name);
				assertEquals(rest, visited(hide), d + " without " + name);
				// a choice: this value, or the first thread
				TraceFilter thread = TraceFilter.only(Condition.thread(0));
				AccessFilter any = filter(TraceFilter.any(TraceFilter.only(one), thread));
				AccessFilter both = filter(TraceFilter.only(one), thread);
				assertEquals(visited(any).get(0), all.get(name).get(0) + visited(filter(thread)).get(0) - visited(both).get(0), d + " " + name);
				assertEquals(visited(any), sum(groups(any)), d + " " + name);
				looked++;
			}
		}
		assertTrue(looked > 50, () -> "few values");
	}

	@Test
	void rangesOfNumbers() throws Exception {
		Dimension sharing = Dimensions.find("sharing", Use.FILTER);
		Map<String, List<Long>> all = sums(groups(AccessFilter.of(AccessQuery.ALL), sharing));
		assertTrue(all.size() > 2, all::toString);
		AccessFilter shared = filter(TraceFilter.only(Condition.Value.range("sharing", 2, Long.MAX_VALUE)));
		Map<String, List<Long>> wanted = new TreeMap<>(all);
		wanted.remove("1");
		assertTrue(wanted.remove("") != null, "what is not known has no number");
		assertEquals(wanted, sums(groups(shared, sharing)));
		assertThrows(IllegalArgumentException.class, () -> Condition.Value.range("structure", 1, 2));
		assertThrows(MemtraceException.class, () -> FilterSet.parse("[{\"by\":\"colour\",\"values\":[\"red\"]}]"));
		FilterSet unknown = new FilterSet(List.of(TraceFilter.only(Condition.Value.of("colour", List.of("red")))));
		assertTrue(assertThrows(MemtraceException.class, () -> unknown.apply(table, store.structures(), Progress.NONE)).getMessage()
				.startsWith("there is no dimension 'colour' to filter by, only type, "));
	}

	/** Colours lose nothing, whatever the number of values. */
	@Test
	void modelsHaveTheSums() throws Exception {
		List<Long> whole = visited(AccessFilter.of(AccessQuery.ALL));
		for (Dimension d : Dimensions.of(Use.COLOUR)) {
			AccessModels models = new AccessModels(table);
			MicroscopicModel m = models.model(models.wholeRequest().withViewpoint(d), Progress.NONE);
			double sum = 0;
			for (double v : m.totals()) {
				sum += v;
			}
			assertEquals(whole.get(0) + whole.get(1), sum, 1e-6 * sum, d.id());
			assertEquals(m.types().size(), m.types().stream().map(t -> t.name()).distinct().count(), d.id());
		}
	}
}
