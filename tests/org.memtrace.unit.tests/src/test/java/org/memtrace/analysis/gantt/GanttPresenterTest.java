// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.analysis.SyntheticEvents;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.gantt.GanttRows.Order;
import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/** The Gantt chart without a display: a screen that computes at once and writes down what it is told. */
class GanttPresenterTest {
	private static final int TALL = 100;

	/** machine (0) has 20 cores (1 to 20), core N runs in [10 N, 10 N + 5) and in [500, 510); network (21) ticks at 7. */
	private static final class Trace implements GanttPresenter.Trace {
		private final ProducerTree tree;
		private final EventTable table;
		private final TraceSelection selection;
		private final List<Dimension> read = new ArrayList<>();

		Trace() throws MemtraceException {
			ProducerTreeBuilder b = new ProducerTreeBuilder(4096);
			b.begin(ProducerKind.OTHER, "machine", 0, 0, -1);
			SyntheticEvents events = new SyntheticEvents();
			for (int core = 1; core <= 20; core++) {
				b.leaf(ProducerKind.OTHER, "core " + core, 0, 0, -1);
				events.add(SyntheticEvents.RUN, core, 10_000L * core, 10_000L * core + 5_000, 0, core % 2);
				events.add(SyntheticEvents.WAIT, core, 500_000, 510_000, 0, core % 2);
			}
			b.end();
			b.leaf(ProducerKind.OTHER, "network", 0, 0, -1);
			b.leaf(ProducerKind.OTHER, "silent", 0, 0, -1);
			events.add(SyntheticEvents.TICK, 21, 7_000, 7_000, 0, 0);
			tree = b.build();
			table = events.table(tree, 0, 1_000_000);
			selection = new TraceSelection(tree, 0, 1_000_000);
		}

		@Override
		public String name() {
			return "made up";
		}

		@Override
		public TraceInfo info() {
			return table.info();
		}

		@Override
		public ProducerTree producers() {
			return tree;
		}

		@Override
		public List<ThreadInfo> threads() {
			return List.of();
		}

		@Override
		public boolean hasAccesses() {
			return false;
		}

		@Override
		public int memberOf(int producer) {
			return producer <= 20 ? 0 : producer;
		}

		@Override
		public TraceSelection selection() {
			return selection;
		}

		@Override
		public GanttSource records(Dimension viewpoint, FilterSet filters, Progress progress) throws MemtraceException {
			read.add(viewpoint);
			return GanttSources.of(filters.isActive() ? new SyntheticEvents().table(tree, 0, 1_000_000) : table);
		}
	}

	private static final class Screen implements GanttPresenter.Screen {
		private GanttPresenter presenter;
		private int room = TALL;
		private int draws;
		private String said = "";
		private boolean warned;
		private String instead = "";
		/** Work waits here when it is not to be done at once. */
		private List<Runnable> late;

		private interface Work {
			void run() throws MemtraceException;
		}

		private void work(Work w) {
			Runnable r = () -> {
				try {
					w.run();
				} catch (MemtraceException e) {
					throw new AssertionError(e);
				}
			};
			if (late == null) {
				r.run();
			} else {
				late.add(r);
			}
		}

		@Override
		public void read(GanttPresenter.Records wanted) {
			work(() -> presenter.recordsRead(wanted, wanted.read(Progress.NONE)));
		}

		@Override
		public void stopReading() {
		}

		@Override
		public void arrange(GanttRows.Request wanted) {
			work(() -> presenter.rowsArranged(GanttRows.of(wanted, Progress.NONE)));
		}

		@Override
		public void stopArranging() {
		}

		@Override
		public void find(GanttPresenter.Step wanted) {
			work(() -> presenter.stepped(wanted, wanted.find(Progress.NONE)));
		}

		@Override
		public void find(GanttPresenter.Search wanted) {
			work(() -> presenter.found(wanted, wanted.find(Progress.NONE)));
		}

