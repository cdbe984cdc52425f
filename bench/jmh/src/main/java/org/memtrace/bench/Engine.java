// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.bench;

import java.util.ArrayList;
import java.util.List;

import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.engine.AggregationOptions;
import org.memtrace.aggregation.engine.SpatiotemporalAggregator;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.time.TimeSlices;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/** Generated data as in the figures of the reference: balanced binary tree, four phases, eight groups, 10 % noise. */
final class Engine {
	final MicroscopicModel model;
	final SpatiotemporalAggregator aggregator;
	private static final double[] P = {0.5, 0.3, 0.2, 0.1, 0.05, 0.4};
	private int next;

	/** @param size {@code leaves:slices:types} */
	Engine(String size) throws CancelledException {
		String[] s = size.split(":");
		model = model(Integer.parseInt(s[0]), Integer.parseInt(s[1]), Integer.parseInt(s[2]));
		aggregator = prepare();
	}

	SpatiotemporalAggregator prepare() throws CancelledException {
		return SpatiotemporalAggregator.prepare(model, AggregationOptions.EXACT, Progress.NONE);
	}

	/** A p that is not the last one: nothing is found again. */
	double p() {
		next = (next + 1) % P.length;
		return P[next];
	}

	private static MicroscopicModel model(int leaves, int slices, int types) {
		int[] parents = new int[2 * leaves - 1];
		parents[0] = -1;
		for (int n = 1; n < parents.length; n++) {
			parents[n] = (n - 1) / 2;
		}
		double[][][] values = new double[leaves][slices][types];
		long x = 0x9E3779B97F4A7C15L + 1;
		for (int l = 0; l < leaves; l++) {
			for (int t = 0; t < slices; t++) {
				for (int k = 0; k < types; k++) {
					x ^= x << 13;
					x ^= x >>> 7;
					x ^= x << 17;
					double base = (t * 4 / slices + k) % 4 == 0 ? 0.7 : 0.1;
					if (l * 8 / leaves == 3 && t * 4 / slices == 2) {
						base = 1 - base;
					}
					values[l][t][k] = base * 0.9 + 0.1 * (x >>> 11) * (1.0 / 9007199254740992.0);
				}
			}
		}
		List<ModelType> list = new ArrayList<>();
		for (int k = 0; k < types; k++) {
			list.add(new ModelType("type " + k, ModelType.Role.OTHER, k));
		}
		return MicroscopicModel.ofDense(Hierarchy.of(parents), new TimeSlices(0, 1_000_000L * slices, slices), list,
				Metric.ACCESSES, null, values);
	}
}
