// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

import org.memtrace.aggregation.AccessDetails;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.analysis.text.SharedText;
import org.memtrace.analysis.text.Parts;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.Lives;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;

/** A row of figures for each structure, stack and range of a trace, in the order of the tree. */
public final class StructureTable {
	/**
	 * One structure.
	 *
	 * @param producer id of its producer
	 * @param name name
	 * @param kind such as heap or stack
	 * @param structure what is known from the program, of several blocks as one ({@link Lives#asOne}), or null for a range
	 * @param sizeBytes size; of several blocks, the most bytes that lived at one time
	 * @param details figures over the whole trace (or the window)
	 * @param firstToucher thread that first used most of its pages, -1 unknown
	 * @param firstTouchShare share of the pages with a known first thread that it used first, 0..1
	 */
	public record Row(int producer, String name, String kind, Structure structure, long sizeBytes, AccessDetails details,
			int firstToucher, double firstTouchShare) {
		public double accesses() {
			return details.accesses();
		}

		/** Share of the accesses that met another thread on the page at that time, in per cent. */
		public double sharedPercent() {
			return 100 * details.sharedFraction();
		}

		/** Share of the accesses of which it is not known whether they did, in per cent. */
		public double notKnownPercent() {
			return 100 * details.notKnownFraction();
		}

		/**
		 * {@link #firstTouchShare} for a person: empty for all pages, and where the first thread of some is not known the limits between
		 * which it is.
		 */
		public String firstTouchText() {
			int pages = details.pages();
			long known = Arrays.stream(details.firstTouchPages()).asLongStream().sum();
			if (firstToucher < 0 || pages == 0) {
				return "";
			}
			double low = 100.0 * details.firstTouchPages()[firstToucher] / pages;
			return low > ALL ? "" : SharedText.of(low, 100.0 * Math.max(0, pages - known) / pages);
		}

		/** Number of threads. */
		public int threadCount() {
			return details.threads().cardinality();
		}

		/** Call site, empty when not known. */
		public String site() {
			return structure == null || structure.site() == null ? "" : structure.site();
		}

		/** From birth (or the first access) to death (or the last access), clipped to the trace. */
		public long lifetimeNs(long traceStartNs, long traceEndNs) {
			long from = structure == null ? details.firstNs() : Math.max(traceStartNs, structure.birthNs());
			long to = structure == null ? details.lastNs() : Math.min(traceEndNs, structure.deathNs());
			return Math.max(0, to - from);
		}
	}

	private static final double ALL = 99.5;

	private final AccessTable table;
	private final List<Row> rows;

	private StructureTable(AccessTable table, List<Row> rows) {
		this.table = table;
		this.rows = List.copyOf(rows);
	}

	/** Figures over the whole trace. */
	public static StructureTable of(AccessTable table, List<Structure> structures, Progress progress)
			throws MemtraceException {
		return of(table, structures, Long.MIN_VALUE, Long.MAX_VALUE, progress);
	}

	/** Figures over a window of time. */
	public static StructureTable of(AccessTable table, List<Structure> structures, long fromNs, long toNs,
			Progress progress) throws MemtraceException {
		ProducerTree tree = table.producers();
		List<Integer> ids = Parts.ids(tree, -1);
		int[] from = ids.stream().mapToInt(Integer::intValue).toArray();
		int[] to = ids.stream().mapToInt(tree::subtreeEnd).toArray();
		List<AccessDetails> details = table.details(from, to, fromNs, toNs, progress);
		List<Row> rows = new ArrayList<>();
		Lives lives = Lives.of(structures);
		for (int i = 0; i < from.length; i++) {
			rows.add(row(tree, structures, lives, from[i], details.get(i)));
		}
		return new StructureTable(table, rows);
	}

	/**
	 * Size of what is not one structure. The members of a group lie anywhere: what counts are they, or their touched pages when several
	 * share these; not the distance from the first to the last.
	 */
	static long sizeBytes(ProducerTree tree, List<Structure> structures, int id) {
		if (tree.kind(id) != ProducerKind.GROUP) {
			return tree.endAddress(id) - tree.startAddress(id);
		}
		long sum = 0;
		for (int part = id + 1; part < tree.subtreeEnd(id);) {
			int s = tree.structure(part);
			boolean one = s >= 0 && s < structures.size() && (tree.kind(part) == ProducerKind.STRUCTURE || tree.kind(part) == ProducerKind.STACK);
			sum += one ? structures.get(s).sizeBytes() : tree.isLeaf(part) ? tree.endAddress(part) - tree.startAddress(part) : 0;
			part = one ? tree.subtreeEnd(part) : part + 1;
		}
		return sum;
	}

	/** The row of a producer. */
	static Row row(ProducerTree tree, List<Structure> structures, Lives lives, int id, AccessDetails d) {
		int s = tree.structure(id);
		Structure structure = s < 0 || s >= structures.size() ? null
				: tree.kind(id) == ProducerKind.GROUP ? lives.asOne(s) : structures.get(s);
		long size = structure != null ? structure.sizeBytes() : sizeBytes(tree, structures, id);
		String kind = structure != null ? structure.kind().name().toLowerCase(Locale.ROOT)
				: tree.kind(id).name().toLowerCase(Locale.ROOT);
		int most = -1;
		long known = 0;
		for (int t = 0; t < d.firstTouchPages().length; t++) {
			known += d.firstTouchPages()[t];
			if (d.firstTouchPages()[t] > 0 && (most < 0 || d.firstTouchPages()[t] > d.firstTouchPages()[most])) {
				most = t;
			}
		}
		return new Row(id, tree.name(id), kind, structure, size, d, most,
				most < 0 ? 0 : (double) d.firstTouchPages()[most] / known);
	}

	/** Rows in the order of the tree. */
	public List<Row> rows() {
		return rows;
	}

	public AccessTable table() {
		return table;
	}

	/** Name of a thread for a cell of the table. */
	public String threadName(int index) {
		return index < 0 ? "" : ModelText.thread(table.threads(), index);
	}

	/** As CSV (RFC 4180), one header line; times in ns, sizes in bytes. */
	public String toCsv() {
		StringBuilder b = new StringBuilder("name,kind,size_bytes,pages,accesses,reads,writes,threads,first_toucher,"
				+ "first_touch_percent,shared_percent,shared_not_known_percent,first_ns,last_ns,site\n");
		for (Row r : rows) {
			AccessDetails d = r.details();
			List<String> cells = List.of(r.name(), r.kind(), Long.toString(r.sizeBytes()), Integer.toString(d.pages()),
					whole(d.accesses()), whole(d.reads()), whole(d.writes()), Integer.toString(r.threadCount()),
					threadName(r.firstToucher()), String.format(Locale.ROOT, "%.1f", 100 * r.firstTouchShare()),
					String.format(Locale.ROOT, "%.1f", r.sharedPercent()),
					String.format(Locale.ROOT, "%.1f", r.notKnownPercent()), d.records() == 0 ? "" : Long.toString(d.firstNs()),
					d.records() == 0 ? "" : Long.toString(d.lastNs()), r.site());
			b.append(cells.stream().map(StructureTable::quoted).collect(Collectors.joining(","))).append('\n');
		}
		return b.toString();
	}

	private static String whole(double n) {
		return Long.toString(Math.round(n));
	}

	private static String quoted(String s) {
		return s.matches("[^\",\r\n]*") ? s : '"' + s.replace("\"", "\"\"") + '"';
	}
}
