// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

import java.nio.file.Path;
import java.util.Locale;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.AggregationOptions;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.MicroscopicModel;
import org.memtrace.analysis.overview.RowLayout;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/**
 * {@link EngineBench} on a recorded or written trace, with rows for 700 pixels, by type of sharing or by thread. Arguments: {@code
 * FILE type|thread SLICES ROUNDS}. The JVM has just started: nothing smaller runs before.
 */
public final class TraceBench {
	private TraceBench() {
	}

	public static void main(String[] args) throws Exception {
		Locale.setDefault(Locale.ROOT);
		Dimension viewpoint = args[1].equals("thread") ? BasicDimensions.THREAD : BasicDimensions.TYPE;
		try (TraceStore store = Stores.openFile(Path.of(args[0]))) {
			AccessTable table = AccessTable.load(store, Progress.NONE);
			MicroscopicModel model = table.model(table.wholeRequest().withViewpoint(viewpoint).withSlices(Integer.parseInt(args[2])), Progress.NONE);
			NodeNames names = new NodeNames(model.hierarchy(), table.producers(), store.structures());
			AggregationOptions options = RowLayout.of(model, names).aggregation(model.sliceCount(), 700, 2);
			EngineBench.report(args, model, options, Integer.parseInt(args[3]));
		}
	}
}
