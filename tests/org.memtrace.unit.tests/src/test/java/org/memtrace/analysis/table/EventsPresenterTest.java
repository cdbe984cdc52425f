// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.analysis.selection.SelectedTrace;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.table.EventsPresenter.Reading;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/** The table of events without a display. */
class EventsPresenterTest {
	private static final int PAGE = 1000;

	private record Trace(TraceInfo info, ProducerTree producers, List<ThreadInfo> threads, TraceSelection selection,
			boolean hasAccesses) implements SelectedTrace {
		@Override
		public String name() {
			return "mat mul/1";
		}

		@Override
		public int memberOf(int producer) {
			return producer - producer % 10;
		}
	}

	private TraceStore store;
	private AccessTable table;
	private Trace trace;
	private EventsPresenter p;

	@BeforeEach
	void open() throws Exception {
		store = SyntheticTrace.matrixMultiplication(64, 30);
		table = AccessTable.load(store, Progress.NONE);
		trace = new Trace(store.info(), store.producers(), store.threads(),
				new TraceSelection(store.producers(), store.info().startNs(), store.info().endNs()), true);
		p = new EventsPresenter(PAGE);
		p.show(trace);
	}

	@AfterEach
	void close() throws Exception {
		store.close();
	}

	private EventRows read() throws Exception {
		EventRows rows = TraceRows.of(store, table, null, p.query(), Progress.NONE);
		rows.scan(Progress.NONE);
		p.complete();
		p.rowsAre(rows);
		return rows;
	}

	@Test
	void columnsAreThoseOfTheKindOfTrace() {
		assertEquals(EventColumn.ofAccesses(), p.columns());
		assertFalse(p.show(trace), "the same columns");
		p.sortBy(p.columns().indexOf(EventColumn.READS));
		assertTrue(p.show(new Trace(trace.info, trace.producers, trace.threads, trace.selection, false)));
		assertEquals(EventColumn.OF_EVENTS, p.columns());
		assertEquals(EventColumn.START, p.sort());
		assertEquals(List.of(EventColumn.END, EventColumn.START), p.columns(List.of(1, 0)));
		assertEquals(List.of(0, 2), EventsPresenter.toggle(List.of(0, 1, 2), 1));
		assertEquals(List.of(0, 2, 1), EventsPresenter.toggle(List.of(0, 2), 1));
		assertEquals(List.of(4), EventsPresenter.toggle(List.of(4), 4), "one column stays");
	}

	@Test
	void clicksOnHeadsChangeTheOrder() throws Exception {
		int reads = p.columns().indexOf(EventColumn.READS);
		p.sortBy(reads);
		assertTrue(p.descending(), "counts from the largest");
		List<EventRows.Row> first = read().block(0);
		assertTrue(first.get(0).reads() >= first.get(1).reads());
		p.sortBy(reads);
		assertFalse(p.descending());
		p.sortBy(p.columns().indexOf(EventColumn.END));
		assertFalse(p.descending(), "times from the first");
		p.sortBy(p.columns().indexOf(EventColumn.END));
		assertTrue(p.descending());
	}

	@Test
	void textsThatAreNoFilterAreToldAndChangeNothing() throws Exception {
		int reads = p.columns().indexOf(EventColumn.READS);
		long all = read().count();
		assertTrue(p.filter(Map.of(reads, ">0")));
		assertFalse(p.filter(Map.of(reads, ">0")), "the same filter");
		long some = read().count();
		assertTrue(some > 0 && some < all, some + " of " + all);
		assertTrue(p.summary(Reading.DONE).endsWith(", filtered by column"), p.summary(Reading.DONE));
		assertFalse(p.filter(Map.of(reads, ">many")));
		assertFalse(p.problem().isEmpty());
		assertEquals(some, read().count());
		assertTrue(p.filter(Map.of()));
		assertEquals("", p.problem());
	}

	@Test
	void whatStandsAboveTheColumnsIsAboutOneTrace() throws Exception {
		int reads = p.columns().indexOf(EventColumn.READS);
		p.filter(Map.of(reads, ">0"));
		p.show(new Trace(trace.info, trace.producers, trace.threads, trace.selection, true));
		assertTrue(p.isFiltered(), "the same trace: a view was locked");
		p.show(null);
		assertTrue(p.isFiltered());
		try (TraceStore other = SyntheticTrace.matrixMultiplication(64, 30)) {
			Trace another = new Trace(other.info(), other.producers(), other.threads(),
					new TraceSelection(other.producers(), other.info().startNs(), other.info().endNs()), true);
			assertFalse(p.show(another), "the same columns");
			assertFalse(p.isFiltered());
			assertEquals(Map.of(), p.query().cells());
			p.filter(Map.of(reads, ">many"));
			assertTrue(p.isFiltered());
			p.show(trace);
			assertEquals("", p.problem());
		}
	}