		@Override
		public void draw() {
			draws++;
		}

		@Override
		public void rowsChanged() {
		}

		@Override
		public void scrolled() {
		}

		@Override
		public void selectionChanged() {
		}

		@Override
		public void choicesChanged() {
		}

		@Override
		public int wholeRows(double rowHeight) {
			return Math.max(1, (int) (room / rowHeight));
		}

		@Override
		public double labelWidth(GanttRows rows, GanttStyle style) {
			return 10.0 * rows.count();
		}

		@Override
		public double width() {
			return 1000;
		}

		@Override
		public void say(String text, boolean warning) {
			said = text;
			warned = warning;
		}

		@Override
		public void sayInstead(String text) {
			instead = text;
		}
	}

	private Trace trace;
	private Screen screen;
	private GanttPresenter p;

	@BeforeEach
	void open() throws Exception {
		trace = new Trace();
		screen = new Screen();
		p = new GanttPresenter(screen);
		screen.presenter = p;
		trace.selection.addListener(new TraceSelection.Listener() {
			@Override
			public void stateChanged(org.memtrace.analysis.selection.ViewState old, org.memtrace.analysis.selection.ViewState now) {
				p.stateChanged();
			}
		});
		p.show(trace, false);
		unfold(true);
	}

	private void unfold(boolean open) {
		if (p.rows().isUnfolded(0) != open) {
			p.toggle(0);
		}
	}

	private String selectedName() {
		return p.hasSelectedRow() ? p.rows().name(p.selectedRow()) : "none";
	}

	@Test
	void recordsThenRowsThenThePicture() {
		assertEquals(List.of(BasicDimensions.EVENT_TYPE), trace.read);
		assertSame(trace, p.loaded());
		assertEquals(22, p.rows().count()); // machine, 20 cores, network; what is silent has no row
		assertTrue(p.isDrawable());
		assertEquals("", screen.instead);
		int draws = screen.draws;
		trace.selection.window(0, 100_000);
		assertEquals(1, trace.read.size(), "a window needs no other records");
		assertTrue(screen.draws > draws);
		p.setHideEmpty(false);
		assertEquals(23, p.rows().count());
		p.setHideEmpty(true);
		trace.selection.addFilter(TraceFilter.only(Condition.thread(1)));
		assertEquals(2, trace.read.size());
		assertEquals(0, p.rows().count());
		assertEquals("Nothing passes the filters", screen.instead);
	}

	@Test
	void rowsOfTheFormerTraceAreDropped() throws Exception {
		screen.late = new ArrayList<>();
		p.setOrder(Order.NAME);
		Runnable old = screen.late.get(0);
		screen.late = null;
		Trace other = new Trace();
		p.show(other, false);
		GanttRows rows = p.rows();
		old.run();
		assertSame(rows, p.rows());
		p.show(null, false);
		assertNull(p.rows());
		assertNull(p.loaded());
		assertFalse(p.isDrawable());
	}

	@Test
	void theSameTraceKeepsItsFoldingAndStyle() {
		p.toggleType(0);
		unfold(false);
		p.show(trace, true);
		assertEquals(2, p.rows().count());
		assertEquals(1, p.style().hiddenTypes().size());
		p.show(trace, false);
		assertEquals(Set.of(), p.style().hiddenTypes());
	}

	@Test
	void selectionAndScrollPositionStayWithTheirRows() {
		p.select(12);
		String name = selectedName();
		assertEquals("machine", trace.tree.name(trace.selection.mark()));
		// five rows have room: the selected one is in the middle
		assertEquals(5, screen.wholeRows(18));
		assertEquals(10, p.firstRow());
		p.select(3);
		p.hideRow(false);
		assertEquals("machine", selectedName(), "what is hidden has the row of what is above it");
		assertTrue(p.hidesRows());
		p.select(11);
		assertEquals(name, selectedName());
		p.showHiddenRows();
		assertEquals(name, selectedName());
		assertEquals(12, p.selectedRow());
		p.scrollTo(1000);
		assertEquals(17, p.firstRow());
		p.scrollTo(-3);
		assertEquals(0, p.firstRow());
		p.setStyle(p.style().higher(100));
		assertEquals(44, p.style().rowHeight());
		p.scrollTo(1000);
		assertEquals(20, p.firstRow());
		p.setStyle(p.style().higher(-100));
		assertEquals(4, p.style().rowHeight());
		assertEquals(0, p.firstRow(), "all rows have room");
	}

