// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.memtrace.aggregation.AccessDetails;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.table.StructureTable;
import org.memtrace.analysis.table.StructureTable.Row;
import org.memtrace.analysis.text.TextColumns;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;

/**
 * What a trace shows, in words: the largest structures, who initialises them, who shares and writes them, and what could be
 * tried. Every statement has its figures, every share says of what; what the recorder lost comes first.
 */
public final class TraceSummary {
	/** Structures with a smaller share of all accesses and of all pages are not talked about. */
	private static final double RELEVANT = 0.01;
	/** What happens in a smaller share of the intervals, as at the start or the end of threads, costs nothing. */
	private static final double LASTING = 0.05;
	private static final int LASTING_LEAST = 3;
	/** Share of the accesses to a stack by others than its thread; creating a thread and OpenMP need some. */
	private static final double FOREIGN = 0.25;
	private static final int ROWS = 12;

	private final AccessTable table;
	private final StructureTable structures;
	private final AccessDetails all;

	/**
	 * One observation.
	 *
	 * @param structure name of what it is about
	 * @param text what was seen, with figures
	 * @param advice what could be tried; empty if nothing
	 * @param weight share of all accesses or pages that it concerns, 0..1
	 */
	public record Finding(String structure, String text, String advice, double weight) {
	}

	public TraceSummary(StructureTable structures) {
		this.structures = structures;
		this.table = structures.table();
		this.all = table.details(0, table.producers().size(), Long.MIN_VALUE, Long.MAX_VALUE);
	}

	/** Facts about the whole trace. */
	public AccessDetails all() {
		return all;
	}

	/** One sentence about losses; empty when nothing was lost. */
	public static String lossWarning(TraceInfo info) {
		String losses = info.properties().getOrDefault("losses", "0");
		try {
			long n = Long.parseLong(losses.trim());
			return n <= 0 ? "" : "the recorder lost " + Units.plural(n, "access");
		} catch (NumberFormatException e) {
			return "";
		}
	}

	/**
	 * Observations, the one that concerns most of the trace first. A data structure of the program is worth one however small
	 * it is (false sharing needs no more than a page); stacks and the data of libraries, which the run time system uses from
	 * several threads all the time, only when they matter.
	 */
	public List<Finding> findings() {
		List<Finding> list = new ArrayList<>();
		for (Row r : structures.rows()) {
			double weight = weight(r);
			boolean own = r.kind().equals("static") || r.kind().equals("heap") || r.kind().equals("mmap");
			if (r.details().records() == 0 || weight < RELEVANT && !(own && r.details().writeSharedPages() > 0)) {
				continue;
			}
			firstTouch(r, weight, list);
			writeSharing(r, weight, list);
			foreignStack(r, weight, list);
		}
		list.sort(Comparator.comparingDouble((Finding f) -> -f.weight()).thenComparing(Finding::structure));
		return list;
	}

	private double weight(Row r) {
		double accesses = all.accesses() > 0 ? r.accesses() / all.accesses() : 0;
		double pages = all.pages() > 0 ? (double) r.details().pages() / all.pages() : 0;
		return Math.max(accesses, pages);
	}

	/** One thread touches (nearly) everything first, others do the work: pages are placed where the first one runs. */
	private void firstTouch(Row r, double weight, List<Finding> list) {
		AccessDetails d = r.details();
		int first = r.firstToucher();
		if (first < 0 || first >= d.accessesByThread().length || r.firstTouchShare() < 0.9 || d.pages() < 4 || d.accesses() <= 0) {
			return;
		}
		int others = d.threads().cardinality() - 1;
		double byOthers = 1 - (d.accessesByThread()[first] + d.unattributed()) / d.accesses();
		if (others < 2 || byOthers < 0.3) {
			return;
		}
		double common = (double) d.handedOnPages() / d.pages();
		boolean shared = common >= 0.5;
		String text = structures.threadName(first) + " touches " + percent(r.firstTouchShare()) + " of its "
				+ Units.plural(d.pages(), "page") + " first; " + Units.plural(others, "other thread") + " make "
				+ percent(byOthers) + " of its accesses" + "; " + percent(common)
				+ " of the pages are used by several of them";
		String advice = shared
				? "on several NUMA nodes all pages lie on the node of " + structures.threadName(first)
						+ ": interleave them over the nodes"
						+ (d.sharedWrites() < 0.01 * d.accesses() ? ", or give each node a copy (it is hardly written)" : "")
				: "on several NUMA nodes all pages lie on the node of " + structures.threadName(first)
						+ ": initialise in parallel, each thread the part that it uses later";
		list.add(new Finding(r.name(), text, advice, weight));
	}

