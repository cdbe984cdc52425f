// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.gantt.GanttDetails;
import org.memtrace.analysis.gantt.GanttFold;
import org.memtrace.analysis.gantt.GanttModel;
import org.memtrace.analysis.gantt.GanttOptions;
import org.memtrace.analysis.gantt.GanttPicture;
import org.memtrace.analysis.gantt.GanttRows;
import org.memtrace.analysis.gantt.GanttSource;
import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.analysis.gantt.GanttSources;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.statistics.DensityModel;
import org.memtrace.analysis.statistics.DensityPicture;
import org.memtrace.analysis.table.CellFilter;
import org.memtrace.analysis.table.EventColumn;
import org.memtrace.analysis.text.Quantities;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CountUnit;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.tree.ProducerTreeBuilder;

/** Times that are ticks of a logical clock are called so everywhere, and never nanoseconds. */
class TicksTest {
	private static EventTable table() throws MemtraceException {
		SyntheticEvents events = new SyntheticEvents();
		events.properties = Map.of("time_unit", "tick");
		return events.add(SyntheticEvents.RUN, 0, 0, 2_500_000, 0, 0).add(SyntheticEvents.WAIT, 0, 2_500_000, 2_500_001, 0, 0)
				.table(ProducerTreeBuilder.flat("a", "b"), 0, 5_000_000);
	}

	private static void check(Scene scene) {
		List<String> texts = scene.shapes().stream().filter(Shape.Text.class::isInstance).map(s -> ((Shape.Text) s).text()).toList();
		assertTrue(texts.stream().anyMatch(t -> t.endsWith(" ticks")), texts.toString());
		assertFalse(texts.stream().anyMatch(t -> t.matches(".*\\d (ns|µs|ms|s)\\b.*")), texts.toString());
	}

	@Test
	void gantt() throws Exception {
		GanttSource s = GanttSources.of(table());
		GanttRows rows = GanttRows.of(new GanttRows.Request(s, Grouping.PRODUCER, -1, GanttFold.folded(), GanttRows.Order.ADDRESS,
				false), Progress.NONE);
		GanttOptions o = new GanttOptions();
		o.title = "ticks";
		o.toNs = 5_000_000;
		GanttPicture p = GanttPicture.build(new GanttModel(s), rows, o, Progress.NONE);
		check(p.scene());
		assertEquals(List.of("a", "0 ticks – 2,500,000 ticks (2.5 million ticks)", "Run: state"),
				GanttDetails.of(p, p.hit(p.xOf(1_000_000), p.yOf(0) + 8), List.of(), null, Progress.NONE).lines());
		assertEquals("at 4 million ticks: nothing",
				GanttDetails.of(p, p.hit(p.xOf(4_000_000), p.yOf(0) + 8), List.of(), null, Progress.NONE).lines().get(1)
						.replaceFirst("at (3\\.99|4|4\\.01) million", "at 4 million"));
	}

	@Test
	void density() throws Exception {
		DensityModel model = DensityModel.of(table(), null, 0, 5_000_000, -1, 10, Progress.NONE);
		DensityPicture p = DensityPicture.build(model, 700, 300, Palette.LIGHT, TextMeter.DEFAULT, 12);
		check(p.scene());
		assertTrue(p.textAt(p.plotX() + 1, p.plotY() + 5).startsWith("0 ticks + 500,000 ticks\n"), p.textAt(p.plotX() + 1, p.plotY() + 5));
	}

	@Test
	void columnsAndFilters() throws Exception {
		assertEquals("Start (ticks)", EventColumn.START.title(true));
		assertEquals("Start (ms)", EventColumn.START.title(false));
		assertEquals("Reads", EventColumn.READS.title(true));
		assertTrue(CellFilter.parse(EventColumn.START, ">5", true).test(6.0));
		assertFalse(CellFilter.parse(EventColumn.START, ">5", true).test(5.0));
		assertFalse(CellFilter.parse(EventColumn.START, ">5", false).test(6.0));
		MemtraceException e = assertThrows(MemtraceException.class, () -> CellFilter.parse(EventColumn.START, ">5 ms", true));
		assertEquals("Start (ticks) has no unit ms", e.getMessage());
	}

	@Test
	void lifetimes() {
		TraceFilter f = TraceFilter.only(new Condition.Lifetime(1, 2_500));
		assertEquals("lived 1 tick to 2,500 ticks", f.text(List.of(), true, CountUnit.PAGE_FAULTS));
		assertEquals("lived 1 ns to 2.5 µs", f.text(List.of()));
		assertEquals(2500, Quantities.duration("2500", true));
		assertEquals(2500, Quantities.duration(" 2500 ticks", true));
		assertEquals(2_500_000, Quantities.duration("2.5 ms", false));
		assertEquals("'2 ms' is no number of ticks",
				assertThrows(IllegalArgumentException.class, () -> Quantities.duration("2 ms", true)).getMessage());
	}

	@Test
	void durations() throws Exception {
		TraceInfo ticks = table().info();
		assertEquals("1 tick", Units.duration(ticks, 1));
		assertEquals("1,500 ticks", Units.duration(ticks, 1500));
		assertEquals("1.5 µs", Units.duration(ticks.described("", Map.of()), 1500));
	}
}
