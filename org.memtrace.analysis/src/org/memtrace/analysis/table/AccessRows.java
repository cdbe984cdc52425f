// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;

import org.memtrace.aggregation.AccessMask;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.TraceStore;

/** Rows that are accesses of a memory trace. */
final class AccessRows extends EventRows {
	/** By shared (bit 2), writes (bit 1), reads (bit 0). */
	private static final String[] TYPES = {"", "private read", "private write", "private read+write", "", "shared read", "shared write",
		"shared read+write"};

	private final List<ThreadInfo> threads;
	private final List<BitSet> cpuSets;
	private final AccessMask mask;
	private final List<RowTest> tests = new ArrayList<>();

	/** Whether a row of a batch passes. */
	private interface RowTest {
		boolean test(AccessBatch b, int i);
	}

	AccessRows(TraceStore store, Query query, AccessMask mask, int mostSorted) throws MemtraceException {
		super(store, query, EventColumn.OF_ACCESSES, mostSorted);
		threads = store.threads();
		cpuSets = store.cpuSets();
		this.mask = mask;
		for (Map.Entry<EventColumn, CellFilter> e : cells.entrySet()) {
			tests.add(test(e.getKey(), e.getValue()));
		}
	}

	/** Index of the type of an access in the texts of the column. */
	static int typeOf(int sharing, long reads, long writes) {
		return (sharing > 1 ? 4 : 0) + (writes > 0 ? 2 : 0) + (reads > 0 ? 1 : 0);
	}

	/** Texts are compared once for each different one. */
	private RowTest test(EventColumn column, CellFilter f) {
		long origin = store.info().startNs();
		switch (column) {
		case START:
			return (b, i) -> f.test((double) (b.startNs[i] - origin));
		case END:
			return (b, i) -> f.test((double) (b.endNs[i] - origin));
		case READS:
			return (b, i) -> f.test((double) b.reads[i]);
		case WRITES:
			return (b, i) -> f.test((double) b.writes[i]);
		case SHARING:
			return (b, i) -> f.test((double) b.sharing[i]);
		case NODE:
			return (b, i) -> b.node[i] >= 0 && f.test((double) b.node[i]);
		case CODE:
			return (b, i) -> f.test(code(b.ip[i]));
		case TYPE: {
			boolean[] passes = passes(TYPES.length, t -> TYPES[t], f);
			return (b, i) -> passes[typeOf(b.sharing[i], b.reads[i], b.writes[i])];
		}
		case THREAD: {
			boolean[] passes = passes(threads.size() + 1, t -> thread(t - 1), f);
			return (b, i) -> passes[b.thread[i] + 1];
		}
		case CPU: {
			boolean[] passes = new boolean[cpuSets.size() + 1];
			for (int s = 0; s < cpuSets.size(); s++) {
				passes[s + 1] = cpuSets.get(s).stream().anyMatch(cpu -> f.test((double) cpu));
			}
			return (b, i) -> passes[b.cpuSet[i] + 1];
		}
		case STRUCTURE:
			return lazily(id -> f.test(parts.name(id)));
		default:
			return lazily(id -> f.test(tree.name(id)));
		}
	}

	private static boolean[] passes(int n, IntFunction<String> text, CellFilter f) {
		boolean[] passes = new boolean[n];
		for (int i = 0; i < n; i++) {
			passes[i] = f.test(text.apply(i));
		}
		return passes;
	}

	/** Names of producers are made on demand, so is what a filter says of them. */
	private RowTest lazily(IntPredicate test) {
		byte[] known = new byte[tree.size()];
		return (b, i) -> {
			int id = b.producer[i];
			if (known[id] == 0) {
				known[id] = (byte) (test.test(id) ? 1 : 2);
			}
			return known[id] == 1;
		};
	}

	/** What the filters of all views want of each row. */
	private byte[] wanted(AccessBatch b) {
		return mask == null ? null : mask.kept(b, new byte[b.count]);
	}

	/** Whether a row passes all filters; takes away what is of no wanted type. */
	private boolean passes(AccessBatch b, int i, byte[] wanted) {
		if (mask != null) {
			int kept = wanted[i];
			b.reads[i] = (kept & AccessMask.READS) != 0 ? b.reads[i] : 0;
			b.writes[i] = (kept & AccessMask.WRITES) != 0 ? b.writes[i] : 0;
			if ((b.reads[i] | b.writes[i]) == 0) {
				return false;
			}
		}
		for (RowTest t : tests) {
			if (!t.test(b, i)) {
				return false;
			}
		}
		return true;
	}

