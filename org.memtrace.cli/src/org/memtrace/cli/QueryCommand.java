// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli;

import java.util.List;
import java.util.Locale;
import java.util.TreeMap;

import org.memtrace.model.AccessQuery;
import org.memtrace.model.EventType;
import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.ProducerTree;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.Structure;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceStore;

/** {@code memtrace query}. */
final class QueryCommand implements Command {
	/** Ends a visit when the limit is reached. */
	private static final class Enough extends MemtraceException {
		private static final long serialVersionUID = 1L;

		Enough() {
			super("enough");
		}
	}

	@Override
	public int run(CommandLine args, Console console) throws Exception {
		try (TraceStore store = TraceArgument.open(args.argument(0), console)) {
			String what = args.get("what");
			if (what.equals("report")) {
				console.out().println(store.importReport()
						.orElseThrow(() -> new StoreException("the trace has no import report")));
				return ExitCode.OK;
			}
			long limit = args.has("limit") ? args.getInt("limit") : Long.MAX_VALUE;
			print(store, what, query(args, store), limit, args.get("format"), console);
		} catch (Enough e) {
			return ExitCode.OK;
		}
		return ExitCode.OK;
	}

	private static AccessQuery query(CommandLine args, TraceStore store) throws MemtraceException, UsageException {
		AccessQuery query = AccessQuery.ALL.window(args.has("from") ? args.getInt("from") : Long.MIN_VALUE,
				args.has("to") ? args.getInt("to") : Long.MAX_VALUE);
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

	/** A table with a limit. */
	private record Rows(TablePrinter table, long limit) {
		void add(Object... values) throws Enough {
			if (table.rows() >= limit) {
				throw new Enough();
			}
			table.row(values);
		}
	}

	private static void print(TraceStore store, String what, AccessQuery query, long limit, String format,
			Console console) throws MemtraceException, UsageException {
		String[] columns = switch (what) {
		case "structures" -> new String[] { "id", "image", "kind", "name", "start", "end", "size_bytes", "birth_ns",
				"death_ns", "task", "stack", "site" };
		case "threads" -> new String[] { "index", "image", "task", "name", "birth_ns", "death_ns", "start_routine",
				"main" };
		case "types" -> new String[] { "id", "category", "name" };
		case "producers" -> new String[] { "id", "parent", "kind", "name", "start", "end", "structure" };
		case "intervals" -> new String[] { "image", "start_ns", "end_ns", "target_ns", "faults", "lost",
				"unattributed", "event" };
		case "properties" -> new String[] { "name", "value" };
		case "accesses" -> new String[] { "start_ns", "end_ns", "producer", "name", "task", "cpus", "reads", "writes",
				"sharing", "node", "flags", "ip" };
		case "events" -> new String[] { "id", "type", "producer", "start_ns", "end_ns", "value", "cpu" };
		default -> throw new UsageException("--what is '" + what + "'; see 'memtrace query --help'");
		};
		try (TablePrinter table = new TablePrinter(console.out(), format, columns)) {
			Rows rows = new Rows(table, limit);
			switch (what) {
			case "structures" -> structures(store, rows);
			case "threads" -> threads(store, rows);
			case "producers" -> producers(store, query, rows, format);
			case "accesses" -> accesses(store, query, rows, console.progress());
			case "events" -> events(store, query, rows, console.progress());
			case "types" -> {
				for (EventType t : store.eventTypes()) {
					rows.add(t.id(), t.category().name().toLowerCase(Locale.ROOT), t.name());
				}
			}
			case "intervals" -> {
				for (Interval i : store.intervals()) {
					rows.add(i.image(), i.startNs(), i.endNs(), i.targetNs(), i.faults(), i.lost(), i.unattributed(),
							i.event());
				}
			}
			default -> {
				for (var property : new TreeMap<>(store.info().properties()).entrySet()) {
					rows.add(property.getKey(), property.getValue());
				}
			}
			}
		}
	}

	private static Object death(long ns) {
		return ns == Long.MAX_VALUE ? null : ns;
	}

	private static void structures(TraceStore store, Rows rows) throws MemtraceException {
		for (Structure s : store.structures()) {
			rows.add(s.id(), s.image(), s.kind().name().toLowerCase(Locale.ROOT), s.name(),
					Long.toHexString(s.startAddress()), Long.toHexString(s.endAddress()), s.sizeBytes(), s.birthNs(),
					death(s.deathNs()), s.taskId() < 0 ? null : s.taskId(), s.stack() < 0 ? null : s.stack(), s.site());
		}
	}

	private static void threads(TraceStore store, Rows rows) throws MemtraceException {
		for (ThreadInfo t : store.threads()) {
			rows.add(t.index(), t.image(), t.taskId(), t.name(), t.birthNs(), death(t.deathNs()), t.startRoutine(),
					t.main() ? "yes" : "");
		}
	}

	/** In the text form names are indented by level. */
	private static void producers(TraceStore store, AccessQuery query, Rows rows, String format)
			throws MemtraceException {
		ProducerTree tree = store.producers();
		for (int id = query.producerFrom(); id < Math.min(tree.size(), query.producerTo()); id++) {
			String indent = format.equals("text") ? "  ".repeat(tree.level(id)) : "";
			rows.add(id, tree.parent(id) < 0 ? null : tree.parent(id), tree.kind(id).name().toLowerCase(Locale.ROOT),
					indent + tree.name(id), Long.toHexString(tree.startAddress(id)),
					Long.toHexString(tree.endAddress(id)), tree.structure(id) < 0 ? null : tree.structure(id));
		}
	}

	private static void accesses(TraceStore store, AccessQuery query, Rows rows, Progress progress)
			throws MemtraceException {
		ProducerTree tree = store.producers();
		List<ThreadInfo> threads = store.threads();
		List<java.util.BitSet> cpus = store.cpuSets();
		store.visitAccesses(query, b -> {
			for (int i = 0; i < b.count; i++) {
				rows.add(b.startNs[i], b.endNs[i], b.producer[i], tree.name(b.producer[i]),
						b.thread[i] < 0 ? null : Long.toString(threads.get(b.thread[i]).taskId()),
						b.cpuSet[i] < 0 ? null : cpus.get(b.cpuSet[i]).toString().replaceAll("[{} ]", ""), b.reads[i],
						b.writes[i], b.sharing[i], b.node[i] < 0 ? null : b.node[i], Integer.toHexString(b.flags[i]),
						b.ip[i] == 0 ? null : Long.toHexString(b.ip[i]));
			}
		}, progress);
	}

	private static void events(TraceStore store, AccessQuery query, Rows rows, Progress progress)
			throws MemtraceException {
		TreeMap<Integer, String> types = new TreeMap<>();
		store.eventTypes().forEach(t -> types.put(t.id(), t.name()));
		ProducerTree tree = store.producers();
		store.visitEvents(query, b -> {
			for (int i = 0; i < b.count; i++) {
				rows.add(b.id[i], types.getOrDefault(b.type[i], "?"), tree.name(b.producer[i]), b.startNs[i],
						b.endNs[i], b.value[i], b.cpu[i]);
			}
		}, progress);
	}
}
