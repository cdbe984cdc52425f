// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import org.memtrace.aggregation.AccessDetails;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.source.TickShares;
import org.memtrace.analysis.table.StructureTable.Row;
import org.memtrace.analysis.table.StructureTable;
import org.memtrace.analysis.text.SharedText;
import org.memtrace.analysis.text.TextColumns;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CountUnit;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Interval;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.RankNames;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/**
 * What a trace shows, in words: the largest structures, who initialises them, who shares and writes them. Every share says of what; what
 * the recorder lost comes first. What is wrong is said by an {@link Advisor}.
 */
public final class TraceSummary {
	private static final int ROWS = 12;
	private static final int ADVISED = 5;
	/** Share of the accesses to memory without a name that is told, and that of a reason. */
	private static final double WITHOUT_NAMES = 0.05;
	private static final double LITTLE = 0.005;
	private static final Pattern SOURCE_LINE = Pattern.compile(".*[^/]:[0-9]+");

	private final AccessTable table;
	private final StructureTable structures;
	private final AccessDetails all;
	private final long residentBytes;
	private final long processes;
	private final long touchedPages;
	private final TickShares shares;
	private final RankNames names;
	private final TimeSummary time;
	private final FineSummary fine;

	public TraceSummary(StructureTable structures) throws MemtraceException {
		this.structures = structures;
		this.table = structures.table();
		this.all = table.details(0, table.producers().size(), Long.MIN_VALUE, Long.MAX_VALUE);
		List<Interval> intervals = table.store().intervals();
		residentBytes = intervals.stream().mapToLong(i -> i.measured().residentBytes()).max().orElse(-1);
		processes = intervals.stream().mapToInt(Interval::image).distinct().count();
		touchedPages = Math.min(all.pages(), pages(table.producers(), Math.max(1, table.info().pageSizeBytes())));
		fine = FineSummary.of(table.store());
		shares = TickShares.of(table.store());
		names = RankNames.of(table.producers(), table.store().structures());
		time = new TimeSummary(shares, table.info(), names);
	}

	/** Pages of a tree: one that several structures lay on, at one time or one after the other, is one page of its process. */
	private static long pages(ProducerTree tree, int pageBytes) {
		long[] pages = new long[tree.size()];
		long distinct = 0;
		int n = 0;
		for (int id = 0; id <= tree.size(); id++) {
			if (id == tree.size() || tree.kind(id) == ProducerKind.IMAGE) {
				distinct += LongStream.of(pages).limit(n).sorted().distinct().count();
				n = 0;
			} else if (tree.isLeaf(id)) {
				pages[n++] = Long.divideUnsigned(tree.startAddress(id), pageBytes);
			}
		}
		return distinct;
	}

	/** Facts about the whole trace. */
	public AccessDetails all() {
		return all;
	}

	/**
	 * One sentence about all that makes a picture less than exact: {@link TraceInfo#windows}, {@link #losses} and {@link #maybeUntouched};
	 * empty when nothing does.
	 */
	public static String lossWarning(TraceInfo info) {
		return Stream.of(info.windows(), losses(info), maybeUntouched(info)).filter(s -> !s.isEmpty()).collect(Collectors.joining("; "));
	}

	/** How many records are of pages that may not have been touched, and why; empty when none is. */
	public static String maybeUntouched(TraceInfo info) {
		return info.properties().getOrDefault(TraceInfo.PROPERTY_MAYBE_UNTOUCHED, "");
	}

	/** How many intervals took longer than they should; empty when none did. */
	private static String late(TraceInfo info) {
		return info.properties().getOrDefault(TraceInfo.PROPERTY_LATE, "");
	}

	/** By how much recording made the run longer, "about 2 to 14 % longer"; empty when it is not known. */
	private static String slower(TraceInfo info) {
		String low = info.properties().get(TraceInfo.PROPERTY_SLOWER_LOW);
		String high = info.properties().get(TraceInfo.PROPERTY_SLOWER_HIGH);
		if (low == null || high == null) {
			return "";
		}
		try {
			return "about " + tenths(Double.parseDouble(low)) + " to " + tenths(Double.parseDouble(high)) + " % longer";
		} catch (NumberFormatException e) {
			return "";
		}
	}

	private static String tenths(double share) {
		return String.format(Locale.ROOT, share < 0.1 ? "%.1f" : "%.0f", share * 100);
	}

	/** How many blocks no structure stands for, and why; empty when none. */
	private static String unlisted(TraceInfo info) {
		return info.properties().getOrDefault(TraceInfo.PROPERTY_UNLISTED, "");
	}

	/** The memory that the recorder could not see; empty when it saw everything, or nobody told. */
	public static String unseen(TraceInfo info) {
		return info.properties().getOrDefault(TraceInfo.PROPERTY_UNSEEN, "");
	}