	@Override
	void matches(Progress progress, Match match) throws MemtraceException {
		KeyOf key = query.sort() == EventColumn.START ? null : key(query.sort());
		store.visitAccesses(storeQuery(), b -> {
			byte[] wanted = wanted(b);
			for (int i = 0; i < b.count; i++) {
				if (passes(b, i, wanted)) {
					match.match(b.startNs[i], b.id[i], key == null ? 0 : key.of(b, i));
				}
			}
			seen(b.count);
		}, progress);
	}

	/** Sort key of a row. */
	private interface KeyOf {
		long of(AccessBatch b, int i);
	}

	private KeyOf key(EventColumn column) {
		switch (column) {
		case END:
			return (b, i) -> b.endNs[i];
		case READS:
			return (b, i) -> b.reads[i];
		case WRITES:
			return (b, i) -> b.writes[i];
		case SHARING:
			return (b, i) -> b.sharing[i];
		case NODE:
			return (b, i) -> b.node[i];
		case CODE:
			return (b, i) -> (b.ip[i] ^ Long.MIN_VALUE) >> 1;
		case TYPE:
			return (b, i) -> typeOf(b.sharing[i], b.reads[i], b.writes[i]);
		case THREAD: {
			long[] rank = ranks(threads.size() + 1, t -> thread(t - 1));
			return (b, i) -> rank[b.thread[i] + 1];
		}
		case CPU:
			return (b, i) -> b.cpuSet[i] < 0 ? -1 : cpuSets.get(b.cpuSet[i]).nextSetBit(0);
		case STRUCTURE: {
			int[] rank = parts.ranks();
			return (b, i) -> {
				int at = parts.rankIndex(b.producer[i]);
				return at < 0 ? -1 : rank[at];
			};
		}
		default: // in the order of memory, not of names
			return (b, i) -> b.producer[i];
		}
	}

	private static long[] ranks(int n, IntFunction<String> text) {
		Integer[] order = new Integer[n];
		for (int i = 0; i < n; i++) {
			order[i] = i;
		}
		Arrays.sort(order, Comparator.comparing(text::apply, String.CASE_INSENSITIVE_ORDER));
		long[] rank = new long[n];
		for (int i = 0; i < n; i++) {
			rank[order[i]] = i;
		}
		return rank;
	}

	@Override
	void between(long[] first, long[] last, Progress progress, RowVisitor visitor) throws MemtraceException {
		long fromNs = first == null ? Long.MIN_VALUE : first[0];
		int fromId = first == null ? 0 : (int) first[1];
		long toNs = last == null ? Long.MAX_VALUE : last[0];
		int toId = last == null ? Integer.MAX_VALUE : (int) last[1] + 1;
		store.visitAccesses(storeQuery(), fromNs, fromId, toNs, toId, b -> {
			byte[] wanted = wanted(b);
			for (int i = 0; i < b.count; i++) {
				if (passes(b, i, wanted)) {
					visitor.row(row(b, i));
				}
			}
		}, progress);
	}

	@Override
	void byId(long[] ids, RowVisitor visitor) throws MemtraceException {
		int[] wanted = new int[ids.length];
		for (int i = 0; i < ids.length; i++) {
			wanted[i] = (int) ids[i];
		}
		store.readAccesses(wanted, b -> {
			byte[] kept = wanted(b);
			for (int i = 0; i < b.count; i++) {
				passes(b, i, kept); // they do; but reads or writes may be of no wanted type
				visitor.row(row(b, i));
			}
		});
	}

	private static Row row(AccessBatch b, int i) {
		return new Row(b.id[i], b.startNs[i], b.endNs[i], b.producer[i], b.thread[i], b.cpuSet[i], b.reads[i], b.writes[i],
				b.sharing[i], b.node[i], b.ip[i], typeOf(b.sharing[i], b.reads[i], b.writes[i]), 0, -1, "");
	}

	@Override
	public String text(EventColumn column, Row row) {
		return switch (column) {
		case THREAD -> thread(row.thread());
		case CPU -> row.cpuSet() < 0 ? "" : cpuSets.get(row.cpuSet()).toString().replaceAll("[{} ]", "");
		case TYPE -> TYPES[row.type()];
		case READS -> String.format(java.util.Locale.ROOT, "%,d", row.reads());
		case WRITES -> String.format(java.util.Locale.ROOT, "%,d", row.writes());
		case SHARING -> Integer.toString(row.sharing());
		case NODE -> row.node() < 0 ? "" : Integer.toString(row.node());
		case CODE -> code(row.ip());
		default -> super.text(column, row);
		};
	}

	private String thread(int index) {
		return index < 0 ? "" : ModelText.thread(threads, index);
	}

	private static String code(long ip) {
		return ip == 0 ? "" : "0x" + Long.toHexString(ip);
	}
}
