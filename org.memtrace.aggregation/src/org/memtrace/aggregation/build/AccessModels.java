// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.build;

import java.util.List;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.SavedSums;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.model.ModelSource;
import org.memtrace.aggregation.place.AccessPlaces;
import org.memtrace.aggregation.place.CpuPlaces;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.tree.ProducerTree;

/**
 * Microscopic models of the accesses of a table. It keeps nothing itself; two of one table are equal.
 *
 * @param table whose accesses are counted
 */
public record AccessModels(AccessTable table) implements ModelSource {
	@Override
	public TraceInfo info() {
		return table.info();
	}

	@Override
	public ProducerTree producers() {
		return table.producers();
	}

	@Override
	public long records() throws MemtraceException {
		return table.records();
	}

	@Override
	public Object data() {
		return table;
	}

	/** The request for the whole trace. */
	public ModelRequest wholeRequest() {
		return ModelRequest.whole(table.info().startNs(), table.info().endNs());
	}

	@Override
	public Hierarchy hierarchy(int producer, Progress progress) throws MemtraceException {
		return leaves(producer, progress).hierarchy(table.producers(), producer);
	}

	/** The leaves of {@link #hierarchy}. */
	Leaves leaves(int producer, Progress progress) throws MemtraceException {
		if (!table.scan().isMasked()) {
			return new Leaves(table.innerProducers(progress), null);
		}
		// what a filter hides is no empty row: it would count in loss and reduction, and most of a picture could be blank
		ProducerTree tree = table.producers();
		long[] rowsBefore = table.rowsBefore(progress);
		return new Leaves(table.innerProducers(progress), Hierarchy.withRows(tree, Math.max(0, producer),
				producer < 0 ? tree.size() : tree.subtreeEnd(producer), p -> rowsBefore[p]));
	}

	@Override
	public MicroscopicModel model(ModelRequest request, Hierarchy hierarchy, Progress progress) throws MemtraceException {
		ModelBuilder builder = new ModelBuilder(table, request, progress);
		ModelRequest byType = request.withViewpoint(BasicDimensions.TYPE);
		if (hierarchy.isGrouped() && SavedPictures.saves(request.viewpoint())
				&& byType.equals(ModelRequest.firstPicture(table.info().startNs(), table.info().endNs()))) {
			SavedSums sums = table.savedSums(progress);
			SavedPictures pictures = sums == null ? null : new SavedPictures(sums.sections());
			List<ModelType> types = builder.types();
			MicroscopicModel model = pictures == null ? null : pictures.get(hierarchy, types, request);
			if (model == null) {
				model = builder.build(hierarchy, progress);
				if (pictures != null && !pictures.sections().isDamaged() && table.lost().isNone()) {
					pictures.put(model, types, request);
				}
			}
			return model;
		}
		return builder.build(hierarchy, progress);
	}

	/**
	 * Pages x parts of a machine: a model whose slices are places, each of length 1, with what was accessed from the CPU there in the window.
	 * What was accessed from several CPUs is divided equally among them; what was accessed from an unknown CPU, or from one that has no
	 * place, is not in it ({@link AccessPlaces} tells how much that is).
	 *
	 * @param request its slices have no meaning
	 * @param hierarchy what {@link #hierarchy} returned for its producer, or that with groups
	 */
	public MicroscopicModel modelByPlace(ModelRequest request, Hierarchy hierarchy, CpuPlaces places, Progress progress)
			throws MemtraceException {
		return ModelBuilder.byPlace(table, request, hierarchy, places, progress);
	}

	/**
	 * Parts of a machine x time: a model whose rows are places. What it leaves out is the same as in {@link #modelByPlace}.
	 *
	 * @param request its producer is the part of memory whose accesses count
	 * @param machine a hierarchy with a leaf for each place
	 * @throws IllegalArgumentException if the metric is {@link Metric#THREADS}, which cannot be summed up over pages
	 */
	public MicroscopicModel modelOfPlaces(ModelRequest request, Hierarchy machine, CpuPlaces places, Progress progress)
			throws MemtraceException {
		return ModelBuilder.ofPlaces(table, request, hierarchy(request.producer(), progress), places, machine, progress);
	}
}