	@Test
	void labelsGetWiderOnly() {
		assertEquals(220, p.labelWidth());
		unfold(false);
		assertEquals(220, p.labelWidth());
		p.setLabelWidth(300);
		assertEquals(300, p.labelWidth());
		p.setLabelWidth(5000);
		assertEquals(600, p.labelWidth(), "most of the chart is for bars");
	}

	@Test
	void stepsFromRecordToRecord() {
		trace.selection.window(0, 100_000);
		p.select(2);
		p.step(true);
		assertEquals(new GanttPresenter.Span(0, 2, 20_000, 25_000), p.selected());
		assertEquals("core 2 · 20.000 µs, 5.000 µs long".replace(".000", ""), screen.said.replace(".000", "").replace(".0", ""));
		p.step(true);
		assertEquals(new GanttPresenter.Span(0, 2, 500_000, 510_000), p.selected());
		assertTrue(trace.selection.state().fromNs() <= 500_000 && trace.selection.state().toNs() >= 510_000, "the window follows");
		assertEquals(100_000, trace.selection.state().durationNs());
		p.step(true);
		assertEquals("No later record in this row", screen.said);
		assertTrue(screen.warned);
		p.step(false);
		assertEquals(20_000, p.selected().fromNs());
		p.step(false);
		assertEquals("No earlier record in this row", screen.said);
	}

	@Test
	void findsRowsThatAreFoldedAway() {
		unfold(false);
		p.find("CORE 1[23]$", true);
		assertEquals("core 12", selectedName());
		assertTrue(p.firstRow() <= p.selectedRow() && p.selectedRow() < p.firstRow() + screen.wholeRows(18));
		p.find("core 1[23]$", true);
		assertEquals("core 13", selectedName());
		p.find("core 1[23]$", true);
		assertEquals("core 12", selectedName());
		assertEquals("Search went round", screen.said);
		p.find("nowhere", true);
		assertEquals("No row is called nowhere", screen.said);
		p.find("[", true);
		assertTrue(screen.warned && screen.said.startsWith("Not a regular expression"), screen.said);
		assertEquals("core 12", selectedName());
	}

	@Test
	void aRecordOfAnotherViewIsUnfoldedAndSelected() {
		unfold(false);
		p.setGrouping(Grouping.CPU);
		assertEquals(Grouping.CPU, p.grouping());
		p.showRecord(15, 150_000, 155_000);
		assertEquals(Grouping.PRODUCER, p.grouping());
		assertEquals("core 15", selectedName());
		assertEquals(new GanttPresenter.Span(0, 15, 150_000, 155_000), p.selected());
		// again, although rows and folding are the same now
		p.select(1);
		p.showRecord(15, 500_000, 510_000);
		assertEquals("core 15", selectedName());
		assertEquals(500_000, p.selected().fromNs());
	}

	@Test
	void marksOfOtherViewsSelectRowsUnlessTheyAreOwn() {
		p.select(5);
		p.marked(0); // what the selected row belongs to
		assertEquals("core 5", selectedName());
		p.marked(21);
		assertEquals("network", selectedName());
		p.marked(-1);
		assertEquals("network", selectedName());
	}

	@Test
	void groupingsThatATraceDoesNotKnowAreNotChosen() {
		p.setGrouping(Grouping.THREAD);
		assertEquals(Grouping.PRODUCER, p.grouping());
	}

