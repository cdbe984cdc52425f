// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.table;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.memtrace.analysis.selection.SelectedTrace;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.tree.ProducerTree;

/**
 * What a table of accesses or events shows: its columns, order and column filters, the page of it that can be scrolled through,
 * the line above it, and the record that another view wants to see. The rows themselves are {@link EventRows}. Used by one thread.
 */
public final class EventsPresenter {
	/** How far the reading of rows is. */
	public enum Reading {
		/** Nothing is being read. */
		DONE,
		/** The rows that are shown are those that are being read. */
		THESE,
		/** Others are being read than those that are shown. */
		OTHERS
	}

	/** A record that another view wants to see; [startNs, endNs). */
	public record Wanted(int producer, long startNs, long endNs) {
	}

	/** Rows that can be scrolled through at once: the height of all in pixels is an int. */
	public static final int PAGE = 10_000_000;
	/** Widths of a record around it when its time becomes the window. */
	private static final int WIDTHS_AROUND = 5;

	private final int page;
	private SelectedTrace trace;
	private List<EventColumn> columns = EventColumn.ofAccesses();
	private boolean inTicks;
	private EventColumn sort = EventColumn.START;
	private boolean descending;
	private Map<EventColumn, String> cells = Map.of();
	private String wrong = "";
	private String failed = "";
	private boolean stopped;
	private EventRows rows;
	private long pageStart;
	private int pageRows;
	private Wanted wanted;

	public EventsPresenter() {
		this(PAGE);
	}

	/** Producers of the trace that {@link #cells} are about; traces that share them are the same. */
	private ProducerTree filtered;

	/** @param page rows of a page */
	EventsPresenter(int page) {
		this.page = page;
	}

	// ---- columns

	/** Columns of the table, all of them. */
	public List<EventColumn> columns() {
		return columns;
	}

	/** Whether the heads of the columns of times say that these are ticks. */
	public boolean inTicks() {
		return inTicks;
	}

	/** Column by which rows are in order. */
	public EventColumn sort() {
		return sort;
	}

	public boolean descending() {
		return descending;
	}

	/** Places of the columns that are shown until users choose others. */
	public List<Integer> shownAtFirst() {
		List<EventColumn> shown = columns.equals(EventColumn.OF_EVENTS) ? columns : EventColumn.shownOfAccesses();
		return shown.stream().map(columns::indexOf).toList();
	}

	/** The columns at some places, as users of the table arrange them. */
	public List<EventColumn> columns(List<Integer> places) {
		return places.stream().map(columns::get).toList();
	}

	/** The places that remain when a column is hidden, or come when it is shown; all of them rather than none. */
	public static List<Integer> toggle(List<Integer> shown, int column) {
		List<Integer> now = new ArrayList<>(shown);
		if (!now.remove((Integer) column)) {
			now.add(column);
		}
		return now.isEmpty() ? shown : List.copyOf(now);
	}

	/** A click on a head: the order of that column, or the other way round. Times begin with the first, counts with the largest. */
	public void sortBy(int column) {
		EventColumn by = columns.get(column);
		descending = by == sort ? !descending : by.isNumber() && !by.isTime();
		sort = by;
	}

	/**
	 * What stands above the columns.
	 *
	 * @param texts by place of the column
	 * @return whether other rows are wanted now; nothing changes while one of the texts is no filter
	 */
	public boolean filter(Map<Integer, String> texts) {
		Map<EventColumn, String> now = new HashMap<>();
		wrong = "";
		for (Map.Entry<Integer, String> e : texts.entrySet()) {
			EventColumn column = columns.get(e.getKey());
			try {
				CellFilter.parse(column, e.getValue(), inTicks);
				now.put(column, e.getValue());
			} catch (MemtraceException x) {
				wrong = x.getMessage();
			}
		}
		boolean changed = wrong.isEmpty() && !now.equals(cells);
		if (changed) {
			cells = now;
		}
		return changed;
	}

	// ---- rows

	/** Whether something stands above the columns, be it a filter or not. */
	public boolean isFiltered() {
		return !cells.isEmpty() || !wrong.isEmpty();
	}

