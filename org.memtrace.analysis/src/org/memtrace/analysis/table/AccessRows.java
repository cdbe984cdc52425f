// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.memtrace.aggregation.AccessMask;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BatchChunk;
import org.memtrace.aggregation.Dimension.Type;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.aggregation.DimensionValues.Kind;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessVisitor;
import org.memtrace.model.store.TraceStore;

/** Rows that are accesses of a memory trace. */
final class AccessRows extends EventRows {
	/** More texts are not put into the order of the alphabet. */
	private static final int MOST_RANKED = 1 << 22;

	private final AccessMask mask;
	private final Map<EventColumn, DimensionValues> values = new HashMap<>();
	private final List<RowTest> tests = new ArrayList<>();
	/** The row whose cells were asked for last. */
	private volatile OneRow last;

	/** A row as a chunk. */
	private record OneRow(Row row, AccessChunk chunk) {
	}

	/** Whether a row of a chunk passes what was typed above a column. */
	private interface CellTest {
		boolean test(AccessChunk c, int row, long value);
	}

	private record RowTest(DimensionValues values, CellTest test) {
	}

	/**
	 * Rows of a trace.
	 *
	 * @param accesses all accesses of the trace
	 */
	AccessRows(TraceStore store, AccessTable accesses, Query query, AccessMask mask, int mostSorted, Progress progress)
			throws MemtraceException {
		super(store, query, EventColumn.ofAccesses(), mostSorted);
		this.mask = mask;
		for (EventColumn c : columns) {
			values.put(c, c.dimension().values(accesses, progress));
		}
		for (Map.Entry<EventColumn, CellFilter> e : cells.entrySet()) {
			tests.add(new RowTest(values.get(e.getKey()), test(e.getKey(), e.getValue())));
		}
	}

	@Override
	public boolean areAccesses() {
		return true;
	}

	/** Texts are compared once for each different one. */
	private CellTest test(EventColumn column, CellFilter f) {
		DimensionValues v = values.get(column);
		if (column.isTime()) {
			long origin = origin(column);
			return (c, row, x) -> f.test((double) (x - origin));
		}
		if (column.isNumber() && v.kind() == Kind.SHARES) {
			return (c, row, x) -> v.isKnown(x) && Arrays.stream(v.members(x)).anyMatch(m -> f.test((double) m));
		}
		if (column.isNumber()) {
			return (c, row, x) -> v.isKnown(x) && f.test((double) v.number(x));
		}
		Map<Long, Boolean> known = new HashMap<>();
		return (c, row, x) -> known.computeIfAbsent(4 * x + direction(v, c, row), k -> f.test(text(column, x, c, row)));
	}

	/** From what times are counted on the screen, in the clock that the column has. */
	private long origin(EventColumn column) {
		return column == EventColumn.START || column == EventColumn.END ? store.info().startNs() : 0;
	}

	/** Whether a record reads and writes, where that makes a difference. */
	private static int direction(DimensionValues v, AccessChunk c, int row) {
		return v.kind() != Kind.BY_DIRECTION ? 0 : (c.writes[row] > 0 ? 2 : 0) + (c.reads[row] > 0 ? 1 : 0);
	}

	/** Which rows of a batch pass all filters; takes away what is of no wanted type. */
	private boolean[] passing(AccessBatch b) {
		boolean[] passing = new boolean[b.count];
		Arrays.fill(passing, true);
		if (mask != null) {
			byte[] wanted = mask.kept(b, new byte[b.count]);
			for (int i = 0; i < b.count; i++) {
				b.reads[i] = (wanted[i] & AccessMask.READS) != 0 ? b.reads[i] : 0;
				b.writes[i] = (wanted[i] & AccessMask.WRITES) != 0 ? b.writes[i] : 0;
				passing[i] = (b.reads[i] | b.writes[i]) != 0;
			}
		}
		if (!tests.isEmpty()) {
			AccessChunk c = BatchChunk.of(b);
			long[] x = new long[b.count];
			for (RowTest t : tests) {
				t.values.read(c, 0, c.leaves, x);
				for (int i = 0; i < b.count; i++) {
					passing[i] = passing[i] && t.test.test(c, i, x[i]);
				}
			}
		}
		return passing;
	}

	@Override
	void matches(Progress progress, Match match) throws MemtraceException {
		KeyOf key = query.sort() == EventColumn.START ? null : key(query.sort());
		AccessVisitor found = b -> {
			boolean[] passing = passing(b);
			long[] keys = key == null ? null : new long[b.count];
			if (key != null) {
				AccessChunk c = BatchChunk.of(b);
				values.get(query.sort()).read(c, 0, c.leaves, keys);
				for (int i = 0; i < b.count; i++) {
					keys[i] = passing[i] ? key.of(c, i, keys[i]) : 0;
				}
			}
			for (int i = 0; i < b.count; i++) {
				if (passing[i]) {
					match.match(b.startNs[i], b.id[i], key == null ? 0 : keys[i]);
				}
			}
			seen(b.count);
		};
		// in the order of time the first rows are shown while the others are still looked for
		store.visitAccesses(storeQuery(), key == null && !query.descending() ? AccessVisitor.early(found) : found, progress);
	}