	@Test
	void typesAreHiddenOneByOneOrAllButOne() {
		List<GanttType> types = p.model().source().types();
		p.toggleType(1);
		assertEquals(Set.of(types.get(1).name()), p.style().hiddenTypes());
		p.toggleType(1);
		assertEquals(Set.of(), p.style().hiddenTypes());
		p.onlyType(0);
		assertEquals(types.size() - 1, p.style().hidden(types).cardinality());
		assertFalse(p.style().hidden(types).get(0));
	}

	@Test
	void markersAreOfWhatIsChosen() {
		trace.selection.window(0, 100_000);
		assertNull(p.markerOfRow(0), "no row is selected");
		MarkerDraft middle = p.markerOfTime(null, null, 2);
		assertEquals("Marker of an instant", middle.title());
		assertEquals("Marker 3", middle.proposal());
		assertEquals(50_000, middle.marker().fromNs());
		assertEquals(7, p.markerOfTime(null, 7L, 0).marker().fromNs());
		p.select(2);
		p.step(true);
		Marker record = p.markerOfTime(null, 7L, 0).marker();
		assertEquals(List.of(20_000L, 25_000L, 2L), List.of(record.fromNs(), record.toNs(), (long) record.producer()));
		Marker interval = p.markerOfTime(new GanttPresenter.Span(0, -1, 3, 9), 7L, 0).marker();
		assertEquals(List.of(3L, 9L, -1L), List.of(interval.fromNs(), interval.toNs(), (long) interval.producer()));
		Marker row = p.markerOfRow(0).marker();
		assertFalse(row.hasTime());
		assertEquals(2, row.producer());
		MarkerDraft bookmark = p.bookmark(0);
		assertEquals("Bookmark of this window and row", bookmark.title());
		assertTrue(bookmark.marker().bookmark());
		assertEquals(100_000, bookmark.marker().toNs());
	}

	@Test
	void jumpingToAMarkerShowsItsTimeAndRow() {
		trace.selection.zoom(0, 100_000, 21);
		p.jump(new Marker("m", 0, 500_000, 510_000, 7, false));
		assertEquals("core 7", selectedName());
		assertEquals(trace.selection.initial().producer(), trace.selection.state().producer(), "its row was not among those shown");
		assertEquals(15_000, trace.selection.state().durationNs(), "something around it");
		assertEquals(497_500, trace.selection.state().fromNs());
		p.jump(new Marker("bookmark", 0, 0, 1_000_000, Marker.NO_PRODUCER, true));
		assertEquals(1_000_000, trace.selection.state().durationNs());
		assertEquals("core 7", selectedName());
	}

	@Test
	void aClickedRecordIsSelectedAndDescribed() {
		GanttDetails d = new GanttDetails(4, 40_000, 45_000, 1, List.of("a", "b", "c", "d", "e"));
		p.chosen(p.rows(), d, false);
		assertEquals("core 4", selectedName());
		assertEquals("a · b · c · d", screen.said);
		p.chosen(p.rows(), d, true);
		assertEquals(39_500, trace.selection.state().fromNs());
		assertEquals(45_500, trace.selection.state().toNs());
		GanttRows old = p.rows();
		p.select(1);
		unfold(false);
		p.chosen(old, d, false);
		assertNull(p.selected(), "it is of rows that are gone");
	}

	@Test
	void parametersTellWhatAPictureIsOf() {
		p.onlyType(0);
		var m = GanttPresenter.parameters(trace, trace.selection.state(), p.rows(), 3, p.style());
		assertEquals(List.of("trace", "from_ns", "to_ns", "producer", "viewpoint", "filters", "rows", "first_row", "hidden_types"),
				List.copyOf(m.keySet()));
		assertEquals("made up", m.get("trace"));
		assertEquals("producer", m.get("rows"));
		assertEquals("3", m.get("first_row"));
		assertNotNull(m.get("hidden_types"));
	}
}
