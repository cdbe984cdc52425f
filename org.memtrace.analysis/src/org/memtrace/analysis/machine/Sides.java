// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.engine.AggregationOptions;
import org.memtrace.aggregation.engine.Aggregator;
import org.memtrace.aggregation.engine.SpatiotemporalAggregator;
import org.memtrace.aggregation.engine.TwoTreeAggregator;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.model.ModelSource;
import org.memtrace.analysis.overview.RowLayout;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/**
 * What stands down and what to the right in a picture of blocks: the one place that knows how the model of two sides is made, limited and
 * aggregated. Where one side is the machine, a {@link MachineSide} is needed; it is null where none is.
 */
public enum Sides {
	/** Memory (or event producers) down, time to the right. */
	MEMORY_TIME,
	/** Memory down, the machine to the right. */
	MEMORY_MACHINE,
	/** The machine down, time to the right. */
	MACHINE_TIME;

	/** Whether one of the two is the machine. */
	public boolean hasMachine() {
		return this != MEMORY_TIME;
	}

	/** Whether rows are memory, or producers of events; else they are CPUs. */
	public boolean rowsAreMemory() {
		return this != MACHINE_TIME;
	}

	/** Whether columns are slices of time; else they are CPUs. */
	public boolean columnsAreTime() {
		return this != MEMORY_MACHINE;
	}

	/** Whether values of a metric of accesses can be cells: the threads of pages are no sum for a CPU. */
	public boolean suits(Metric metric) {
		return this != MACHINE_TIME || metric != Metric.THREADS;
	}

	/**
	 * Values of the cells.
	 *
	 * @param pages rows of memory, of the producer of the request; not used where rows are CPUs
	 * @throws IllegalArgumentException if the metric does not {@link #suits}
	 */
	public MicroscopicModel model(ModelSource source, ModelRequest request, Hierarchy pages, MachineSide machine, Progress progress)
			throws MemtraceException {
		return switch (this) {
		case MEMORY_TIME -> source.model(request, pages, progress);
		case MEMORY_MACHINE -> ((AccessModels) source).modelByPlace(request, pages, machine.tree().places(), progress);
		case MACHINE_TIME -> ((AccessModels) source).modelOfPlaces(request, machine.tree().hierarchy(), machine.tree().places(), progress);
		};
	}

	/** Names of the columns; null where they are time. */
	public NodeNames columns(MachineSide machine) {
		return columnsAreTime() ? null : machine.tree().names();
	}

	/**
	 * What is not divided any further.
	 *
	 * @param least smallest share of the height that can be told apart, 0 for none
	 * @param budgetBytes memory for the tables
	 */
	public AggregationOptions options(MicroscopicModel model, RowLayout rows, MachineSide machine, double least, long budgetBytes) {
		return columnsAreTime() ? AggregationOptions.forPicture(model.hierarchy(), rows::height, least, model.sliceCount(), budgetBytes)
				: AggregationOptions.forPairs(model.hierarchy(), rows::height, least, machine.tree().hierarchy().size(), budgetBytes);
	}

	/** Upper bound of the bytes of the tables of the aggregation. */
	public long tableBytes(MicroscopicModel model, MachineSide machine, AggregationOptions options) {
		return columnsAreTime() ? options.tableBytes(model.hierarchy(), model.sliceCount())
				: TwoTreeAggregator.tableBytes(model.hierarchy(), machine.tree().hierarchy(), options);
	}

	/** Prepares the aggregation. */
	public Aggregator prepare(MicroscopicModel model, MachineSide machine, AggregationOptions options, Progress progress)
			throws CancelledException {
		return columnsAreTime() ? SpatiotemporalAggregator.prepare(model, options, progress)
				: TwoTreeAggregator.prepare(model, machine.tree().hierarchy(), options, progress);
	}
}
