// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.table;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.text.Csv;
import org.memtrace.analysis.text.Parts;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * The rows of a table of accesses or events: those of a window, a subtree and some filters, in the order of time or of another
 * column. The rows themselves stay in the store. {@link #scan} reads all of them once and keeps only where each block of
 * {@link #BLOCK} rows begins, or the ids of its rows where they are far apart: at most 16 bytes for 64 rows that are read. In
 * the order of time rows can be fetched while the scan is still going on; in another order when it has ended, and of more than
 * {@link #MOST_SORTED} only the first.
 *
 * <p>One thread scans; all other methods can be called by any thread at any time.
 */
public abstract class EventRows {
	/** Rows that are fetched together. */
	public static final int BLOCK = 256;
	/** Rows that are kept in the order of a column other than time. */
	public static final int MOST_SORTED = 4_000_000;
	/** A block that is spread over more rows than so many times its own keeps the ids of its rows. */
	private static final int SPREAD = 64;

	/**
	 * Which rows in which order.
	 *
	 * @param fromNs start of the window; records that overlap it are in it
	 * @param producer root of the subtree, negative for all
	 * @param filters filters of all views
	 * @param cells what was typed above the columns, without empty texts
	 * @param sort column, {@link EventColumn#START} for the order of time
	 */
	public record Query(long fromNs, long toNs, int producer, FilterSet filters, Map<EventColumn, String> cells,
			EventColumn sort, boolean descending) {
		public Query {
			cells = Map.copyOf(cells);
		}
	}

	/**
	 * A row; of an event of another trace type, value, CPU and parameters are set, of an access the others.
	 *
	 * @param type index of the event type; of an access 0
	 */
	public record Row(long id, long startNs, long endNs, int producer, int thread, int cpuSet, long reads, long writes,
			int sharing, int node, int flags, long ip, int readOffset, int writeOffset, long firstNs, int type, double value, int cpu,
			String parameters) {
	}

	/** Gets rows in order. */
	@FunctionalInterface
	public interface RowVisitor {
		void row(Row row) throws MemtraceException;
	}

	/** Takes what a scan finds. */
	interface Match {
		void match(long startNs, long id, long key);
	}

	/** Blocks of rows in the order of time; bounds are positions (start, id). */
	private static final class Index {
		long count;
		long[] firstNs = new long[64];
		long[] firstId = new long[64];
		long[] lastNs = new long[64];
		long[] lastId = new long[64];
		/** Ids of the rows of a block that is spread, else null. */
		long[][] ids = new long[64][];
		int blocks;
		/** Of the block that is being filled. */
		final long[] open = new long[BLOCK];
		long openSeen;

		void add(long ns, long id, long seen) {
			int in = (int) (count % BLOCK);
			if (in == 0) {
				if (blocks == firstNs.length) {
					int n = 2 * blocks;
					firstNs = Arrays.copyOf(firstNs, n);
					firstId = Arrays.copyOf(firstId, n);
					lastNs = Arrays.copyOf(lastNs, n);
					lastId = Arrays.copyOf(lastId, n);
					ids = Arrays.copyOf(ids, n);
				}
				firstNs[blocks] = ns;
				firstId[blocks] = id;
				openSeen = seen;
				blocks++;
			}
			open[in] = id;
			lastNs[blocks - 1] = ns;
			lastId[blocks - 1] = id;
			count++;
			if (in == BLOCK - 1 && seen - openSeen > (long) BLOCK * SPREAD) {
				ids[blocks - 1] = open.clone();
			}
		}
	}

	final TraceStore store;
	final ProducerTree tree;
	final Query query;
	final List<EventColumn> columns;
	final Map<EventColumn, CellFilter> cells;
	final Parts parts;
	private final Index index = new Index();
	private final int mostSorted;
	/** Ids in the order of the column; null when that is time or not yet known. */
	private volatile int[] sorted;
	private volatile boolean complete;
	private volatile long read;
	private long matched;

	EventRows(TraceStore store, Query query, List<EventColumn> columns, int mostSorted) throws MemtraceException {
		this.store = store;
		this.tree = store.producers();
		this.query = query;
		this.columns = columns;
		this.mostSorted = mostSorted;
		this.parts = new Parts(tree, store.structures());
		this.cells = new HashMap<>();
		for (Map.Entry<EventColumn, String> e : query.cells().entrySet()) {
			if (columns.contains(e.getKey())) {
				cells.put(e.getKey(), CellFilter.parse(e.getKey(), e.getValue(), store.info().isInTicks()));
			}
		}
	}

	/** Whether rows are accesses; otherwise they are events of another trace. */
	public abstract boolean areAccesses();

	/** Columns that these rows have. */
	public final List<EventColumn> columns() {
		return columns;
	}

	public final Query query() {
		return query;
	}

	/** Finds all rows. Once. */
	public final void scan(Progress progress) throws MemtraceException {
		boolean byTime = query.sort() == EventColumn.START;
		RowOrder order = byTime ? null : new RowOrder(mostSorted);
		long sign = query.descending() ? -1 : 1;
		progress.begin("Reading rows", 0);
		matches(progress, (ns, id, key) -> {
			if (byTime) {
				synchronized (index) {
					index.add(ns, id, read);
				}
			} else {
				order.add(sign * key, Math.toIntExact(id));
				matched++;
			}
		});
		if (!byTime) {
			progress.begin("Sorting rows", 0);
			sorted = order.finish(progress);
		}
		complete = true;
	}

	/** Gives all rows that match, in the order of time, and says by {@link #seen} how many were looked at. */
	abstract void matches(Progress progress, Match match) throws MemtraceException;

	/** Rows of positions [first, last] that match, in the order of time; null bounds: all. */
	abstract void between(long[] first, long[] last, Progress progress, RowVisitor visitor) throws MemtraceException;

	/** Rows by id, in this order. */
	abstract void byId(long[] ids, RowVisitor visitor) throws MemtraceException;

	final void seen(int rows) {
		read += rows;
	}

	/** Number of rows that were looked at. */
	public final long read() {
		return read;
	}

	/** Number of rows that can be fetched now; in descending order none before the scan is complete. */
	public final long count() {
		if (query.sort() != EventColumn.START) {
			int[] ids = sorted;
			return ids == null ? 0 : ids.length;
		}
		if (query.descending() && !complete) {
			return 0;
		}
		synchronized (index) {
			return index.count;
		}
	}

	/** Number of rows that match, more than {@link #count} when not all could be kept in order. */
	public final long matched() {
		return query.sort() == EventColumn.START ? count() : complete ? matched : 0;
	}

	/** Whether all rows are known. */
	public final boolean isComplete() {
		return complete;
	}

	/**
	 * Fetches the rows {@code [BLOCK * block, BLOCK * (block + 1))}, fewer at the end. Takes some milliseconds.
	 */
	public final List<Row> block(long block) throws MemtraceException {
		long from = block * BLOCK;
		long to = Math.min(count(), from + BLOCK);
		List<Row> rows = new ArrayList<>(BLOCK);
		if (from >= to) {
			return rows;
		}
		int[] ids = sorted;
		if (ids != null) {
			long[] wanted = new long[(int) (to - from)];
			for (int i = 0; i < wanted.length; i++) {
				wanted[i] = ids[(int) from + i];
			}
			byId(wanted, rows::add);
			return rows;
		}
		if (!query.descending()) {
			return timeBlock((int) block);
		}
		long n = count();
		List<Row> upper = timeBlock((int) ((n - 1 - from) / BLOCK));
		List<Row> lower = timeBlock((int) ((n - to) / BLOCK));
		for (long i = n - 1 - from; i > n - 1 - to; i--) {
			rows.add((i / BLOCK == (n - 1 - from) / BLOCK ? upper : lower).get((int) (i % BLOCK)));
		}
		return rows;
	}

	/**
	 * Fetches one row with the block that it is in. Takes some milliseconds.
	 *
	 * @param index less than {@link #count}
	 */
	public final Row row(long index) throws MemtraceException {
		return block(index / BLOCK).get((int) (index % BLOCK));
	}

	private List<Row> timeBlock(int block) throws MemtraceException {
		long[] first;
		long[] last;
		long[] ids;
		synchronized (index) {
			first = new long[] {index.firstNs[block], index.firstId[block]};
			last = new long[] {index.lastNs[block], index.lastId[block]};
			ids = index.ids[block];
			int filled = (int) Math.min(BLOCK, index.count - (long) block * BLOCK);
			if (filled < BLOCK && block == index.blocks - 1 && read - index.openSeen > (long) BLOCK * SPREAD) {
				ids = Arrays.copyOf(index.open, filled);
			}
		}
		List<Row> rows = new ArrayList<>(BLOCK);
		if (ids != null) {
			byId(ids, rows::add);
		} else {
			between(first, last, Progress.NONE, rows::add);
		}
		return rows;
	}

	/** The first row at or after a time, when the rows are in the order of time; -1 when there is none. */
	public final long firstFrom(long ns) throws MemtraceException {
		return query.sort() != EventColumn.START || query.descending() ? -1 : placeInTime(ns);
	}

	/** The last row that begins at or before a time, when the rows are in the order of time; -1 when there is none. */
	public final long lastUntil(long ns) throws MemtraceException {
		long n = count();
		if (query.sort() != EventColumn.START || n == 0) {
			return -1;
		}
		long next = ns == Long.MAX_VALUE ? -1 : placeInTime(ns + 1);
		long place = next < 0 ? n - 1 : next - 1;
		return place < 0 || !query.descending() ? place : n - 1 - place;
	}

	/** The first row at or after a time, counted from the earliest one; -1 when there is none. */
	private long placeInTime(long ns) throws MemtraceException {
		int block;
		synchronized (index) {
			int low = 0;
			int high = index.blocks;
			while (low < high) { // first block whose last row is not before
				int middle = (low + high) >>> 1;
				if (index.lastNs[middle] < ns) {
					low = middle + 1;
				} else {
					high = middle;
				}
			}
			block = low;
			if (block == index.blocks) {
				return -1;
			}
		}
		List<Row> rows = timeBlock(block);
		int i = 0;
		while (i < rows.size() - 1 && rows.get(i).startNs() < ns) {
			i++;
		}
		return (long) block * BLOCK + i;
	}

	/**
	 * The row of a producer, or of something below it, with exactly these times, of several the earliest; -1 when there is none among
	 * those that are kept.
	 */
	public final long find(int producer, long startNs, long endNs, Progress progress) throws MemtraceException {
		if (query.sort() != EventColumn.START) {
			return findSorted(producer, startNs, endNs, progress);
		}
		if (query.descending() && !complete) {
			return -1;
		}
		long n;
		synchronized (index) {
			n = index.count;
		}
		long from = placeInTime(startNs);
		for (long block = from / BLOCK; from >= 0 && block * BLOCK < n; block++) {
			progress.check();
			List<Row> rows = timeBlock((int) block);
			for (int i = (int) Math.max(0, from - block * BLOCK); i < rows.size(); i++) {
				Row r = rows.get(i);
				if (r.startNs() > startNs) {
					return -1;
				}
				if (is(r, producer, startNs, endNs)) {
					return query.descending() ? n - 1 - (block * BLOCK + i) : block * BLOCK + i;
				}
			}
		}
		return -1;
	}

	private boolean is(Row r, int producer, long startNs, long endNs) {
		return r.startNs() == startNs && r.endNs() == endNs && r.producer() >= producer && r.producer() < tree.subtreeEnd(producer);
	}

	/** The store finds the row by its time, and its id tells where it is in the order of a column. */
	private long findSorted(int producer, long startNs, long endNs, Progress progress) throws MemtraceException {
		int[] ids = sorted;
		if (ids == null) {
			return -1;
		}
		long[] found = {-1};
		between(new long[] {startNs, 0}, new long[] {startNs, Integer.MAX_VALUE - 1}, progress, r -> {
			if (found[0] < 0 && is(r, producer, startNs, endNs)) {
				found[0] = r.id();
			}
		});
		int at = 0;
		while (at < ids.length && ids[at] != found[0]) {
			at++;
		}
		return at < ids.length ? at : -1;
	}

	/** All rows in order, for a file; in the order of time read anew in one go. */
	public final void visit(RowVisitor visitor, Progress progress) throws MemtraceException {
		if (query.sort() == EventColumn.START && !query.descending()) {
			between(null, null, progress, visitor);
			return;
		}
		long n = count();
		progress.begin("Reading rows", n);
		for (long block = 0; block * BLOCK < n; block++) {
			progress.check();
			for (Row r : block(block)) {
				visitor.row(r);
			}
			progress.worked(BLOCK);
		}
	}

	/**
	 * Writes rows as CSV (RFC 4180), as {@code query} and {@code export} write them: times in the clock of the trace, numbers without units.
	 */
	public final void toCsv(List<EventColumn> wanted, Appendable out, Progress progress) throws MemtraceException, IOException {
		toCsv(wanted, out, Long.MAX_VALUE, progress);
	}

	/** Writes only so many rows. */
	public final void toCsv(List<EventColumn> wanted, Appendable out, long most, Progress progress)
			throws MemtraceException, IOException {
		StringBuilder line = new StringBuilder();
		for (EventColumn c : wanted) {
			line.append(line.isEmpty() ? "" : ",").append(store.info().timeUnit().column(c.id()));
		}
		out.append(line).append('\n');
		long[] left = {most};
		try {
			visit(row -> {
				if (left[0]-- <= 0) {
					throw ENOUGH;
				}
				line.setLength(0);
				boolean first = true;
				for (EventColumn c : wanted) {
					if (!first) {
						line.append(',');
					}
					first = false;
					Object cell = cell(c, row);
					line.append(cell == null ? "" : Csv.cell(cell.toString()));
				}
				try {
					out.append(line.append('\n'));
				} catch (IOException e) {
					throw new java.io.UncheckedIOException(e);
				}
			}, progress);
		} catch (java.io.UncheckedIOException e) {
			throw e.getCause();
		} catch (CancelledException e) {
			if (e != ENOUGH) {
				throw e;
			}
		}
	}

	/** Ends the reading of rows from within. */
	private static final CancelledException ENOUGH = new CancelledException();

	/** A cell of a file: a number, a text, or null for what is not known. */
	abstract Object cell(EventColumn column, Row row);

	/** A cell for a person. */
	public abstract String text(EventColumn column, Row row);

	/** Milliseconds with all digits, in groups; or ticks. */
	final String time(long ns) {
		if (store.info().isInTicks()) {
			return String.format(Locale.ROOT, "%,d", ns);
		}
		long a = Math.abs(ns);
		return (ns < 0 ? "-" : "") + String.format(Locale.ROOT, "%,d.%06d", a / 1_000_000, a % 1_000_000);
	}

	final AccessQuery storeQuery() {
		int from = Math.max(0, query.producer());
		int to = query.producer() < 0 ? tree.size() : tree.subtreeEnd(query.producer());
		return new AccessQuery(query.fromNs(), query.toNs(), from, to);
	}
}
