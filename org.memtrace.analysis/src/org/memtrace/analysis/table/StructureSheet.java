// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.table;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.regex.Pattern;

import org.memtrace.aggregation.AccessDetails;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.table.StructureTable.Row;
import org.memtrace.analysis.text.Csv;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.analysis.text.Parts;
import org.memtrace.analysis.text.SharedText;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CountUnit;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.Lives;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.tree.ProducerTree;

/**
 * Figures of all structures, stacks and ranges in a window and a subtree, as columns: about 80 bytes for a row, so that a
 * million of them can be sorted and searched. Rows are in the order of memory. Immutable.
 */
public final class StructureSheet {
	/** A column. */
	public enum Column {
		NAME("Name", "Name of the structure, stack or range", false), KIND("Kind", "Where it comes from", false),
		SIZE("Size", "Size of the structure", true), ACCESSES(null, null, true),
		READS("Reads", "Those that were reads", true), WRITES("Writes", "Those that were writes", true),
		PAGES("Pages", "Pages that were used", true), THREADS("Threads", "Threads that used it", true),
		FIRST_TOUCHER("First toucher", "Thread that used most of its pages first, and the share of pages it was first on", false),
		SHARED("Shared", " that were to a page which another thread used at the same time", true),
		LIFETIME("Lifetime", "From birth to death within the trace", true),
		SITE("Site", "File and line where it was allocated or defined", false),
		CALLERS("Called from", "Functions that led to the allocation, the innermost first", false);

		private final String title;
		private final String meaning;
		private final boolean number;

		Column(String title, String meaning, boolean number) {
			this.title = title;
			this.meaning = meaning;
			this.number = number;
		}

		/** Head of the column for a trace whose numbers count what {@code unit} says. */
		public String title(CountUnit unit) {
			return this == ACCESSES ? unit.title() : title;
		}

		/** What the column tells, in a sentence. */
		public String meaning(CountUnit unit) {
			return this == ACCESSES ? unit.meaning() : this == SHARED ? "Share of the " + unit.plural() + meaning : meaning;
		}

		/**
		 * As the other, when not the whole run is looked at: who was first in a window, or of what a filter lets pass, may not be who was
		 * first at all, which decides on which node a page is.
		 */
		public String title(CountUnit unit, boolean part) {
			return part && this == FIRST_TOUCHER ? "First toucher in window" : title(unit);
		}

		/** As the other, when not the whole run is looked at. */
		public String meaning(CountUnit unit, boolean part) {
			return part && this == FIRST_TOUCHER ? "Thread that used most of its pages first of all accesses that are shown, and the share of pages it"
					+ " was first on; without window and filters it may be another one" : meaning(unit);
		}

		public boolean isNumber() {
			return number;
		}
	}


	private static final int CHECK_EVERY = 0x3ff;

	private final AccessTable table;
	private final ProducerTree tree;
	private final IntFunction<String> callers;
	private final int[] producer;
	private final Structure[] structure;
	private final long[] size;
	private final double[] reads;
	private final double[] writes;
	private final float[] sharedPercent;
	private final float[] notKnownPercent;
	private final int[] pages;
	private final int[] threads;
	private final int[] firstToucher;
	private final float[] firstShare;
	private final long[] lifetimeNs;
	private final long[] firstNs;
	private final long[] lastNs;

	private StructureSheet(AccessTable table, int[] producer, IntFunction<String> callers) {
		this.table = table;
		this.tree = table.producers();
		this.callers = callers;
		this.producer = producer;
		int n = producer.length;
		structure = new Structure[n];
		size = new long[n];
		reads = new double[n];
		writes = new double[n];
		sharedPercent = new float[n];
		notKnownPercent = new float[n];
		pages = new int[n];
		threads = new int[n];
		firstToucher = new int[n];
		firstShare = new float[n];
		lifetimeNs = new long[n];
		firstNs = new long[n];
		lastNs = new long[n];
	}