	/** Pages that are written while other threads use them, again and again; stacks have {@link #foreignStack}. */
	private void writeSharing(Row r, double weight, List<Finding> list) {
		AccessDetails d = r.details();
		if (d.writeSharedPages() == 0 || r.kind().equals("stack") || d.writeSharedIntervals() < Math.max(LASTING_LEAST, LASTING * table.intervals())
				|| d.sharedWrites() < 0.05 * d.writes() && d.writeSharedPages() < 0.1 * d.pages()) {
			return;
		}
		String text = "of its " + Units.plural(d.pages(), "page") + " " + Units.count(d.writeSharedPages()) + (d.writeSharedPages() == 1 ? " is" : " are")
				+ " written while another thread uses " + (d.writeSharedPages() == 1 ? "it" : "them") + "; "
				+ percent(d.writes() > 0 ? d.sharedWrites() / d.writes() : 0) + " of its writes are such writes, in "
				+ d.writeSharedIntervals() + " of " + Units.plural(table.intervals(), "interval") + ", by or beside "
				+ Units.plural(d.threads().cardinality(), "thread");
		String advice = d.pages() <= 4
				? "if the threads write different variables, this is false sharing: align the data of each thread to a cache line of its own"
				: "check whether the threads could work on separate pages; cache lines and, between NUMA nodes, pages travel";
		list.add(new Finding(r.name(), text, advice, weight));
	}

	/** A thread stack that other threads use. */
	private void foreignStack(Row r, double weight, List<Finding> list) {
		if (!r.kind().equals("stack") || r.threadCount() < 2 || r.details().accesses() <= 0) {
			return;
		}
		double most = 0;
		for (double a : r.details().accessesByThread()) {
			most = Math.max(most, a);
		}
		double foreign = 1 - (most + r.details().unattributed()) / r.details().accesses();
		if (foreign < FOREIGN) {
			return;
		}
		list.add(new Finding(r.name(), Units.plural(r.threadCount(), "thread") + " use this stack; " + percent(foreign)
				+ " of its accesses are not by its main user", "data of a stack cannot be placed: move what is shared to the heap",
				weight));
	}

	private static String percent(double share) {
		return Units.percent(100 * Math.min(1, Math.max(0, share)));
	}

