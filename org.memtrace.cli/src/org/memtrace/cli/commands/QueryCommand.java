// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.commands;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.PriorityQueue;

import com.google.gson.JsonObject;
import org.memtrace.aggregation.BatchChunk;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.column.AccessCells;
import org.memtrace.analysis.column.AccessColumns;
import org.memtrace.analysis.column.Column;
import org.memtrace.analysis.column.TraceTable;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.export.FoundRows;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.statistics.AccessGroups.Group;
import org.memtrace.analysis.statistics.AccessGroups;
import org.memtrace.analysis.statistics.Statistics.Item;
import org.memtrace.analysis.text.TablePrinter;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.AccessOptions;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.options.TraceWindow;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.Json;
import org.memtrace.cli.rendering.SumsRendering;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.StoreException;
import org.memtrace.model.store.AccessVisitor;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/** {@code memtrace query}. */
public final class QueryCommand implements Command {
	/** Place of the name in the columns of producers. */
	private static final int NAME = TraceTable.ids(TraceTable.PRODUCERS.columns()).indexOf("name");

	/** Ends a visit when the limit is reached. */
	private static final class Enough extends MemtraceException {
		private static final long serialVersionUID = 1L;

		Enough() {
			super("enough");
		}
	}

	@Override
	public int run(CommandLine args, Console console) throws Exception {
		try (TraceStore opened = TraceArgument.open(args.argument(0), console)) {
			TraceStore store = TraceArgument.tree(opened, args);
			String what = args.get("what");
			if (what.equals("report")) {
				console.out().println(ImportCommand.json(store.importReport()
						.orElseThrow(() -> new StoreException("the trace has no import report"))));
				return ExitCode.OK;
			}
			check(args, what);
			long limit = args.has("limit") ? args.getInt("limit") : Long.MAX_VALUE;
			if (what.equals("groups")) {
				groups(store, args, limit, console);
			} else if (what.equals("sums")) {
				sums(store, args, limit, console);
			} else {
				print(store, what, args, limit, console);
			}
		} catch (Enough e) {
			return ExitCode.OK;
		}
		return ExitCode.OK;
	}

	/** What JSON has before the rows. */
	private static JsonObject head(TraceStore store, CommandLine args) {
		JsonObject head = Json.of("memtrace.query/1");
		head.addProperty("trace", store.info().alias());
		head.addProperty("what", args.get("what"));
		head.addProperty("time_unit", store.info().timeUnit().id());
		return head;
	}

	/** Options that mean nothing for what is asked are mistakes. */
	private static void check(CommandLine args, String what) throws UsageException {
		boolean accesses = what.equals("accesses") || what.equals("groups") || what.equals("pages");
		boolean sums = what.equals("sums");
		for (String option : new String[] { "thread", "cpu", "types", "filter" }) {
			if (args.has(option) && !accesses && !(sums && option.equals("filter"))) {
				throw new UsageException("--" + option + " selects accesses: it needs --what accesses, groups or pages"
						+ (option.equals("filter") ? ", or sums" : ""));
			}
		}
		boolean timed = accesses || sums || what.equals("events");
		for (String option : new String[] { "from", "to", "region" }) {
			if (args.has(option) && !timed) {
				throw new UsageException("--" + option + " selects by time: it needs --what accesses, groups, pages, sums or events");
			}
		}
		if (args.has("producer") && !timed && !what.equals("producers")) {
			throw new UsageException("--producer selects memory: it needs --what accesses, groups, pages, sums, events or producers");
		}
		if (args.has("by") && !what.equals("groups") && !sums) {
			throw new UsageException("--by needs --what groups or sums");
		}
		if (args.has("columns") && !what.equals("accesses")) {
			throw new UsageException("--columns needs --what accesses");
		}
		if (args.has("window") && !what.equals("groups")) {
			throw new UsageException("--window needs --what groups");
		}
		if (args.has("sum") && !sums) {
			throw new UsageException("--sum needs --what sums");
		}
		if (args.has("descending") && !args.has("sort")) {
			throw new UsageException("--descending needs --sort");
		}
		if (args.has("sort") && !what.equals("groups") && !sums && !args.has("limit")) {
			throw new UsageException("--sort needs --limit, so that the sorted lines fit into memory");
		}
	}

	private static boolean isTime(Dimension key) {
		return key.id().equals("time");
	}

