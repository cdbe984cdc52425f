// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.time.TimeSlices;

/** Random hierarchies and models; everything follows from the seed. */
public final class RandomModels {
	private RandomModels() {
	}

	/** Parents of a random tree with that many nodes; chains of one child occur. */
	public static int[] tree(Random random, int nodes) {
		int[] parents = new int[nodes];
		parents[0] = -1;
		for (int i = 1; i < nodes; i++) {
			parents[i] = random.nextInt(3) == 0 ? i - 1 : random.nextInt(i);
		}
		return parents;
	}

	/** Values with empty cells, equal neighbours and a few large ones. */
	public static double[][][] values(Random random, int leaves, int slices, int types) {
		double[][][] v = new double[leaves][slices][types];
		for (double[][] leaf : v) {
			for (int t = 0; t < slices; t++) {
				for (int k = 0; k < types; k++) {
					leaf[t][k] = switch (random.nextInt(4)) {
					case 0 -> 0;
					case 1 -> t > 0 ? leaf[t - 1][k] : 1;
					case 2 -> random.nextInt(5);
					default -> random.nextDouble() * 10;
					};
				}
			}
		}
		return v;
	}

	public static List<ModelType> types(int k) {
		List<ModelType> types = new ArrayList<>();
		for (int i = 0; i < k; i++) {
			types.add(new ModelType("type " + i, ModelType.Role.OTHER, i));
		}
		return types;
	}

	public static MicroscopicModel model(Hierarchy h, double[][][] values) {
		int slices = values[0].length;
		return MicroscopicModel.ofDense(h, new TimeSlices(0, 1000L * slices, slices), types(values[0][0].length),
				Metric.ACCESSES, null, values);
	}
}