	/** The text. */
	public String text() {
		StringBuilder b = new StringBuilder();
		TraceInfo info = table.info();
		b.append(info.alias()).append('\n').append("=".repeat(Math.max(1, info.alias().length()))).append("\n\n");
		Map<String, String> p = info.properties();
		if (!p.getOrDefault("command", "").isEmpty()) {
			b.append("Command    ").append(p.get("command")).append('\n');
		}
		b.append("Recorded   ").append(Units.duration(info, info.durationNs())).append(", ")
				.append(all.threads().cardinality()).append(" of ")
				.append(Units.plural(table.threads().size(), "thread")).append(" with accesses\n");
		long page = Math.max(1, info.pageSizeBytes());
		b.append("Memory     ").append(Units.plural(all.pages(), "page")).append(" touched (")
				.append(Units.bytes(all.pages() * page)).append("), ")
				.append(all.pages() == 0 ? "" : percent((double) all.multiThreadPages() / all.pages())
						+ " of them by several threads, " + percent((double) all.sharedPages() / all.pages()) + " at the same time")
				.append('\n');
		b.append("Accesses   ").append(Units.count(all.accesses())).append(" recorded (")
				.append(percent(all.accesses() > 0 ? all.reads() / all.accesses() : 0)).append(" reads) in ")
				.append(Units.plural(all.records(), "record"));
		if (all.unattributed() > 0) {
			b.append("; ").append(percent(all.unattributed() / all.accesses())).append(" without a known thread");
		}
		b.append('\n');
		String losses = lossWarning(info);
		b.append("Losses     ").append(losses.isEmpty() ? "none known to the recorder" : losses
				+ ": what follows is about the rest").append('\n');
		if (p.containsKey("guarantee_pages")) {
			b.append("Recorder   ").append(p.getOrDefault("backend", "?")).append(": pages ").append(p.get("guarantee_pages"))
					.append(", threads ").append(p.getOrDefault("guarantee_threads", "?")).append(", writes ")
					.append(p.getOrDefault("guarantee_writes", "?")).append('\n');
		}
		b.append('\n');
		table(b);
		List<Finding> findings = findings();
		b.append("\nWhat stands out\n\n");
		if (findings.isEmpty()) {
			b.append("Nothing: no structure with ").append(Units.percent(100 * RELEVANT))
					.append(" or more of the accesses or pages is initialised by one thread for others or written by several"
							+ " threads at a time.\n");
		}
		for (Finding f : findings) {
			wrap(b, "* " + f.structure() + ": " + f.text() + ".", "  ");
			if (!f.advice().isEmpty()) {
				wrap(b, "  > " + f.advice().substring(0, 1).toUpperCase(Locale.ROOT) + f.advice().substring(1) + ".", "    ");
			}
		}
		return b.toString();
	}

	private void table(StringBuilder b) {
		List<Row> rows = new ArrayList<>(structures.rows());
		rows.removeIf(r -> r.details().records() == 0);
		rows.sort(Comparator.comparingDouble((Row r) -> -r.accesses()).thenComparing(Row::producer));
		List<String[]> cells = new ArrayList<>();
		cells.add(new String[] {"Structure", "Kind", "Size", "Accesses", "Reads", "Threads", "Shared", "First touch"});
		double rest = 0;
		for (int i = 0; i < rows.size(); i++) {
			Row r = rows.get(i);
			if (i >= ROWS) {
				rest += r.accesses();
				continue;
			}
			cells.add(new String[] {TextColumns.cut(r.name(), 32), r.kind(), Units.bytes(r.sizeBytes()),
				percent(all.accesses() > 0 ? r.accesses() / all.accesses() : 0),
				percent(r.accesses() > 0 ? r.details().reads() / r.accesses() : 0), Integer.toString(r.threadCount()),
				Units.percent(r.sharedPercent()),
				r.firstToucher() < 0 ? "?" : structures.threadName(r.firstToucher())
						+ (r.firstTouchShare() > 0.995 ? "" : " " + percent(r.firstTouchShare()))});
		}
		TextColumns.columns(b, cells, "llrrrrrl");
		if (rows.size() > ROWS) {
			b.append("and ").append(rows.size() - ROWS).append(" more with ")
					.append(percent(all.accesses() > 0 ? rest / all.accesses() : 0)).append(" of the accesses\n");
		}
		b.append("Accesses: share of all accesses. Reads, Shared: share of the accesses of the structure;"
				+ " shared: another thread used the page in the same interval.\n");
		if (table.info().properties().getOrDefault("guarantee_threads", "all").startsWith("first")) {
			b.append("This recorder is certain only of the first thread on a page in each subphase: shared is a lower bound;"
					+ " more --subphases see more.\n");
		}
	}

	private static void wrap(StringBuilder b, String text, String indent) {
		int width = 0;
		boolean first = true;
		for (String word : text.split("(?<=\\S) (?!%)")) {
			if (!first && width + 1 + word.length() > 100) {
				b.append('\n').append(indent);
				width = indent.length();
			} else if (!first) {
				b.append(' ');
				width++;
			}
			b.append(word);
			width += word.length();
			first = false;
		}
		b.append('\n');
	}

	/** For tests and views: threads of the trace. */
	public List<ThreadInfo> threads() {
		return table.threads();
	}
}
