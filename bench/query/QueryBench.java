// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.statistics.AccessGroups;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/**
 * CPU time of groups of all accesses of a trace database, beside DuckDB (run.sh). Arguments: DATABASE WINDOW_NS. Each question is asked of
 * a trace that was just opened: the first time with code that is not compiled yet, then four times more, of which the least counts. So
 * nothing that memtrace keeps in memory between two questions helps.
 */
public final class QueryBench {
	private static final int ROUNDS = 5;

	private QueryBench() {
	}

	public static void main(String[] args) throws Exception {
		long windowNs = Long.parseLong(args[1]);
		for (String by : List.of("type", "structure,thread", "time", "structure")) {
			double first = 0;
			double least = Double.MAX_VALUE;
			String answer = "";
			for (int round = 0; round < ROUNDS; round++) {
				long cpu = cpuNs();
				try (TraceStore store = Stores.openFile(Path.of(args[0]))) {
					List<Dimension> keys = Arrays.stream(by.split(",")).map(name -> Dimensions.find(name, Dimension.Use.GROUP)).toList();
					AccessFilter all = AccessFilter.of(org.memtrace.model.store.AccessQuery.ALL);
					List<AccessGroups.Group> groups = AccessGroups.of(AccessTable.load(store, Progress.NONE), all, keys,
							by.contains("time") ? windowNs : 0, Progress.NONE);
					answer = String.format(Locale.ROOT, "%d groups, %d records, %d reads, %d writes", groups.size(),
							groups.stream().mapToLong(AccessGroups.Group::records).sum(), groups.stream().mapToLong(AccessGroups.Group::reads).sum(),
							groups.stream().mapToLong(AccessGroups.Group::writes).sum());
				}
				double seconds = (cpuNs() - cpu) / 1e9;
				first = round == 0 ? seconds : first;
				least = Math.min(least, seconds);
			}
			System.out.printf(Locale.ROOT, "| memtrace | %s | %.2f s | %.2f s | %s |%n", by, first, least, answer);
		}
	}

	private static long cpuNs() {
		return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
	}
}