	/**
	 * Shows another trace, or the same with another selection. What stands above the columns is about the names and numbers of one trace,
	 * and does not stay for another.
	 *
	 * @param now null none
	 * @return whether its table has other columns
	 */
	public boolean show(SelectedTrace now) {
		if (now != null && now.producers() != filtered) {
			filtered = now.producers();
			cells = Map.of();
			wrong = "";
		}
		trace = now;
		wanted = null;
		failed = "";
		rowsAre(null);
		List<EventColumn> its = now == null || now.hasAccesses() ? EventColumn.ofAccesses() : EventColumn.OF_EVENTS;
		boolean ticks = now != null && now.info().isInTicks();
		if (its.equals(columns) && ticks == inTicks) {
			return false;
		}
		columns = its;
		inTicks = ticks;
		cells = Map.of();
		sort = EventColumn.START;
		descending = false;
		return true;
	}

	/** The rows that are wanted now. */
	public EventRows.Query query() {
		ViewState s = trace.selection().state();
		stopped = false;
		return new EventRows.Query(s.fromNs(), s.toNs(), s.producer(), s.filters(), cells, sort, descending);
	}

	/** The rows that are shown; null none. */
	public EventRows rows() {
		return rows;
	}

	/**
	 * Shows rows, other ones than before from the first on; those that are shown already with their number as it is now.
	 *
	 * @return whether the page has another number of rows
	 */
	public boolean rowsAre(EventRows now) {
		if (now != rows) {
			rows = now;
			pageStart = 0;
		}
		int before = pageRows;
		pageRows = rows == null ? 0 : (int) Math.clamp(rows.count() - pageStart, 0, page);
		return pageRows != before;
	}

	/** Reading has ended well. */
	public void complete() {
		failed = "";
	}

	/** Why rows could not be read; empty none. */
	public void failed(String message) {
		failed = message;
	}

	/** The user has stopped the reading. */
	public void stopped() {
		stopped = true;
	}

	// ---- pages

	/** Number of the first row of the page. */
	public long pageStart() {
		return pageStart;
	}

	/** Rows of the page, as many as there were when it was last shown: more may have been read since. */
	public int pageRows() {
		return pageRows;
	}

	/** Whether there is more than one page. */
	public boolean hasPages() {
		return rows != null && rows.count() > page;
	}

	public boolean hasPrevious() {
		return pageStart > 0;
	}

	public boolean hasNext() {
		return rows != null && pageStart + page < rows.count();
	}

	/** Goes some pages on, or back when it is negative. */
	public void turn(int pages) {
		pageStart = Math.max(0, pageStart + (long) pages * page);
		rowsAre(rows);
	}

	/** Goes to the page of a row; returns the row's place on it. */
	public int turnTo(long row) {
		pageStart = row / page * page;
		rowsAre(rows);
		return (int) (row - pageStart);
	}

	/** Which rows the page has, such as {@code 1 to 10,000,000}. */
	public String pageText() {
		return String.format(Locale.ROOT, "%,d to %,d", pageStart + 1, pageStart + pageRows());
	}

	// ---- texts

	/** Why what is shown is not what was asked for: a filter that is none, or an error; empty none. */
	public String problem() {
		return wrong.isEmpty() ? failed : wrong;
	}

	/** One line that says what is shown, and what is not. */
	public String summary(Reading reading) {
		if (trace == null) {
			return "";
		}
		if (reading == Reading.OTHERS) {
			return "Reading…";
		}
		if (rows == null) {
			return "";
		}
		String what = Units.plural(rows.count(), "row");
		if (reading == Reading.THESE) {
			return rows.count() == 0 ? String.format(Locale.ROOT, "%,d rows read…", rows.read()) : what + " so far…";
		}
		if (stopped && !rows.isComplete()) {
			return rows.count() == 0 ? "Stopped before the rows were in order" : "The first " + what + "; reading was stopped";
		}
		if (rows.matched() > rows.count()) {
			return String.format(Locale.ROOT, "The first %,d of %,d rows in this order; filter to see others", rows.count(),
					rows.matched());
		}
		EventRows.Query q = rows.query();
		TraceInfo info = trace.info();
		boolean part = q.fromNs() > info.startNs() || q.toNs() < info.endNs();
		String time = part ? ", " + Units.duration(info, q.fromNs() - info.startNs()) + " + " + Units.duration(info, q.toNs() - q.fromNs())
				: "";
		String where = q.producer() > 0 ? ", in " + trace.producers().name(q.producer()) : "";
		return what + time + where + (q.cells().isEmpty() ? "" : ", filtered by column");
	}