	/** Processes that the recorder could not reach; empty when there were none. What was left out on purpose is no warning. */
	public static String unreached(TraceInfo info) {
		return info.properties().containsKey(TraceInfo.PROPERTY_UNREACHED)
				? info.properties().getOrDefault(TraceInfo.PROPERTY_UNRECORDED, "") : "";
	}

	/** Whether all memory was seen, as a sentence, also when it is not known. */
	public static String seen(TraceInfo info) {
		String unseen = unseen(info);
		return !unseen.isEmpty() ? unseen : info.properties().getOrDefault(TraceInfo.PROPERTY_ALL_SEEN, "not known what was not seen");
	}

	/** What the recorder lost, and the memory and the processes that it could not see; empty when it saw everything. */
	private static String losses(TraceInfo info) {
		String unseen = unseen(info);
		String lost = "";
		try {
			long n = Long.parseLong(info.properties().getOrDefault("losses", "0").trim());
			lost = n <= 0 ? "" : "the recorder lost " + Units.plural(n, info.counts().noun());
		} catch (NumberFormatException e) {
			// the property is not ours
		}
		return Stream.of(lost, unseen, unreached(info)).filter(s -> !s.isEmpty()).collect(Collectors.joining("; "));
	}

	private static String percent(double share) {
		return Units.percent(100 * Math.min(1, Math.max(0, share)));
	}

	/** The text without findings. */
	public String text() {
		return text(null);
	}

	/**
	 * The text without the section of findings.
	 *
	 * @param advisor for the first lines, which a person can act on; null: without these
	 */
	public String text(Advisor advisor) {
		StringBuilder b = new StringBuilder();
		TraceInfo info = table.info();
		CountUnit unit = info.counts();
		b.append(info.alias()).append('\n').append("=".repeat(Math.max(1, info.alias().length()))).append("\n\n");
		b.append(advisor == null ? "" : new FirstLines(advisor, shares, names, lossWarning(info)).text());
		Map<String, String> p = info.properties();
		if (!p.getOrDefault("command", "").isEmpty()) {
			b.append("Command    ").append(p.get("command")).append('\n');
		}
		b.append("Recorded   ").append(Units.duration(info, info.durationNs())).append(", ")
				.append(all.threads().cardinality()).append(" of ")
				.append(Units.plural(table.threads().size(), "thread")).append(" with ").append(unit.plural()).append('\n');
		b.append(time.text());
		memory(b);
		b.append(fine.text());
		b.append("Counted    ").append(Units.count(all.accesses())).append(' ').append(all.accesses() == 1 ? unit.noun()
				: unit.plural()).append(" (")
				.append(percent(all.accesses() > 0 ? all.reads() / all.accesses() : 0)).append(" reads) in ")
				.append(Units.plural(all.records(), unit.row()));
		if (all.unattributed() > 0) {
			b.append("; ").append(percent(all.unattributed() / all.accesses())).append(" without a known thread");
		}
		b.append('\n');
		if (!info.windows().isEmpty()) {
			b.append("Windows    ").append(info.windows()).append('\n');
		}
		String losses = losses(info);
		b.append("Losses     ").append(losses.isEmpty() ? "none known to the recorder; " + seen(info) : losses
				+ ": what follows is about the rest").append('\n');
		if (p.containsKey(TraceInfo.PROPERTY_NOT_PRIVATE)) {
			b.append("Shared     ").append(p.get(TraceInfo.PROPERTY_NOT_PRIVATE)).append('\n');
		}
		if (!unlisted(info).isEmpty()) {
			b.append("Blocks     ").append(unlisted(info)).append('\n');
		}
		if (!late(info).isEmpty()) {
			b.append("Intervals  ").append(late(info)).append('\n');
		}
		if (p.containsKey("guarantee_pages")) {
			b.append("Recorder   ").append(p.getOrDefault("backend", "?")).append(": pages ").append(p.get("guarantee_pages"))
					.append(", threads ").append(p.getOrDefault("guarantee_threads", "?")).append(", writes ")
					.append(p.getOrDefault("guarantee_writes", "?")).append(p.containsKey("guarantee_counts")
							? ", counts " + p.get("guarantee_counts") + (p.getOrDefault("guarantee_code", "").equals("instrumented")
									? " (of the code built with memtrace cc)" : "") : "").append('\n');
		}
		if (!slower(info).isEmpty()) {
			b.append(p.containsKey("guarantee_pages") ? "           " : "Recorder   ").append("the run took ").append(slower(info))
					.append(" by it, hooks of malloc left out\n");
		}
		if (!maybeUntouched(info).isEmpty()) {
			b.append("           ").append(maybeUntouched(info)).append('\n');
		}
		resident(b);
		hugePages(b);
		names(b);
		b.append('\n');
		table(b);
		return b.toString();
	}

