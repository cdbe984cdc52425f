// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.engine.AggregationOptions;
import org.memtrace.aggregation.engine.SpatiotemporalAggregator;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.analysis.overview.RowLayout;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/**
 * {@link EngineBench} on a recorded or written trace, with rows for 700 pixels, by type of sharing or by thread. Arguments: {@code
 * FILE type|thread SLICES ROUNDS}; with 0 rounds one p after the other, and no list. The JVM has just started: nothing smaller runs before.
 */
public final class TraceBench {
	private TraceBench() {
	}

	public static void main(String[] args) throws Exception {
		Locale.setDefault(Locale.ROOT);
		Dimension viewpoint = args[1].equals("thread") ? BasicDimensions.THREAD : BasicDimensions.TYPE;
		try (TraceStore store = Stores.openFile(Path.of(args[0]))) {
			AccessModels models = new AccessModels(AccessTable.load(store, Progress.NONE));
			MicroscopicModel model = models.model(models.wholeRequest().withViewpoint(viewpoint).withSlices(Integer.parseInt(args[2])),
					Progress.NONE);
			NodeNames names = new NodeNames(model.hierarchy(), models.producers(), store.structures());
			AggregationOptions options = RowLayout.of(model, names).aggregation(model.sliceCount(), 700, 2);
			int rounds = Integer.parseInt(args[3]);
			if (rounds > 0) {
				EngineBench.report(args, model, options, rounds);
			} else {
				dragging(args, model, options);
			}
		}
	}

	/** ROUNDS 0: each p alone, twice, the second time with compiled code. */
	private static void dragging(String[] args, MicroscopicModel model, AggregationOptions options) throws Exception {
		for (int r = 0; r < 2; r++) {
			double x = EngineBench.cpuMs();
			SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(model, options, Progress.NONE);
			StringBuilder row = new StringBuilder();
			row.append(String.format(" nodes %d gains %.0f;", a.tree().size(), EngineBench.cpuMs() - x));
			for (double p : new double[] {0.3, 0.2, 0.1, 0.05, 0.5, 0.35, 0.25, 0.15, 0.07, 0.4, 0.02}) {
				x = EngineBench.cpuMs();
				a.partition(p, Progress.NONE);
				row.append(String.format(" p %.2f %.0f", p, EngineBench.cpuMs() - x));
			}
			System.out.printf("%s%s MB %.0f%n", Arrays.toString(args), row, a.memoryBytes() / 1e6);
		}
	}
}
