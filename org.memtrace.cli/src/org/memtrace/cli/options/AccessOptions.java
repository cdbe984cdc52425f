// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.options;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.analysis.column.AccessColumns;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterNames;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.SavedFilters;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.words.WordsException;
import org.memtrace.analysis.words.WordsMeaning;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.output.Console;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/** The options that select accesses: --from, --to, --producer, --thread, --cpu, --types, --filter. */
public final class AccessOptions {
	private AccessOptions() {
	}

	public static AccessFilter filter(CommandLine args, TraceStore store, Console console) throws MemtraceException, UsageException {
		Pattern types = null;
		if (args.has("types")) {
			try {
				types = Pattern.compile(args.get("types"));
			} catch (PatternSyntaxException e) {
				throw new UsageException("--types is no regular expression: " + e.getDescription());
			}
		}
		if (args.has("cpu") && args.getInt("cpu") > Integer.MAX_VALUE) {
			throw new UsageException("there is no CPU " + args.getInt("cpu"));
		}
		if (args.has("thread") && args.getInt("thread") != -1
				&& store.threads().stream().noneMatch(t -> t.taskId() == args.getInt("thread"))) {
			throw new UsageException("the trace has no thread " + args.getInt("thread") + "; 'memtrace query --what threads' lists them");
		}
		FilterSet given = filters(args, store, console);
		List<TraceFilter> all = new ArrayList<>(given.filters());
		if (args.has("thread")) {
			long task = args.getInt("thread");
			all.add(TraceFilter.only(Condition.Value.numbers(BasicDimensions.THREAD.id(), task == -1 ? List.of(-1)
					: store.threads().stream().filter(t -> t.taskId() == task).map(ThreadInfo::index).toList())));
		}
		if (args.has("cpu")) {
			all.add(TraceFilter.only(Condition.cpu((int) args.getInt("cpu"))));
		}
		if (types != null) {
			List<String> names = Arrays.stream(AccessFilter.types(store.info())).filter(types.asMatchPredicate()).toList();
			if (names.isEmpty()) {
				throw new UsageException("--types '" + args.get("types") + "' is none of " + String.join(", ", AccessFilter.types(store.info())));
			}
			all.add(TraceFilter.only(Condition.Value.of(BasicDimensions.TYPE.id(), names)));
		}
		AccessFilter simple = AccessFilter.of(query(args, store));
		if (all.isEmpty() || store.accessCount() == 0) {
			return simple;
		}
		AccessTable table = load(store, console);
		tell(FilterNames.missing(given, table, console.progress()), args, console);
		return simple.with(new FilterSet(all), table);
	}

	/**
	 * Filters of the command line that name what the trace does not have are wrong. Those that were saved may be of another trace: they are
	 * told about.
	 */
	private static void tell(List<String> missing, CommandLine args, Console console) throws UsageException {
		if (!missing.isEmpty() && SavedFilters.isJson(args.get("filter"))) {
			throw new UsageException("--filter: " + String.join("; ", missing));
		}
		missing.forEach(sentence -> console.err().println("warning: the filters '" + args.get("filter") + "': " + sentence));
	}

	/** The columns of a table of accesses. */
	public static List<Dimension> columns(CommandLine args) throws UsageException {
		if (!args.has("columns")) {
			return AccessColumns.of(AccessColumns.USUAL);
		}
		try {
			return AccessColumns.parse(args.get("columns"));
		} catch (IllegalArgumentException e) {
			throw new UsageException("--columns: " + e.getMessage());
		}
	}

	/** All accesses. */
	public static AccessTable load(TraceStore store, Console console) throws MemtraceException {
		return AccessTable.load(store, console.progress()).telling(text -> console.err().println("warning: " + text));
	}

	/** The accesses that --filter lets pass. */
	public static AccessTable table(CommandLine args, TraceStore store, Console console) throws MemtraceException, UsageException {
		FilterSet filters = filters(args, store, console); // before the long work
		AccessTable all = load(store, console);
		tell(FilterNames.missing(filters, all, console.progress()), args, console);
		AccessTable table = filters.apply(all, store.structures(), console.progress());
		if (filters.isActive() && table.records() == 0) {
			throw new UsageException("--filter leaves no access");
		}
		return table;
	}

	/** The events that --filter lets pass. */
	public static EventTable events(CommandLine args, TraceStore store, Console console) throws MemtraceException, UsageException {
		FilterSet filters = filters(args, store, console);
		EventTable all = EventTable.load(store, console.progress());
		EventTable table = events(args, filters, all, console);
		if (table.size() == 0 && filters.isActive()) {
			throw new UsageException("--filter leaves no event");
		}
		return table;
	}

	/** Those of some events that pass. */
	static EventTable events(CommandLine args, FilterSet filters, EventTable all, Console console) throws MemtraceException, UsageException {
		tell(FilterNames.missing(filters, all, console.progress()), args, console);
		return filters.apply(all, console.progress());
	}

	/** Filters that were saved with the trace under the name that is given, or that are given as JSON or in words. */
	static FilterSet filters(CommandLine args, TraceStore store, Console console) throws MemtraceException, UsageException {
		if (!args.has("filter")) {
			return FilterSet.NONE;
		}
		SavedFilters saved = SavedFilters.of(store);
		String given = args.get("filter");
		try {
			if (saved.byName().containsKey(given) || SavedFilters.isJson(given) || store.accessCount() == 0) {
				return saved.find(given);
			}
			return WordsMeaning.filters(given, load(store, console), console.progress());
		} catch (WordsException e) {
			boolean mayBeName = given.strip().matches("\\S+") && !given.contains(":");
			throw new UsageException("--filter: " + (mayBeName ? "the trace has no filters that are called '" + given + "'"
					+ (saved.byName().isEmpty() ? "" : ", only " + String.join(", ", saved.byName().keySet())) + "; as words: " : "") + e.getMessage());
		} catch (MemtraceException e) {
			throw new UsageException("--filter: " + e.getMessage());
		}
	}

	public static AccessQuery query(CommandLine args, TraceStore store) throws MemtraceException, UsageException {
		AccessQuery query = AccessQuery.ALL;
		if (TraceWindow.isGiven(args)) {
			TraceWindow window = TraceWindow.of(args, store);
			query = query.window(window.fromNs(), window.toNs());
		}
		if (!args.has("producer")) {
			return query;
		}
		ProducerTree tree = store.producers();
		if (args.getInt("producer") >= tree.size()) {
			throw new UsageException("there is no event producer " + args.getInt("producer") + ", the last one is "
					+ (tree.size() - 1));
		}
		return query.subtree(tree, (int) args.getInt("producer"));
	}
}
