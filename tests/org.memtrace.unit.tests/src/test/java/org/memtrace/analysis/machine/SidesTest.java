// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.engine.AggregationOptions;
import org.memtrace.aggregation.engine.Aggregator;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.machine.MachineTest.Row;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.overview.BlockInfo;
import org.memtrace.analysis.overview.Picture;
import org.memtrace.analysis.overview.PictureBuilder;
import org.memtrace.analysis.overview.PictureOptions;
import org.memtrace.analysis.overview.RowLayout;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.NoAnswerException;
import org.memtrace.model.Progress;

/** The sides of a picture, and what is where in one whose columns are a machine: two packages of two cores of two CPUs. */
class SidesTest {
	private static final ModelRequest WHOLE = new ModelRequest(BasicDimensions.READ_WRITE, Metric.ACCESSES, 4, 0, 1000,
			ModelRequest.WHOLE_TREE, null);
	private final MachineTree tree = new MachineTree(MachineTest.machine(2, 2, true));

	/** All pages are used alike by the CPUs of core 0, the last one by CPU 5, too; one record has no CPU. */
	private static List<Row> rows() {
		List<Row> rows = new ArrayList<>();
		for (int page = 0; page < 8; page++) {
			rows.add(new Row(0, page, 0, 0, 60, 0));
			rows.add(new Row(100, page, 1, 0, 60, 0));
		}
		rows.add(new Row(200, 7, 2, 0, 60, 0));
		rows.add(new Row(500, 0, -1, 0, 20, 0));
		return rows;
	}

	private static final List<BitSet> SETS = List.of(MachineTest.cpus(0), MachineTest.cpus(1), MachineTest.cpus(5));

	private Picture picture(AccessTable table, double p, MachineSide side) throws MemtraceException {
		Sides sides = Sides.MEMORY_MACHINE;
		MicroscopicModel model = sides.model(new AccessModels(table), WHOLE, new AccessModels(table).hierarchy(WHOLE.producer(),
				Progress.NONE), side,
				Progress.NONE);
		NodeNames names = new NodeNames(model.hierarchy(), table.producers(), List.of());
		RowLayout rows = RowLayout.of(model, names);
		AggregationOptions options = sides.options(model, rows, side, 0, AggregationOptions.DEFAULT_BUDGET_BYTES);
		assertTrue(sides.tableBytes(model, side, options) > 0);
		PictureOptions o = new PictureOptions();
		o.columns = sides.columns(side);
		return PictureBuilder.build(sides.prepare(model, side, options, Progress.NONE).partition(p, Progress.NONE), names, rows, o);
	}

	@Test
	void partsOfTheMachineAreFoundInThePicture() throws Exception {
		MachineTest.ask(8, SETS, rows(), table -> {
			MachineSide side = MachineSide.of(tree, table, WHOLE, "sample", Progress.NONE);
			assertEquals("1.9 %", side.leftOutShare());
			assertTrue(side.leftOut().startsWith("1.9 % of the "), side.leftOut());
			Picture picture = picture(table, 0.2, side);
			// every node but the root has a place below the blocks, over its own columns
			assertEquals(tree.hierarchy().size() - 1, picture.parts().size());
			for (Picture.Part part : picture.parts()) {
				assertEquals(part.node(), picture.partAt(part.x() + part.width() / 2, part.y() + part.height() / 2));
				assertEquals(picture.xOfSlice(tree.hierarchy().leafFrom(part.node())), part.x(), 1e-6);
				assertEquals(picture.xOfSlice(tree.hierarchy().leafTo(part.node())), part.x() + part.width(), 1e-6);
				assertTrue(part.y() >= picture.plotY() + picture.plotHeight());
			}
			assertEquals(-1, picture.partAt(picture.plotX() + 1, picture.plotY() + 1));
			for (int c = 0; c < 8; c++) {
				for (double part : new double[] {0.02, 0.5, 0.98}) {
					assertEquals(c, picture.sliceAt(picture.xOfSlice(c) + part * (picture.xOfSlice(c + 1) - picture.xOfSlice(c))), "at " + part);
				}
			}
			assertEquals("Core 0, 2 CPUs, 8 pages", told(table, picture, 0, 0));
			assertEquals("CPU 5, 1 page", told(table, picture, 7, 5));
			return null;
		});
	}