	// ---- places

	/** What a person types for a time. */
	public String timeLabel() {
		return (inTicks ? "Ticks" : "Milliseconds") + " from the start of the trace:";
	}

	/** Why a text is no time; null when it is one. */
	public static String timeProblem(String text) {
		try {
			return Double.isFinite(number(text)) ? null : "A number such as 12.5";
		} catch (NumberFormatException e) {
			return "A number such as 12.5";
		}
	}

	/** The instant in the clock of the trace that a text means; it has no {@link #timeProblem}. */
	public long timeNs(String text) {
		return trace.info().startNs() + (long) ((inTicks ? 1 : 1e6) * number(text));
	}

	private static double number(String text) {
		return Double.parseDouble(text.replace(",", ""));
	}

	/** A row was selected: its structure is marked in all views. */
	public void select(EventRows.Row row) {
		trace.selection().mark(trace.memberOf(row.producer()));
	}

	/** Its time gets into the middle of the window of all views, and its structure is marked. */
	public void centre(EventRows.Row row) {
		long length = Math.max(1, row.endNs() - row.startNs());
		trace.selection().window(row.startNs() - WIDTHS_AROUND * length, row.endNs() + WIDTHS_AROUND * length);
		select(row);
	}

	/** The window begins with a row. */
	public void from(EventRows.Row row) {
		trace.selection().window(row.startNs(), trace.selection().state().toNs());
	}

	/** The window ends with a row. */
	public void until(EventRows.Row row) {
		trace.selection().window(trace.selection().state().fromNs(), row.endNs());
	}

	/** Another view wants to see a record. */
	public void want(Wanted record) {
		wanted = record;
	}

	/** What another view wants to see, if these rows are those of the present window; null none. */
	public Wanted wantedIn(EventRows.Query of) {
		if (wanted == null || trace == null) {
			return null;
		}
		ViewState s = trace.selection().state();
		return of.fromNs() == s.fromNs() && of.toNs() == s.toNs() ? wanted : null; // else others are on their way
	}

	/** A wanted record was looked for. It stays wanted when another one is wanted by now. */
	public void lookedFor(Wanted record) {
		if (wanted == record) {
			wanted = null;
		}
	}

	// ---- for files

	/** Name of a file of all rows. */
	public String fileName() {
		return trace.name().replaceAll("[^A-Za-z0-9._-]+", "-") + "-events.csv";
	}

	/**
	 * What a table was made of, for a file beside it.
	 *
	 * @param most rows that the file has at most
	 */
	public Map<String, String> parameters(int most) {
		EventRows.Query q = rows.query();
		Map<String, String> parameters = new LinkedHashMap<>();
		parameters.put("trace", trace.name());
		parameters.put("from_ns", Long.toString(q.fromNs()));
		parameters.put("to_ns", Long.toString(q.toNs()));
		parameters.put("producer", q.producer() < 0 ? "all" : trace.producers().name(q.producer()));
		parameters.put("filters", q.filters().toJson());
		parameters.put("order", q.sort().title() + (q.descending() ? " descending" : ""));
		parameters.put("rows", Long.toString(Math.min(most, rows.count())));
		parameters.put("rows_in_all", Long.toString(rows.matched()));
		q.cells().forEach((column, text) -> parameters.put("column " + column.title(inTicks), text));
		return parameters;
	}

	/**
	 * Rows as text, with tabs between the columns and their heads in the first line. Reads the store; any thread.
	 *
	 * @param numbers of the rows, ascending
	 */
	public static String text(EventRows of, List<Long> numbers, List<EventColumn> shown, boolean inTicks) throws MemtraceException {
		StringBuilder text = new StringBuilder(String.join("\t", shown.stream().map(c -> c.title(inTicks)).toList())).append('\n');
		long have = -1;
		List<EventRows.Row> block = List.of();
		for (long at : numbers) {
			if (at / EventRows.BLOCK != have) {
				have = at / EventRows.BLOCK;
				block = of.block(have);
			}
			EventRows.Row r = block.get((int) (at % EventRows.BLOCK));
			text.append(String.join("\t", shown.stream().map(c -> of.text(c, r)).toList())).append('\n');
		}
		return text.toString();
	}
}