	/** Pages that were touched; where sharing is not known of all accesses, more of them may be shared. */
	private void memory(StringBuilder b) {
		long page = Math.max(1, table.info().pageSizeBytes());
		String least = all.notKnownFraction() > 0 ? "at least " : "";
		b.append("Memory     ").append(Units.plural(touchedPages, "page")).append(" touched (")
				.append(Units.bytes(touchedPages * page)).append(')')
				.append(all.pages() == 0 ? "" : (touchedPages == all.pages() ? ", " : "; of the pages of structures ")
						+ least + percent((double) all.multiThreadPages() / all.pages()) + (touchedPages == all.pages() ? " of them" : "")
						+ " by several threads, " + least + percent((double) all.sharedPages() / all.pages()) + " at the same time")
				.append('\n');
	}

	/** How much was resident at most; of several processes the one with most, as their intervals end at different times. */
	private void resident(StringBuilder b) {
		if (residentBytes > 0) {
			b.append("Resident   ").append(Units.bytes(residentBytes)).append(" at most at the end of an interval")
					.append(processes > 1 ? ", in one process" : "").append(", of the memory that the recorder saw\n");
		}
	}

	/** How much is in memory that the source does not name, and why; nothing where that is little. */
	private void names(StringBuilder b) {
		Map<String, Double> why = new TreeMap<>();
		for (Row r : structures.rows()) {
			String reason = withoutName(r.structure());
			if (!reason.isEmpty()) {
				why.merge(reason, r.accesses(), Double::sum);
			}
		}
		double sum = why.values().stream().mapToDouble(Double::doubleValue).sum();
		if (sum < WITHOUT_NAMES * all.accesses()) {
			return;
		}
		b.append("Names      ").append(percent(sum / all.accesses())).append(" of the ").append(table.info().counts().plural())
				.append(" are to memory that no variable or source line names: ").append(why.entrySet().stream()
						.filter(e -> e.getValue() > LITTLE * all.accesses()).sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
						.map(e -> percent(e.getValue() / all.accesses()) + " " + e.getKey()).collect(Collectors.joining("; "))).append('\n');
	}

	private static String withoutName(Structure s) {
		if (s == null) {
			return "in ranges of which no allocation was seen (other allocators than the C library's, what was there before)";
		}
		if (s.isWholeHeap()) {
			return "in small blocks of the heap, of many places (record --min-alloc 16 lists smaller ones)";
		}
		boolean allocated = s.kind() == StructureKind.HEAP || s.kind() == StructureKind.MMAP || s.kind() == StructureKind.BRK;
		return allocated && !SOURCE_LINE.matcher(s.site()).matches()
				? "in blocks that have the name of a function or of an address of code, as the code that allocates them has no debug information (compile with -g)" : "";
	}

	/** What the program advised the kernel: facts, of the structures with most of it. */
	private void hugePages(StringBuilder b) {
		List<Row> advised = structures.rows().stream().filter(r -> r.structure() != null && Math.max(r.structure().hugeBytes(),
				r.structure().noHugeBytes()) > 0).sorted(Comparator.comparingLong((Row r) -> -Math.max(r.structure().hugeBytes(),
						r.structure().noHugeBytes())).thenComparing(Row::producer)).toList();
		if (advised.isEmpty()) {
			return;
		}
		b.append("Advice     huge pages ").append(advised.stream().limit(ADVISED).flatMap(r -> Stream.of(
				r.structure().hugeBytes() > 0 ? "wanted for " + Units.bytes(r.structure().hugeBytes()) + " of " + r.name() : "",
				r.structure().noHugeBytes() > 0 ? "not wanted for " + Units.bytes(r.structure().noHugeBytes()) + " of " + r.name() : ""))
				.filter(t -> !t.isEmpty()).collect(Collectors.joining(", "))).append(advised.size() > ADVISED ? ", and for "
						+ (advised.size() - ADVISED) + " more" : "").append("; it was recorded in small pages\n");
	}