	/** The second line of the tooltip of what is drawn at a cell. */
	private static String told(AccessTable table, Picture picture, int leaf, int column) throws MemtraceException {
		Picture.Hit hit = picture.hit((picture.xOfSlice(column) + picture.xOfSlice(column + 1)) / 2,
				(picture.yOf(leaf) + picture.yOf(leaf + 1)) / 2);
		return BlockInfo.of(picture, hit, new NodeNames(picture.model().hierarchy(), table.producers(), List.of()))
				.lines(table.info(), null, List.of()).get(1);
	}

	@Test
	void whatTheSidesAre() throws Exception {
		assertTrue(Sides.MEMORY_TIME.rowsAreMemory() && Sides.MEMORY_TIME.columnsAreTime() && !Sides.MEMORY_TIME.hasMachine());
		assertTrue(Sides.MEMORY_MACHINE.rowsAreMemory() && !Sides.MEMORY_MACHINE.columnsAreTime() && Sides.MEMORY_MACHINE.hasMachine());
		assertTrue(!Sides.MACHINE_TIME.rowsAreMemory() && Sides.MACHINE_TIME.columnsAreTime() && Sides.MACHINE_TIME.hasMachine());
		assertFalse(Sides.MACHINE_TIME.suits(Metric.THREADS));
		assertTrue(Sides.MEMORY_MACHINE.suits(Metric.THREADS) && Sides.MACHINE_TIME.suits(Metric.ACCESSES));
		assertNull(Sides.MACHINE_TIME.columns(null));
		MachineTest.ask(8, SETS, rows(), table -> {
			MachineSide side = MachineSide.of(tree, table, WHOLE, "sample", Progress.NONE);
			MicroscopicModel time = Sides.MACHINE_TIME.model(new AccessModels(table), WHOLE, null, side, Progress.NONE);
			assertEquals(8, time.hierarchy().leafCount());
			assertEquals(4, time.sliceCount());
			AggregationOptions options = Sides.MACHINE_TIME.options(time, RowLayout.of(time, side.tree().names()), side, 0,
					AggregationOptions.DEFAULT_BUDGET_BYTES);
			Aggregator aggregator = Sides.MACHINE_TIME.prepare(time, side, options, Progress.NONE);
			assertEquals(0, aggregator.partition(0, Progress.NONE).lossPercent(), 1e-9);
			assertTrue(aggregator.partition(1, Progress.NONE).blockCount() < aggregator.partition(0, Progress.NONE).blockCount());
			return null;
		});
		// of a part without a known CPU there is no picture, and it is said why
		MachineTest.ask(8, SETS, List.of(new Row(0, 0, -1, 0, 20, 0)), table -> {
			NoAnswerException e = assertThrows(NoAnswerException.class, () -> MachineSide.of(tree, table, WHOLE, "sample", Progress.NONE));
			assertTrue(e.getMessage().startsWith("sample: no access is at a known CPU of the machine"), e.getMessage());
			return null;
		});
	}

	@Test
	void onlyIsNoToggle() {
		MachineObject core = tree.object(tree.hierarchy().smallestContaining(0, 2));
		assertEquals("Core 0", core.shortLabel());
		FilterSet once = MachineFilters.only(FilterSet.NONE, core);
		assertEquals(MachineTest.cpus(0, 1), MachineFilters.cpus(once));
		assertSame(once, MachineFilters.only(once, core));
		assertSame(once, MachineFilters.only(once, tree.object(0)));
		MachineObject cpu = tree.object(tree.hierarchy().smallestContaining(5, 6));
		assertEquals(MachineTest.cpus(5), MachineFilters.cpus(MachineFilters.only(once, cpu)));
	}
}
