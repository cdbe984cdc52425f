// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.build.Preparation;
import org.memtrace.aggregation.engine.AggregationOptions;
import org.memtrace.aggregation.engine.PartLosses;
import org.memtrace.aggregation.engine.SignificantLevels;
import org.memtrace.aggregation.engine.SpatiotemporalAggregator;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.overview.RowLayout;
import org.memtrace.analysis.statistics.AccessGroups;
import org.memtrace.analysis.statistics.Statistics;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/**
 * What is answered from the sums that are saved with a trace (docs/measured/import.md, "saved sums and first picture"): saved.sh. Argument:
 * DATABASE, which gets them when it has none. Each of three rounds opens the trace again; the first is that of a JVM that has just started.
 */
public final class SavedBench {
	private static long cpu;
	private static long wall;

	private SavedBench() {
	}

	public static void main(String[] args) throws Exception {
		Path file = Path.of(args[0]);
		begin();
		try (TraceStore store = Stores.openFile(file)) {
			Preparation.save(store, Dimensions.firstPictures(), Progress.NONE);
			end("save, unless they are there", store.accessCount() + " accesses");
		}
		for (int round = 1; round <= 3; round++) {
			System.out.println("round " + round);
			begin();
			try (TraceStore store = Stores.openFile(file)) {
				AccessTable table = AccessTable.load(store, Progress.NONE);
				end("open", "");
				picture(store, table);
				for (Dimension by : List.of(Statistics.structures(), BasicDimensions.THREAD, BasicDimensions.TYPE)) {
					List<Statistics.Item> items = Statistics.of(table, Statistics.Sum.ACCESSES, by, store.info().startNs(), store.info().endNs(), -1,
							Progress.NONE);
					end("sums by " + by.label(), String.format(Locale.ROOT, "%d parts, %.0f", items.size(),
							items.stream().mapToDouble(i -> i.value()).sum()));
				}
				for (String by : List.of("type", "structure,thread", "structure", "time", "time,thread")) {
					List<Dimension> keys = Arrays.stream(by.split(",")).map(name -> Dimensions.find(name, Dimension.Use.GROUP)).toList();
					List<AccessGroups.Group> groups = AccessGroups.of(table, AccessFilter.of(AccessQuery.ALL), keys, by.contains("time") ? 1_000_000_000
							: 0, Progress.NONE);
					end("groups by " + by, groups.size() + " groups, " + groups.stream().mapToLong(g -> g.reads() + g.writes()).sum());
				}
			}
			System.gc();
			System.out.printf(Locale.ROOT, "| heap in use after it | | | %,d MB |%n",
					ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 1_000_000);
		}
	}

	/** As the workbench does it for a picture of 1,000 pixels. */
	private static void picture(TraceStore store, AccessTable table) throws Exception {
		ModelRequest request = ModelRequest.firstPicture(store.info().startNs(), store.info().endNs());
		Hierarchy hierarchy = new AccessModels(table).hierarchy(-1, Progress.NONE).grouped(store.producers());
		MicroscopicModel model = new AccessModels(table).model(request, hierarchy, Progress.NONE);
		end("tree and model", model.valueCount() + " values");
		RowLayout rows = RowLayout.of(hierarchy, new NodeNames(hierarchy, store.producers(), store.structures()));
		PartLosses losses = PartLosses.of(model, rows.largeSections(), false);
		AggregationOptions options = rows.aggregation(request.slices(), 1000, 2);
		SpatiotemporalAggregator aggregator = SpatiotemporalAggregator.prepare(model, options, Progress.NONE);
		SignificantLevels.First first = SignificantLevels.first(aggregator, losses, Progress.NONE);
		end("gains and first level", first.initial().partition().blockCount() + " blocks");
	}

	private static void begin() {
		cpu = cpuNs();
		wall = System.nanoTime();
	}

	private static void end(String what, String answer) {
		System.out.printf(Locale.ROOT, "| %s | %.3f s | %.3f s | %s |%n", what, (cpuNs() - cpu) / 1e9, (System.nanoTime() - wall) / 1e9, answer);
		begin();
	}

	private static long cpuNs() {
		return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
	}
}