	@Test
	void pagesOfRows() throws Exception {
		EventRows rows = read();
		assertTrue(rows.count() > 2 * PAGE, "the trace has " + rows.count() + " rows");
		assertTrue(p.hasPages());
		assertFalse(p.hasPrevious());
		assertEquals("1 to 1,000", p.pageText());
		p.turn(-1);
		assertEquals(0, p.pageStart());
		p.turn(1);
		assertEquals("1,001 to 2,000", p.pageText());
		assertEquals(999, p.turnTo(2 * PAGE - 1));
		assertEquals(PAGE, p.pageStart());
		assertEquals(0, p.turnTo(2 * PAGE));
		long last = (rows.count() - 1) / PAGE;
		p.turn((int) last - 2);
		assertFalse(p.hasNext());
		assertEquals(rows.count() - last * PAGE, p.pageRows());
		assertFalse(p.rowsAre(rows), "nothing has changed");
		assertEquals(last * PAGE, p.pageStart());
		assertTrue(p.rowsAre(null));
		assertEquals(0, p.pageRows());
		assertFalse(p.hasPages());
	}

	@Test
	void theLineAboveTheTable() throws Exception {
		assertEquals("", p.summary(Reading.DONE));
		assertEquals("Reading…", p.summary(Reading.OTHERS));
		EventRows rows = TraceRows.of(store, table, null, p.query(), Progress.NONE);
		p.rowsAre(rows);
		p.stopped();
		assertEquals("0 rows read…", p.summary(Reading.THESE));
		assertEquals("Stopped before the rows were in order", p.summary(Reading.DONE));
		rows = read();
		assertTrue(p.summary(Reading.DONE).matches("[\\d,]+ rows"), p.summary(Reading.DONE));
		trace.selection.window(store.info().startNs() + 50_000_000, store.info().startNs() + 100_000_000);
		read();
		assertTrue(p.summary(Reading.DONE).matches("[\\d,]+ rows, 50\\.?0* ms \\+ 50\\.?0* ms"), p.summary(Reading.DONE));
		assertTrue(p.summary(Reading.THESE).endsWith(" rows so far…"), p.summary(Reading.THESE));
		p.failed("disk full");
		assertEquals("disk full", p.problem());
		p.complete();
		assertEquals("", p.problem());
		p.show(null);
		assertEquals("", p.summary(Reading.DONE));
	}

	@Test
	void rowsSetTheWindowOfAllViews() throws Exception {
		EventRows.Row row = read().block(3).get(7);
		p.from(row);
		assertEquals(row.startNs(), trace.selection.state().fromNs());
		p.until(row);
		assertEquals(row.endNs(), trace.selection.state().toNs());
		p.centre(row);
		long length = row.endNs() - row.startNs();
		assertEquals(11 * length, trace.selection.state().durationNs());
		assertEquals(row.producer() - row.producer() % 10, trace.selection.mark());
	}

	@Test
	void aWantedRecordWaitsForTheRowsOfItsWindow() throws Exception {
		EventRows whole = read();
		EventRows.Row row = whole.block(0).get(5);
		EventsPresenter.Wanted w = new EventsPresenter.Wanted(row.producer(), row.startNs(), row.endNs());
		assertNull(p.wantedIn(whole.query()));
		p.want(w);
		trace.selection.window(row.startNs(), row.startNs() + 50_000_000);
		assertNull(p.wantedIn(whole.query()), "these are the rows of the window before");
		EventRows now = read();
		assertSame(w, p.wantedIn(now.query()));
		EventsPresenter.Wanted other = new EventsPresenter.Wanted(1, 2, 3);
		p.want(other);
		p.lookedFor(w);
		assertSame(other, p.wantedIn(now.query()));
		p.lookedFor(other);
		assertNull(p.wantedIn(now.query()));
	}

	@Test
	void timesThatAPersonTypes() {
		assertNull(EventsPresenter.timeProblem("1,000.5"));
		assertNotNull(EventsPresenter.timeProblem("soon"));
		assertNotNull(EventsPresenter.timeProblem("NaN"));
		assertEquals(store.info().startNs() + 12_500_000, p.timeNs("12.5"));
		assertEquals("Milliseconds from the start of the trace:", p.timeLabel());
	}

	@Test
	void filesAndTheClipboard() throws Exception {
		EventRows rows = read();
		assertEquals("mat-mul-1-events.csv", p.fileName());
		List<EventColumn> shown = List.of(EventColumn.THREAD, EventColumn.READS);
		// rows of two blocks
		String text = EventsPresenter.text(rows, List.of(1L, 2L, 300L), shown, false);
		List<String> lines = text.lines().toList();
		assertEquals(4, lines.size());
		assertEquals("Thread\tReads", lines.get(0));
		EventRows.Row r = rows.block(1).get(300 - EventRows.BLOCK);
		assertEquals(rows.text(EventColumn.THREAD, r) + "\t" + rows.text(EventColumn.READS, r), lines.get(3));
		Map<String, String> m = p.parameters(10);
		assertEquals("10", m.get("rows"));
		assertEquals(Long.toString(rows.count()), m.get("rows_in_all"));
		assertEquals("Start (ms)", m.get("order"));
	}
}