	private static void groups(TraceStore store, CommandLine args, long limit, Console console) throws Exception {
		List<Dimension> keys = new ArrayList<>();
		for (String name : args.get("by").split(",")) {
			Dimension key = Dimensions.find(name.strip().toLowerCase(Locale.ROOT), Use.GROUP);
			if (key == null) {
				throw new UsageException("--by is '" + args.get("by") + "'; it lists some of " + Dimensions.ids(Use.GROUP));
			}
			if (keys.contains(key)) {
				throw new UsageException("--by lists " + name.strip() + " twice");
			}
			keys.add(key);
		}
		if (keys.stream().anyMatch(QueryCommand::isTime) && !args.has("window")) {
			throw new UsageException("--by time needs --window, the length of a window");
		}
		if (store.accessCount() == 0) {
			throw new MemtraceException(args.argument(0) + " is no memory trace, it has no accesses");
		}
		long windowNs = args.has("window") ? TraceWindow.length(args, store.info()) : 0;
		String[] columns = new String[keys.size() + 3];
		for (int k = 0; k < keys.size(); k++) {
			columns[k] = isTime(keys.get(k)) ? store.info().timeUnit().column("window_ns") : keys.get(k).id();
		}
		columns[keys.size()] = "records";
		columns[keys.size() + 1] = "reads";
		columns[keys.size() + 2] = "writes";
		List<Object[]> rows = new ArrayList<>();
		for (Group g : AccessGroups.of(AccessOptions.load(store, console), AccessOptions.filter(args, store, console), keys, windowNs,
				console.progress())) {
			List<Object> values = new ArrayList<>(g.keys());
			values.addAll(List.of(g.records(), g.reads(), g.writes()));
			rows.add(values.toArray());
		}
		if (args.has("sort")) {
			rows.sort(order(args, columns));
		}
		try (TablePrinter table = new TablePrinter(console.out(), args.get("format"), head(store, args), columns)) {
			rows.stream().skip(args.getInt("offset")).limit(limit).forEach(table::row);
		}
	}

	/** What the view Statistics shows. */
	private static void sums(TraceStore store, CommandLine args, long limit, Console console) throws Exception {
		String[] columns = { "name", "value", "percent" };
		List<Item> items = SumsRendering.sums(store, args, console);
		double all = items.stream().mapToDouble(Item::value).sum();
		List<Object[]> rows = new ArrayList<>();
		for (Item item : items) {
			Object value = item.value() == Math.rint(item.value()) ? (Object) (long) item.value() : (Object) item.value();
			rows.add(new Object[] { item.name(), value, Math.rint(1e4 * item.value() / all) / 100 });
		}
		if (args.has("sort")) {
			rows.sort(order(args, columns));
		}
		try (TablePrinter table = new TablePrinter(console.out(), args.get("format"), head(store, args), columns)) {
			rows.stream().skip(args.getInt("offset")).limit(limit).forEach(table::row);
		}
		if (rows.isEmpty()) {
			console.hint("nothing to print: nothing is summed that the options select");
		}
	}

	/** By a column; rows that are equal in it keep their order. */
	private static Comparator<Object[]> order(CommandLine args, String[] columns) throws UsageException {
		int column = List.of(columns).indexOf(args.get("sort"));
		if (column < 0) {
			throw new UsageException("there is no column '" + args.get("sort") + "'; the columns are "
					+ String.join(", ", columns));
		}
		Comparator<Object[]> order = (a, b) -> compare(a[column], b[column]);
		return args.has("descending") ? order.reversed() : order;
	}

	/** Numbers by their size, texts by theirs, what is not known first. */
	private static int compare(Object a, Object b) {
		if (a == null || b == null) {
			return Boolean.compare(a != null, b != null);
		}
		return a instanceof Number x && b instanceof Number y
				? x instanceof Double || y instanceof Double ? Double.compare(x.doubleValue(), y.doubleValue())
						: Long.compare(x.longValue(), y.longValue())
				: a.toString().compareTo(b.toString());
	}

	/** A page of a table: lines after an offset, up to a limit; sorted, if there is an order. */
	private static final class Rows {
		/** Each takes some hundred bytes. */
		private static final int MOST_SORTED = 1_000_000;

		private final TablePrinter table;
		private final long offset;
		private final long limit;
		/** The first lines in the order so far, the last of them on top; null when lines are not sorted. */
		private final PriorityQueue<Object[]> first;
		private final Comparator<Object[]> order;
		/** Lines to keep while sorting: those to print and those before them. */
		private final long wanted;
		private long seen;