	/**
	 * Computes the figures.
	 *
	 * @param table the accesses that count
	 * @param shown only what is in the subtree of this producer, or holds it; negative for all
	 * @param callers text for a call stack by its id; asked when a text is needed
	 */
	public static StructureSheet of(AccessTable table, List<Structure> structures, long fromNs, long toNs, int shown,
			IntFunction<String> callers, Progress progress) throws MemtraceException {
		ProducerTree tree = table.producers();
		int from = Math.max(0, shown);
		int to = shown < 0 ? tree.size() : tree.subtreeEnd(shown);
		int[] rows = Parts.ids(tree, -1).stream().filter(id -> id < to && tree.subtreeEnd(id) > from)
				.mapToInt(Integer::intValue).toArray();
		StructureSheet s = new StructureSheet(table, rows, callers);
		long start = table.info().startNs();
		long stop = table.info().endNs();
		int[] first = Arrays.stream(rows).map(id -> Math.max(id, from)).toArray();
		int[] end = Arrays.stream(rows).map(id -> Math.min(tree.subtreeEnd(id), to)).toArray();
		List<AccessDetails> details = table.details(first, end, fromNs, toNs, progress);
		Lives lives = Lives.of(structures);
		for (int i = 0; i < rows.length; i++) {
			Row r = StructureTable.row(tree, structures, lives, rows[i], details.get(i));
			s.structure[i] = r.structure();
			s.size[i] = r.sizeBytes();
			s.reads[i] = r.details().reads();
			s.writes[i] = r.details().writes();
			s.sharedPercent[i] = (float) r.sharedPercent();
			s.notKnownPercent[i] = (float) r.notKnownPercent();
			s.pages[i] = r.details().pages();
			s.threads[i] = r.threadCount();
			s.firstToucher[i] = r.firstToucher();
			s.firstShare[i] = (float) r.firstTouchShare();
			s.lifetimeNs[i] = r.lifetimeNs(start, stop);
			s.firstNs[i] = r.details().records() == 0 ? Long.MIN_VALUE : r.details().firstNs();
			s.lastNs[i] = r.details().lastNs();
		}
		return s;
	}

	/** Number of rows. */
	public int size() {
		return producer.length;
	}

	/** Event producer of a row. */
	public int producer(int row) {
		return producer[row];
	}

	/** The row of a producer, of what holds it, or the first one within it; -1 if there is none. */
	public int rowOf(int id) {
		if (id < 0) {
			return -1;
		}
		int i = Arrays.binarySearch(producer, id);
		if (i >= 0) {
			return i;
		}
		int before = -i - 2;
		if (before >= 0 && id < tree.subtreeEnd(producer[before])) {
			return before;
		}
		return before + 1 < producer.length && producer[before + 1] < tree.subtreeEnd(id) ? before + 1 : -1;
	}

	/** Call site, empty when not known. */
	public String site(int row) {
		Structure s = structure[row];
		return s == null || s.site() == null ? "" : s.site();
	}

	private String kind(int row) {
		return structure[row] != null ? structure[row].kind().name().toLowerCase(Locale.ROOT)
				: tree.kind(producer[row]).name().toLowerCase(Locale.ROOT);
	}

	/** A cell for a person. */
	public String text(Column column, int row) {
		return switch (column) {
		case NAME -> tree.name(producer[row]);
		case KIND -> kind(row);
		case SIZE -> Units.bytes(size[row]);
		case FIRST_TOUCHER -> firstToucher[row] < 0 ? ""
				: ModelText.thread(table.threads(), firstToucher[row]) + "  " + Units.percent(100.0 * firstShare[row]);
		case SHARED -> reads[row] + writes[row] == 0 ? "" : SharedText.of(sharedPercent[row], notKnownPercent[row]);
		case LIFETIME -> Units.duration(table.info(), lifetimeNs[row]);
		case SITE -> site(row).substring(site(row).lastIndexOf('/') + 1);
		case CALLERS -> structure[row] == null || structure[row].stack() < 0 ? "" : callers.apply(structure[row].stack());
		default -> Units.count(number(column, row));
		};
	}

	/** The number that a column is sorted by. */
	double number(Column column, int row) {
		return switch (column) {
		case SIZE -> size[row];
		case ACCESSES -> reads[row] + writes[row];
		case READS -> reads[row];
		case WRITES -> writes[row];
		case PAGES -> pages[row];
		case THREADS -> threads[row];
		case SHARED -> reads[row] + writes[row] == 0 ? -1 : sharedPercent[row];
		case LIFETIME -> lifetimeNs[row];
		default -> throw new IllegalArgumentException(column + " is no number");
		};
	}