	/** Sort key of a row. */
	private interface KeyOf {
		long of(AccessChunk c, int row, long value);
	}

	private KeyOf key(EventColumn column) throws MemtraceException {
		DimensionValues v = values.get(column);
		if (v.kind() == Kind.BY_DIRECTION) {
			return (c, row, x) -> 4 * x + direction(v, c, row);
		}
		long size = v.size();
		// pages are in the order of memory, not of names
		if (column.dimension().type() != Type.TEXT || column == EventColumn.PRODUCER || v.kind() == Kind.SHARES || size < 0
				|| size > MOST_RANKED) {
			return (c, row, x) -> Math.max(v.order(x), -Long.MAX_VALUE); // room for the sign of a descending order
		}
		long[] rank = ranks((int) size, v);
		return (c, row, x) -> v.isKnown(x) ? rank[(int) x] : -1;
	}

	/** Places in the order of texts; equal texts have the same one. */
	private static long[] ranks(int n, DimensionValues v) {
		Integer[] order = new Integer[n];
		String[] text = new String[n];
		for (int i = 0; i < n; i++) {
			order[i] = i;
			text[i] = v.text(i, true, true);
		}
		Arrays.sort(order, Comparator.comparing(i -> text[i], String.CASE_INSENSITIVE_ORDER));
		long[] rank = new long[n];
		for (int i = 1; i < n; i++) {
			rank[order[i]] = rank[order[i - 1]] + (text[order[i]].equalsIgnoreCase(text[order[i - 1]]) ? 0 : 1);
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
			boolean[] passing = passing(b);
			for (int i = 0; i < b.count; i++) {
				if (passing[i]) {
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
			passing(b); // they do; but reads or writes may be of no wanted type
			for (int i = 0; i < b.count; i++) {
				visitor.row(row(b, i));
			}
		});
	}

	private static Row row(AccessBatch b, int i) {
		return new Row(b.id[i], b.startNs[i], b.endNs[i], b.producer[i], b.thread[i], b.cpuSet[i], b.reads[i], b.writes[i],
				b.sharing[i], b.node[i], b.flags[i], b.ip[i], b.readOffset[i], b.writeOffset[i], b.firstNs[i], 0, 0, -1, "");
	}

	private AccessChunk chunk(Row r) {
		OneRow known = last; // another thread may ask for another row: then it is made again
		if (known == null || known.row != r) {
			AccessBatch b = new AccessBatch(1);
			b.add(r.startNs(), r.endNs(), r.producer(), r.thread(), r.cpuSet(), r.reads(), r.writes(), r.sharing(), r.node(), r.flags(), r.ip(),
					r.readOffset(), r.writeOffset(), r.firstNs());
			known = new OneRow(r, BatchChunk.of(b));
			last = known;
		}
		return known.chunk;
	}

	private long value(EventColumn column, AccessChunk c) {
		long[] x = new long[1];
		values.get(column).read(c, 0, 1, x);
		return x[0];
	}

	@Override
	Object cell(EventColumn column, Row row) {
		AccessChunk c = chunk(row);
		long x = value(column, c);
		DimensionValues v = values.get(column);
		if (!v.isKnown(x)) {
			return null;
		}
		return switch (column.dimension().type()) {
		case NUMBER -> (Object) v.number(x);
		case ADDRESS -> Long.toHexString(v.number(x));
		case TEXT -> v.text(x, row.reads() > 0, row.writes() > 0);
		};
	}

	@Override
	public String text(EventColumn column, Row row) {
		AccessChunk c = chunk(row);
		return text(column, value(column, c), c, 0);
	}

	private String text(EventColumn column, long x, AccessChunk c, int row) {
		DimensionValues v = values.get(column);
		if (!v.isKnown(x)) {
			return "";
		}
		if (column.isTime()) {
			return time(x - origin(column));
		}
		return switch (column.dimension().type()) {
		case NUMBER -> column == EventColumn.READS || column == EventColumn.WRITES ? String.format(Locale.ROOT, "%,d", v.number(x))
				: Long.toString(v.number(x));
		case ADDRESS -> "0x" + Long.toHexString(v.number(x));
		case TEXT -> v.kind() == Kind.BY_DIRECTION ? ModelText.types(v.text(x, c.reads[row] > 0, c.writes[row] > 0)) : v.text(x, true, true);
		};
	}
}
