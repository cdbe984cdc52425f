// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.build;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.memtrace.aggregation.AccessCube;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.SavedSums;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.store.TraceStore;

/** What is computed once of all accesses and saved with a trace, so that sums and first pictures need not read them. */
public final class Preparation {
	private Preparation() {
	}

	/**
	 * Computes what {@link AccessTable#rows} and first pictures are answered from and saves it with the trace, unless it is there. Reads all
	 * accesses two or three times.
	 *
	 * @param viewpoints by which first pictures are saved, besides that by type
	 * @return whether it is there now; it is not when the store cannot save it or accesses are damaged
	 */
	public static boolean save(TraceStore store, List<Dimension> viewpoints, Progress progress) throws MemtraceException {
		return save(AccessTable.load(store, progress), viewpoints, AccessCube.MOST_CELLS, Hierarchy.MOST_SINGLE_LEAVES, progress);
	}

	/** Saves the sums with the first picture by type only. */
	public static boolean save(TraceStore store, Progress progress) throws MemtraceException {
		return save(store, List.of(), progress);
	}

	/** Saves the sums with other limits: the number of cells, and of leaves without groups. For tests. */
	public static boolean save(AccessTable table, List<Dimension> viewpoints, int mostCells, int mostSingleLeaves, Progress progress)
			throws MemtraceException {
		return table.prepareSums(mostCells, sums -> pictures(table, sums, viewpoints, mostSingleLeaves, progress), progress);
	}

	/** Makes and saves the first pictures in one pass; false when accesses could not be read. */
	private static boolean pictures(AccessTable table, SavedSums sums, List<Dimension> viewpoints, int mostSingleLeaves, Progress progress)
			throws MemtraceException {
		Hierarchy hierarchy = Hierarchy.of(table.producers(), 0, table.producers().size(), sums.facts().inner())
				.grouped(table.producers(), mostSingleLeaves);
		if (!hierarchy.isGrouped()) {
			return true;
		}
		List<ModelRequest> requests = new ArrayList<>();
		requests.add(ModelRequest.firstPicture(table.info().startNs(), table.info().endNs()));
		viewpoints.stream().filter(SavedPictures::saves).forEach(v -> requests.add(requests.getFirst().withViewpoint(v)));
		List<ModelBuilder> builders = new ArrayList<>();
		for (ModelRequest request : requests) {
			builders.add(new ModelBuilder(table, request, progress));
		}
		List<MicroscopicModel> models = ModelBuilder.build(builders, hierarchy, "Preparing sums and first pictures (3 of 3)", progress);
		if (!table.lost().isNone()) {
			return false;
		}
		SavedPictures pictures = new SavedPictures(sums.sections());
		for (int i = 0; i < models.size(); i++) {
			pictures.put(models.get(i), builders.get(i).types(), requests.get(i));
		}
		return true;
	}

	/**
	 * Looks whether what is saved with a trace is what was written, and counts what the accesses count.
	 *
	 * @param viewpoints of the first pictures, besides that by type
	 * @param problems gets a sentence for each thing that is wrong
	 */
	public static void verify(TraceStore store, List<Dimension> viewpoints, Consumer<String> problems) throws MemtraceException {
		String stamp = store.contentStamp();
		if (stamp.isEmpty() || store.accessCount() == 0) {
			return;
		}
		SavedSums saved = new SavedSums(store, stamp, problems);
		if (saved.facts() == null) {
			return;
		}
		saved.touches();
		AccessTable table = AccessTable.load(store, Progress.NONE);
		Hierarchy hierarchy = Hierarchy.of(table.producers(), 0, table.producers().size(),
				saved.facts().inner()).grouped(table.producers());
		ModelRequest request = ModelRequest.firstPicture(store.info().startNs(), store.info().endNs());
		if (hierarchy.isGrouped()) {
			SavedPictures pictures = new SavedPictures(saved.sections());
			pictures.get(hierarchy, new ModelBuilder(table, request, Progress.NONE).types(), request);
			for (Dimension viewpoint : viewpoints) {
				ModelRequest by = request.withViewpoint(viewpoint);
				pictures.get(hierarchy, new ModelBuilder(table, by, Progress.NONE).types(), by);
			}
		}
		AccessSource source = store.accessSource(Progress.NONE);
		long[] wanted = new long[3];
		for (int c = 0; c < source.chunks(); c++) {
			wanted[0] += source.info(c).rows();
			wanted[1] += source.info(c).reads();
			wanted[2] += source.info(c).writes();
		}
		Map<String, Supplier<AccessCube>> cubes = new TreeMap<>();
		cubes.put(SavedSums.TOTALS, saved::totals);
		cubes.put(SavedSums.CUBE, saved::cube);
		cubes.forEach((name, section) -> {
			AccessCube cube = section.get();
			long[] found = cube == null ? wanted : cube.sums();
			if (!Arrays.equals(found, wanted)) {
				problems.accept(String.format(Locale.ROOT, "The sums that are saved with %s are wrong (%s): they count %,d accesses, %,d reads and"
						+ " %,d writes, the accesses %,d, %,d and %,d", store.info().alias(), name, found[0], found[1], found[2], wanted[0], wanted[1],
						wanted[2]));
			}
		});
	}
}