	/**
	 * Rows that have a text in one of their columns, in an order.
	 *
	 * @param filter a part of a text in small or capital letters, or a regular expression between slashes; empty for all
	 * @param unused whether rows without accesses are wanted
	 */
	public int[] arrange(String filter, boolean unused, Column sort, boolean descending, Progress progress) throws MemtraceException {
		int[] rows = new int[size()];
		int n = 0;
		Pattern pattern = filter.length() > 2 && filter.startsWith("/") && filter.endsWith("/") ? pattern(filter) : null;
		String small = filter.toLowerCase(Locale.ROOT);
		progress.begin("Sorting structures", 0);
		for (int row = 0; row < rows.length; row++) {
			if ((row & CHECK_EVERY) == 0) {
				progress.check();
			}
			if ((unused || reads[row] + writes[row] > 0) && (filter.isEmpty() || matches(row, small, pattern))) {
				rows[n++] = row;
			}
		}
		rows = Arrays.copyOf(rows, n);
		long[] key = keys(rows, sort, progress);
		long sign = descending ? -1 : 1;
		RowOrder order = new RowOrder(Math.max(1, n));
		for (int row : rows) {
			order.add(sign * key[row], row);
		}
		return order.finish(progress);
	}

	private static Pattern pattern(String filter) {
		try {
			return Pattern.compile(filter.substring(1, filter.length() - 1), Pattern.CASE_INSENSITIVE);
		} catch (java.util.regex.PatternSyntaxException e) {
			return null; // while it is being typed: as text
		}
	}

	private boolean matches(int row, String small, Pattern pattern) {
		for (Column c : Column.values()) {
			if (!c.isNumber()) {
				String text = c == Column.SITE ? site(row) : text(c, row);
				if (pattern != null ? pattern.matcher(text).find() : text.toLowerCase(Locale.ROOT).contains(small)) {
					return true;
				}
			}
		}
		return false;
	}

	/** For each row a number in the order of the column. */
	private long[] keys(int[] rows, Column sort, Progress progress) throws MemtraceException {
		long[] key = new long[size()];
		if (sort.isNumber()) {
			for (int row : rows) {
				long bits = Double.doubleToLongBits(number(sort, row));
				key[row] = (bits ^ bits >> 63 & Long.MAX_VALUE) >> 1;
			}
			return key;
		}
		String[] text = new String[size()];
		Integer[] order = new Integer[rows.length];
		for (int i = 0; i < rows.length; i++) {
			if ((i & CHECK_EVERY) == 0) {
				progress.check();
			}
			text[rows[i]] = text(sort, rows[i]);
			order[i] = rows[i];
		}
		Arrays.parallelSort(order, (a, b) -> text[a].compareToIgnoreCase(text[b]));
		for (int i = 1; i < order.length; i++) {
			key[order[i]] = key[order[i - 1]] + (text[order[i]].equalsIgnoreCase(text[order[i - 1]]) ? 0 : 1);
		}
		return key;
	}

	/** Some rows as CSV (RFC 4180), one header line; times in ns, sizes in bytes. */
	public String toCsv(int[] rows) {
		StringBuilder b = new StringBuilder("name,kind,size_bytes,pages,accesses,reads,writes,threads,first_toucher,"
				+ "first_touch_percent,shared_percent,shared_not_known_percent,lifetime_ns,first_ns,last_ns,site,called_from\n");
		for (int r : rows) {
			b.append(Csv.cell(text(Column.NAME, r))).append(',').append(kind(r)).append(',').append(size[r]).append(',').append(pages[r])
					.append(',').append(Math.round(reads[r] + writes[r])).append(',').append(Math.round(reads[r])).append(',')
					.append(Math.round(writes[r])).append(',').append(threads[r]).append(',')
					.append(Csv.cell(firstToucher[r] < 0 ? "" : ModelText.thread(table.threads(), firstToucher[r]))).append(',')
					.append(String.format(Locale.ROOT, "%.1f", 100 * firstShare[r])).append(',')
					.append(String.format(Locale.ROOT, "%.1f", sharedPercent[r])).append(',')
					.append(String.format(Locale.ROOT, "%.1f", notKnownPercent[r])).append(',').append(lifetimeNs[r]).append(',')
					.append(firstNs[r] == Long.MIN_VALUE ? "," : firstNs[r] + "," + lastNs[r]).append(',').append(Csv.cell(site(r))).append(',')
					.append(Csv.cell(text(Column.CALLERS, r))).append('\n');
		}
		return b.toString();
	}
}
