// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;

import com.sun.management.OperatingSystemMXBean;

import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.engine.AggregationOptions;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.engine.SignificantLevels;
import org.memtrace.aggregation.engine.SpatiotemporalAggregator;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.time.TimeSlices;
import org.memtrace.model.Progress;

/**
 * CPU time of the engine on one generated model, for {@code bench/aggregation/compare.sh}, which runs it with two builds in turns. One JVM,
 * one table row. Arguments: {@code phases|band LEAVES SLICES ROUNDS}. <em>phases</em>: four phases x eight groups, four types, 10 % noise.
 * <em>band</em>: each page is touched while a band passes over it, by one of eight threads, some pages also at random: thousands of
 * cells of their own, as in traces of memory.
 */
public final class EngineBench {
	private static final double[] PS = {0.05, 0.1, 0.2, 0.3, 0.5};
	private static final double[] LATER = {0.07, 0.15, 0.25, 0.35, 0.45, 0.12, 0.17, 0.22, 0.27};

	private EngineBench() {
	}

	/** CPU time of the process in milliseconds: all threads, with compiler and garbage collector. */
	static double cpuMs() {
		return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1e6;
	}

	public static void main(String[] args) throws Exception {
		Locale.setDefault(Locale.ROOT);
		int leaves = Integer.parseInt(args[1]);
		int slices = Integer.parseInt(args[2]);
		int rounds = Integer.parseInt(args[3]);
		boolean band = args[0].equals("band");
		// small ones first, so that the code is compiled
		for (int i = 0; i < 12; i++) {
			round(model(band, Math.max(64, leaves / 16), Math.max(8, slices / 4)), AggregationOptions.EXACT);
		}
		report(args, model(band, leaves, slices), AggregationOptions.EXACT, rounds);
	}

	/** Prints medians of the rounds, and a number that is the same for two builds only if all partitions of their lists are. */
	static void report(String[] args, MicroscopicModel model, AggregationOptions options, int rounds) throws Exception {
		List<double[]> results = new ArrayList<>();
		for (int r = 0; r < rounds; r++) {
			results.add(round(model, options));
		}
		StringBuilder row = new StringBuilder();
		for (int x = 0; x < NAMES.length; x++) {
			int column = x;
			double[] sorted = results.stream().mapToDouble(v -> v[column]).sorted().toArray();
			row.append(String.format(" %s %.0f", NAMES[x], sorted[sorted.length / 2]));
		}
		System.out.printf("%s%s partitions %08x%n", Arrays.toString(args), row, partitions);
	}

	private static int partitions;

	private static int hash(SignificantLevels levels) {
		int hash = 1;
		for (SignificantLevels.Level level : levels.levels()) {
			Partition e = level.partition();
			hash = 31 * hash + Double.hashCode(level.p());
			for (int b = 0; b < e.blockCount(); b++) {
				hash = 31 * (31 * (31 * hash + e.treeNode(b)) + e.firstSlice(b)) + e.endSlice(b);
				hash = 31 * (31 * hash + Double.hashCode(e.gain(b))) + Double.hashCode(e.loss(b));
			}
		}
		return hash;
	}

	private static final String[] NAMES = {"gains", "first-p", "later-p", "first-level", "list", "programmes", "levels", "MB"};

	/** Medians are taken of these, in milliseconds of CPU time. */
	private static double[] round(MicroscopicModel model, AggregationOptions options) throws Exception {
		double[] v = new double[NAMES.length];
		SpatiotemporalAggregator a = null;
		for (double p : PS) { // a new aggregator knows nothing of other p
			double x = cpuMs();
			a = SpatiotemporalAggregator.prepare(model, options, Progress.NONE);
			v[0] += (cpuMs() - x) / PS.length;
			x = cpuMs();
			a.partition(p);
			v[1] += (cpuMs() - x) / PS.length;
		}
		double x = cpuMs();
		for (double p : LATER) {
			a.partition(p);
		}
		v[2] = (cpuMs() - x) / LATER.length;
		a = SpatiotemporalAggregator.prepare(model, options, Progress.NONE);
		x = cpuMs();
		SignificantLevels.first(a, Progress.NONE);
		v[3] = cpuMs() - x;
		a = SpatiotemporalAggregator.prepare(model, options, Progress.NONE);
		x = cpuMs();
		SignificantLevels levels = SignificantLevels.compute(a, Progress.NONE);
		v[4] = cpuMs() - x;
		v[5] = levels.programmes();
		v[6] = levels.levels().size();
		v[7] = a.memoryBytes() / 1e6;
		partitions = hash(levels);
		return v;
	}

	private static MicroscopicModel model(boolean band, int leaves, int slices) {
		int types = band ? 8 : 4;
		List<Integer> parents = new ArrayList<>(List.of(-1));
		for (int from = 0, width = 1; width < leaves; width *= 2) {
			int to = parents.size();
			for (int n = from; n < to; n++) {
				parents.add(n);
				parents.add(n);
			}
			from = to;
		}
		Random random = new Random(13);
		double[][][] v = new double[leaves][slices][types];
		for (int l = 0; l < leaves; l++) {
			for (int t = 0; t < slices; t++) {
				if (band) {
					double passes = l * 0.875 * slices / leaves;
					if (t >= passes && t < passes + slices * 0.125 && random.nextInt(3) > 0) {
						v[l][t][random.nextInt(10) > 0 ? l * types / leaves : random.nextInt(types)] = 1 + random.nextInt(4);
					}
					continue;
				}
				for (int k = 0; k < types; k++) {
					boolean odd = l * 8 / leaves == 3 && t * 4 / slices == 2;
					double base = (t * 4 / slices + k) % 4 == 0 != odd ? 0.7 : 0.1;
					v[l][t][k] = base * 0.9 + 0.1 * random.nextDouble();
				}
			}
		}
		List<ModelType> list = new ArrayList<>();
		for (int k = 0; k < types; k++) {
			list.add(new ModelType("type " + k, ModelType.Role.OTHER, k));
		}
		return MicroscopicModel.ofDense(Hierarchy.of(parents.stream().mapToInt(i -> i).toArray()), new TimeSlices(0, 1_000_000L * slices, slices),
				list, Metric.ACCESSES, null, v);
	}
}