		/** @param order of lines whose last value is their number, for those that are equal otherwise; or null */
		Rows(TablePrinter table, long offset, long limit, Comparator<Object[]> order) {
			this.table = table;
			this.offset = offset;
			this.limit = limit;
			wanted = offset + limit < 0 ? Long.MAX_VALUE : offset + limit;
			this.order = order == null ? null : order.thenComparing(row -> (Long) row[row.length - 1]);
			first = order == null ? null : new PriorityQueue<>(this.order.reversed());
		}

		void add(Object... values) throws MemtraceException {
			seen++;
			if (first == null) {
				if (table.rows() >= limit) {
					throw new Enough();
				}
				if (seen > offset) {
					table.row(values);
				}
				return;
			}
			Object[] numbered = java.util.Arrays.copyOf(values, values.length + 1, Object[].class);
			numbered[values.length] = seen;
			if (first.size() < wanted) {
				if (first.size() == MOST_SORTED) {
					throw new MemtraceException(String.format(Locale.ROOT, "more than %,d lines would be sorted; a smaller --limit,"
							+ " a span of time or a part of the memory leaves fewer", MOST_SORTED));
				}
				first.add(numbered);
			} else if (order.compare(numbered, first.peek()) < 0) {
				first.poll();
				first.add(numbered);
			}
		}

		boolean isEmpty() {
			return seen == 0;
		}

		/** Whether the first lines are enough. */
		boolean stopsEarly() {
			return first == null && wanted < Long.MAX_VALUE;
		}

		/** Prints what was sorted. */
		void finish() {
			if (first != null) {
				first.stream().sorted(order).skip(offset)
						.forEach(row -> table.row(java.util.Arrays.copyOf(row, row.length - 1)));
			}
		}
	}

	private static void print(TraceStore store, String what, CommandLine args, long limit, Console console)
			throws MemtraceException, UsageException {
		String format = args.get("format");
		List<Dimension> ofAccesses = AccessOptions.columns(args);
		TraceTable of = TraceTable.find(what);
		if (of == null && !what.equals("accesses")) {
			throw new UsageException("--what is '" + what + "'; see 'memtrace query --help'");
		}
		List<Column> columns = of != null ? of.columns() : ofAccesses.stream().map(Column::of).toList();
		String[] heads = columns.stream().map(c -> store.info().timeUnit().column(c.id())).toArray(String[]::new);
		try (TablePrinter table = new TablePrinter(console.out(), format, head(store, args), heads)) {
			// accesses come in the order of their start
			int start = of == null ? ofAccesses.indexOf(AccessColumns.find("start_ns")) : -1;
			boolean sorted = args.has("sort") && (start < 0 || args.has("descending") || !heads[start].equals(args.get("sort")));
			Rows rows = new Rows(table, args.getInt("offset"), limit, sorted ? order(args, heads) : null);
			if (of == null) {
				accesses(store, ofAccesses, AccessOptions.filter(args, store, console), rows, console);
			} else {
				ProducerTree indented = of == TraceTable.PRODUCERS && format.equals("text") ? store.producers() : null;
				TraceTable.RowVisitor printer = values -> {
					for (int c = 0; c < values.length; c++) {
						values[c] = columns.get(c).cell(values[c]);
					}
					if (indented != null) {
						values[NAME] = "  ".repeat(indented.level((Integer) values[0])) + values[NAME];
					}
					rows.add(values);
				};
				if (of.source() == null) {
					FoundRows.visit(of, store, AccessOptions.load(store, console), AccessOptions.filter(args, store, console), printer,
							console.progress());
				} else {
					of.source().rows(store, AccessOptions.query(args, store), printer, console.progress());
				}
			}
			rows.finish();
			if (rows.isEmpty()) {
				console.hint("nothing to print: no such " + what + " in the trace, or none that the options select");
			}
		}
	}

	private static void accesses(TraceStore store, List<Dimension> columns, AccessFilter filter, Rows rows, Console console)
			throws MemtraceException {
		if (store.accessCount() == 0) {
			return;
		}
		AccessCells cells = new AccessCells(AccessOptions.load(store, console), columns, console.progress());
		AccessVisitor printed = b -> {
			cells.chunk(BatchChunk.of(b));
			for (int i = 0; i < b.count; i++) {
				rows.add(cells.row(i));
			}
		};
		filter.visit(store, rows.stopsEarly() ? AccessVisitor.early(printed) : printed, console.progress());
	}
}
