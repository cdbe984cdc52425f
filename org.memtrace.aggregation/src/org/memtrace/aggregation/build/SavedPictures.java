// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.build;

import java.util.Arrays;
import java.util.List;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.base.SavedNumbers;
import org.memtrace.aggregation.base.SavedSections;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.columns.AccessColumn;

/**
 * The models of the first pictures of a trace with many pages, saved with its sums. Safe for all threads.
 *
 * @param sections where they are
 */
record SavedPictures(SavedSections sections) {
	static final String PICTURE = "picture";

	/**
	 * The model of the first picture ({@link ModelRequest#firstPicture}) by some dimension; null when it is not there, or was
	 * made with other types.
	 *
	 * @param hierarchy the whole tree, grouped
	 * @param types all types of the viewpoint, before those without values are removed
	 */
	MicroscopicModel get(Hierarchy hierarchy, List<ModelType> types, ModelRequest request) {
		MicroscopicModel model = sections.get(name(request), in -> {
			if (request.viewpoint() == BasicDimensions.TYPE) {
				return MicroscopicModel.read(in, hierarchy, types, request.metric(), request.viewpoint());
			}
			boolean known = in.signed() == hash(types);
			int[] kept = in.deltaInts();
			if (!known || Arrays.stream(kept).anyMatch(k -> k < 0 || k >= types.size())) {
				throw new SavedNumbers.Damaged("its types are not those of the trace");
			}
			return MicroscopicModel.read(in, hierarchy, Arrays.stream(kept).mapToObj(types::get).toList(), request.metric(), request.viewpoint());
		});
		// two dimensions can have one id: what is asked decides how structures are divided
		return model == null || model.viewpoint() != request.viewpoint() ? null : model;
	}

	/** Whether the first picture by this dimension may be saved: nothing but the accesses and their tables decides about its values. */
	static boolean saves(Dimension viewpoint) {
		return viewpoint == BasicDimensions.TYPE || viewpoint.isOfSums() && viewpoint.can(Dimension.Use.COLOUR)
				&& viewpoint.columns().stream().noneMatch(c -> c == AccessColumn.TIME);
	}

	private static String name(ModelRequest request) {
		return request.viewpoint() == BasicDimensions.TYPE ? PICTURE : PICTURE + "-" + request.viewpoint().id();
	}

	private static long hash(List<ModelType> types) {
		long hash = types.size();
		for (ModelType type : types) {
			hash = hash * 0x9e3779b97f4a7c15L + type.name().hashCode();
		}
		return hash;
	}

	/** @param types all types of the viewpoint, among them those of the model in the same order */
	void put(MicroscopicModel model, List<ModelType> types, ModelRequest request) throws MemtraceException {
		SavedNumbers.Out out = sections.out();
		if (request.viewpoint() != BasicDimensions.TYPE) {
			int[] kept = model.types().stream().mapToInt(types::indexOf).toArray();
			if (Arrays.stream(kept).anyMatch(k -> k < 0)) {
				return; // nothing has a value
			}
			out.signed(hash(types)).deltas(kept, kept.length);
		}
		model.write(out);
		sections.put(name(request), model, out);
	}
}