	private void table(StringBuilder b) {
		CountUnit unit = table.info().counts();
		List<Row> rows = new ArrayList<>(structures.rows());
		rows.removeIf(r -> r.details().records() == 0);
		rows.sort(Comparator.comparingDouble((Row r) -> -r.accesses()).thenComparing(Row::producer));
		List<String[]> cells = new ArrayList<>();
		cells.add(new String[] {"Structure", "Kind", "Size", unit.title(), "Reads", "Threads", "Shared", "First touch"});
		double rest = 0;
		for (int i = 0; i < rows.size(); i++) {
			Row r = rows.get(i);
			if (i >= ROWS) {
				rest += r.accesses();
				continue;
			}
			cells.add(new String[] {TextColumns.cut(r.name(), 48), r.kind(), Units.bytes(r.sizeBytes()),
				percent(all.accesses() > 0 ? r.accesses() / all.accesses() : 0),
				percent(r.accesses() > 0 ? r.details().reads() / r.accesses() : 0), Integer.toString(r.threadCount()),
				SharedText.of(r.sharedPercent(), r.notKnownPercent()),
				r.firstToucher() < 0 ? "?" : (structures.threadName(r.firstToucher()) + " " + r.firstTouchText()).strip()});
		}
		TextColumns.columns(b, cells, "llrrrrrl");
		if (rows.size() > ROWS) {
			b.append("and ").append(rows.size() - ROWS).append(" more with ")
					.append(percent(all.accesses() > 0 ? rest / all.accesses() : 0)).append(" of the ").append(unit.plural()).append('\n');
		}
		b.append(unit.title()).append(": share of all ").append(unit.plural()).append(". Reads, Shared: share of the ").append(unit.plural())
				.append(" of the structure; shared: another thread used the page in the same interval.\n");
		String threads = table.info().properties().getOrDefault("guarantee_threads", "all");
		if (threads.startsWith("first")) {
			boolean subphases = threads.equals("first-per-subphase");
			b.append("This recorder is certain only of the first thread on a page in each ").append(subphases ? "subphase" : "interval")
					.append("; \"a to b %\": of the part between them it is not known whether another thread used the page; ")
					.append(subphases ? "more --subphases see more" + (fine.isEmpty() ? ", and so does --fine 50ms" : "")
							: "shorter intervals see more")
					.append(".\n");
		}
	}

	/**
	 * The summary for programs.
	 *
	 * @param advisor what is wrong; null when nobody has looked
	 */
	public JsonObject toJson(Advisor advisor) {
		TraceInfo info = table.info();
		JsonObject o = new JsonObject();
		o.addProperty("trace", info.alias());
		o.addProperty("command", info.properties().getOrDefault("command", ""));
		o.addProperty("time_unit", info.timeUnit().id());
		o.addProperty(info.timeUnit().column("duration_ns"), info.durationNs());
		o.addProperty("threads", all.threads().cardinality());
		o.addProperty("page_size_bytes", info.pageSizeBytes());
		o.addProperty("pages", touchedPages);
		o.addProperty("pages_by_structure", all.pages());
		o.addProperty("pages_of_several_threads", all.multiThreadPages());
		o.addProperty("pages_shared", all.sharedPages());
		o.addProperty("records", all.records());
		o.addProperty("reads", Math.round(all.reads()));
		o.addProperty("writes", Math.round(all.writes()));
		o.addProperty("counts", info.counts().id());
		o.addProperty("losses", lossWarning(info));
		o.addProperty("seen", seen(info));
		o.addProperty("late_intervals", late(info));
		o.addProperty("unlisted_blocks", unlisted(info));
		o.addProperty("resident_bytes", residentBytes < 0 ? null : residentBytes);
		o.add("time", time.toJson());
		JsonArray list = new JsonArray();
		for (Row r : structures.rows().stream().filter(row -> row.details().records() > 0).toList()) {
			AccessDetails d = r.details();
			JsonObject s = new JsonObject();
			s.addProperty("producer", r.producer());
			s.addProperty("name", r.name());
			s.addProperty("kind", r.kind());
			s.addProperty("size_bytes", r.sizeBytes());
			s.addProperty("pages", d.pages());
			s.addProperty("reads", Math.round(d.reads()));
			s.addProperty("writes", Math.round(d.writes()));
			s.addProperty("threads", r.threadCount());
			s.addProperty("shared_percent", r.sharedPercent());
			s.addProperty("shared_not_known_percent", r.notKnownPercent());
			s.addProperty("first_toucher", r.firstToucher() < 0 ? null : structures.threadName(r.firstToucher()));
			s.addProperty("first_touch_percent", 100 * r.firstTouchShare());
			s.addProperty("site", r.site());
			s.addProperty("first_ns", d.firstNs());
			s.addProperty("huge_bytes", r.structure() == null || r.structure().hugeBytes() < 0 ? null : r.structure().hugeBytes());
			s.addProperty("no_huge_bytes", r.structure() == null || r.structure().noHugeBytes() < 0 ? null : r.structure().noHugeBytes());
			list.add(s);
		}
		o.add("structures", list);
		if (advisor != null) {
			JsonArray findings = new JsonArray();
			for (Finding f : advisor.findings()) {
				JsonObject j = new JsonObject();
				j.addProperty("rule", f.rule());
				j.addProperty("title", f.title());
				j.addProperty("severity", f.severity().id());
				j.add("price", f.price().toJson());
				findings.add(j);
			}
			o.add("findings", findings);
		}
		return o;
	}

	/** For tests and views: threads of the trace. */
	public List<ThreadInfo> threads() {
		return table.threads();
	}
}
