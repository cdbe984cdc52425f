// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve.answer;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import org.memtrace.aggregation.BatchChunk;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.column.AccessCells;
import org.memtrace.analysis.column.AccessColumns;
import org.memtrace.analysis.column.Column;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.statistics.Statistics.Item;
import org.memtrace.analysis.statistics.Statistics.Sum;
import org.memtrace.analysis.statistics.Statistics;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.serve.http.Query;
import org.memtrace.serve.http.Refused;

/** Who did how much, and the first accesses in order of time. */
final class Lists {
	private static final int MOST_ROWS = 1000;

	/** Ends a visit when there are enough rows. */
	private static final class Enough extends MemtraceException {
		private static final long serialVersionUID = 1L;

		Enough() {
			super("enough");
		}
	}

	private Lists() {
	}

	private static JsonObject column(String title, String meaning, boolean number) {
		JsonObject o = new JsonObject();
		o.addProperty("title", title);
		o.addProperty("meaning", meaning);
		o.addProperty("number", number);
		return o;
	}

	/** The parts of a sum by a property of accesses, the largest first. */
	static JsonObject sums(ServedTrace trace, Query q, Progress progress) throws MemtraceException, Refused {
		ViewState s = States.of(trace, q);
		List<Dimension> keys = Statistics.keysOfAccesses();
		String id = q.word("key", "thread", keys.stream().map(Dimension::id).toList());
		Dimension by = keys.stream().filter(d -> d.id().equals(id)).findFirst().orElseThrow();
		int limit = q.number("limit", 100, 1, MOST_ROWS);
		List<Item> items = Statistics.of(trace.accesses(s.filters(), progress), Sum.ACCESSES, by, s.fromNs(), s.toNs(), s.producer(), progress)
				.stream().sorted(Comparator.comparingDouble((Item i) -> -i.value()).thenComparing(Item::name)).toList();
		double all = items.stream().mapToDouble(Item::value).sum();
		JsonObject o = new JsonObject();
		JsonArray columns = new JsonArray();
		columns.add(column(by.title(), by.explanation(), false));
		columns.add(column(trace.info().counts().title(), trace.info().counts().meaning(), true));
		columns.add(column("Share", "Share of all that is shown", true));
		o.add("columns", columns);
		JsonArray possible = new JsonArray();
		for (Dimension d : keys) {
			JsonObject one = new JsonObject();
			one.addProperty("id", d.id());
			one.addProperty("title", d.title());
			possible.add(one);
		}
		o.add("keys", possible);
		o.addProperty("all", items.size());
		JsonArray rows = new JsonArray();
		for (Item item : items.subList(0, Math.min(limit, items.size()))) {
			JsonObject one = new JsonObject();
			if (item.producer() >= 0) {
				one.addProperty("producer", item.producer());
			}
			one.addProperty("share", item.value() / all);
			one.add("cells", Tables.texts(List.of(item.name(), Units.count(item.value()), Units.percent(100 * item.value() / all))));
			rows.add(one);
		}
		o.add("rows", rows);
		return o;
	}

	/** The first records of the window and the memory, in order of time; the rest is not read. */
	static JsonObject accesses(ServedTrace trace, Query q, Progress progress) throws MemtraceException, Refused {
		ViewState s = States.of(trace, q);
		int limit = q.number("limit", 100, 1, MOST_ROWS);
		List<Dimension> columns = AccessColumns.of(AccessColumns.SHOWN);
		JsonObject o = new JsonObject();
		JsonArray heads = new JsonArray();
		for (Dimension d : columns) {
			Column c = Column.of(d);
			boolean ticks = trace.info().isInTicks();
			heads.add(column(c.unit().equals("ns") ? c.title() + (ticks ? " (ticks)" : " (ms)") : c.title(), c.meaning(),
					c.type() == Dimension.Type.NUMBER));
		}
		o.add("columns", heads);
		AccessQuery query = AccessQuery.ALL.window(s.fromNs(), s.toNs());
		AccessFilter filter = AccessFilter.of(s.producer() < 0 ? query : query.subtree(trace.producers(), s.producer()));
		if (s.filters().isActive()) {
			filter = filter.with(s.filters(), trace.accesses(s.filters(), progress).unfiltered());
		}
		AccessCells cells = new AccessCells(trace.accesses(s.filters(), progress), columns, progress);
		List<JsonObject> rows = new ArrayList<>();
		try {
			filter.visit(trace.store(), b -> {
				cells.chunk(BatchChunk.of(b));
				for (int i = 0; i < b.count; i++) {
					if (rows.size() == limit) {
						throw new Enough();
					}
					rows.add(row(trace, columns, cells.row(i)));
				}
			}, progress);
			o.addProperty("complete", true);
		} catch (Enough e) {
			o.addProperty("complete", false);
		}
		JsonArray list = new JsonArray();
		rows.forEach(list::add);
		o.add("rows", list);
		return o;
	}

	private static JsonObject row(ServedTrace trace, List<Dimension> columns, Object[] values) {
		List<String> texts = new ArrayList<>();
		for (int c = 0; c < values.length; c++) {
			Column column = Column.of(columns.get(c));
			texts.add(values[c] == null ? "" : column.unit().equals("ns") && values[c] instanceof Long ns ? time(trace, ns)
					: values[c] instanceof Long n && column.type() == Dimension.Type.NUMBER ? Units.count(n) : values[c].toString());
		}
		JsonObject o = new JsonObject();
		o.add("cells", Tables.texts(texts));
		return o;
	}

	/** From the start of the trace. */
	private static String time(ServedTrace trace, long ns) {
		long since = ns - trace.info().startNs();
		return trace.info().isInTicks() ? Long.toString(since) : String.format(java.util.Locale.ROOT, "%.6f", since / 1e6);
	}
}
