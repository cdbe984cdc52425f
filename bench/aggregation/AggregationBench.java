// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import com.sun.management.OperatingSystemMXBean;

import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.engine.AggregationOptions;
import org.memtrace.aggregation.engine.SignificantLevels;
import org.memtrace.aggregation.engine.SpatiotemporalAggregator;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.time.TimeSlices;
import org.memtrace.model.Progress;

/**
 * Time and memory of the spatiotemporal aggregation on generated data: four phases x eight groups with 10 % noise, balanced
 * binary tree, as in the figures of the reference. Arguments: {@code leaves:slices:types ...}; prints one table row each.
 * Run: {@code bench/aggregation/run.sh [CASE...]}.
 */
public final class AggregationBench {
	private static final String[] DEFAULT = {"1024:20:4", "1024:50:4", "4096:50:4", "1024:100:4", "4096:100:4"};
	private static final String[] CURVES = {"256:50:4", "512:50:4", "1024:50:4", "2048:50:4", "4096:50:4", "8192:50:4",
		"1024:10:4", "1024:20:4", "1024:40:4", "1024:80:4", "1024:160:4", "1024:50:1", "1024:50:2", "1024:50:8"};

	private AggregationBench() {
	}

	public static void main(String[] args) throws Exception {
		Locale.setDefault(Locale.ROOT);
		String[] cases = args.length == 0 ? DEFAULT : args[0].equals("curves") ? CURVES : args;
		run("256:50:4", false);
		run("256:50:4", false);
		run("1024:50:4", false);
		System.out.println("| leaves | slices | types | gains ms | first p CPU ms | by p = 0.05, 0.1, 0.2, 0.3, 0.5 | next p CPU ms | clock ms of first p "
				+ "| first level CPU ms | list CPU ms | clock ms | programmes | levels | tables MB | live heap MB |");
		System.out.println("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
		for (String c : cases) {
			run(c, true);
		}
	}

	private static final double[] PS = {0.05, 0.1, 0.2, 0.3, 0.5};

	/** CPU time of the process in milliseconds: all threads, with compiler and garbage collector. */
	private static double cpuMs() {
		return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1e6;
	}

	private static void run(String spec, boolean print) throws Exception {
		String[] s = spec.split(":");
		int leaves = Integer.parseInt(s[0]);
		int slices = Integer.parseInt(s[1]);
		int types = Integer.parseInt(s[2]);
		MicroscopicModel model = model(leaves, slices, types);
		double gains = 0;
		double first = 0;
		double clock = 0;
		StringBuilder byP = new StringBuilder();
		SpatiotemporalAggregator a = null;
		// a new aggregator knows nothing of other p
		for (double p : PS) {
			double x = cpuMs();
			a = SpatiotemporalAggregator.prepare(model, AggregationOptions.EXACT, Progress.NONE);
			gains += (cpuMs() - x) / PS.length;
			x = cpuMs();
			long t = System.nanoTime();
			a.partition(p);
			clock += (System.nanoTime() - t) / 1e6 / PS.length;
			first += (cpuMs() - x) / PS.length;
			byP.append(byP.length() > 0 ? " " : "").append(Math.round(cpuMs() - x));
		}
		double next = cpuMs();
		double[] more = {0.07, 0.15, 0.25, 0.35, 0.45, 0.12, 0.17, 0.22, 0.27};
		for (double p : more) {
			a.partition(p);
		}
		next = (cpuMs() - next) / more.length;
		a = SpatiotemporalAggregator.prepare(model, AggregationOptions.EXACT, Progress.NONE);
		double x = cpuMs();
		SignificantLevels.first(a, Progress.NONE);
		double level = cpuMs() - x;
		a = SpatiotemporalAggregator.prepare(model, AggregationOptions.EXACT, Progress.NONE);
		x = cpuMs();
		long t = System.nanoTime();
		SignificantLevels levels = SignificantLevels.compute(a, Progress.NONE);
		double listClock = (System.nanoTime() - t) / 1e6;
		double list = cpuMs() - x;
		System.gc();
		double heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 1e6;
		if (print) {
			System.out.printf("| %,d | %d | %d | %.0f | %.0f | %s | %.0f | %.0f | %.0f | %.0f | %.0f | %d | %d | %.0f | %.0f |%n", leaves, slices,
					types, gains, first, byP, next, clock, level, list, listClock, levels.programmes(), levels.levels().size(),
					a.memoryBytes() / 1e6, heap);
		}
	}

	private static MicroscopicModel model(int leaves, int slices, int types) {
		List<Integer> parents = new ArrayList<>();
		parents.add(-1);
		int from = 0;
		for (int width = 1; width < leaves; width *= 2) {
			int to = parents.size();
			for (int n = from; n < to; n++) {
				parents.add(n);
				parents.add(n);
			}
			from = to;
		}
		Hierarchy h = Hierarchy.of(parents.stream().mapToInt(i -> i).toArray());
		double[][][] values = new double[leaves][slices][types];
		long x = 0x9E3779B97F4A7C15L + 1;
		for (int l = 0; l < leaves; l++) {
			for (int t = 0; t < slices; t++) {
				for (int k = 0; k < types; k++) {
					x ^= x << 13;
					x ^= x >>> 7;
					x ^= x << 17;
					double u = (x >>> 11) * (1.0 / 9007199254740992.0);
					int phase = t * 4 / slices;
					int group = l * 8 / leaves;
					double base = (phase + k) % 4 == 0 ? 0.7 : 0.1;
					if (group == 3 && phase == 2) {
						base = 1 - base;
					}
					values[l][t][k] = base * 0.9 + 0.1 * u;
				}
			}
		}
		List<ModelType> list = new ArrayList<>();
		for (int k = 0; k < types; k++) {
			list.add(new ModelType("type " + k, ModelType.Role.OTHER, k));
		}
		return MicroscopicModel.ofDense(h, new TimeSlices(0, 1_000_000L * slices, slices), list, Metric.ACCESSES, null, values);
	}
}
