// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.access;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.importer.input.Json;
import org.memtrace.importer.memtrace.ContextTables;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.importer.rows.RowSpill;
import org.memtrace.importer.sharing.SharingEvidence;
import org.memtrace.model.memory.Structure;

/**
 * The memory that several ranks of a machine have mapped. What they access in it goes to an image of its own, one for each machine, in
 * which each segment is one structure: so a page is one page, whoever touches it and wherever he has mapped it, and the number of threads
 * on it counts those of all ranks. Its addresses are none of a process: they only say where in the segment something is.
 */
final class SharedSegments {
	/** Segments begin at multiples of this, from the first on. */
	private static final long ALIGNMENT = 2L << 20;

	/** Where the accesses to a mapping go: {@code toShared} is added to their addresses. */
	record Target(ImageData data, long toShared) {
	}

	static final SharedSegments NONE = new SharedSegments();

	private final Map<String, ImageData> byMachine = new LinkedHashMap<>();
	private final Map<Integer, Target> targets = new HashMap<>();

	private SharedSegments() {
	}

	/**
	 * Finds the segments that are mapped by two images of a machine or more.
	 *
	 * @param context all images have been read; gets the segments as structures
	 * @param firstIndex number of the first image that is made
	 * @param rows makes room for the rows of an image
	 */
	static SharedSegments of(TraceDirectory trace, ContextTables context, int firstIndex, java.util.function.Supplier<RowSpill> rows,
			SharingEvidence evidence) {
		SharedSegments shared = new SharedSegments();
		Map<ContextTables.Segment, List<Integer>> bySegment = new LinkedHashMap<>();
		context.segments().keySet().stream().sorted()
				.forEach(id -> bySegment.computeIfAbsent(context.segments().get(id).whole(), key -> new ArrayList<>()).add(id));
		bySegment.values().removeIf(ids -> ids.stream().map(id -> context.structures().get(id).image()).distinct().count() < 2);
		Map<String, TraceDirectory.Image> images = new LinkedHashMap<>();
		for (ContextTables.Segment segment : bySegment.keySet()) {
			if (!images.containsKey(segment.machine())) {
				String host = trace.images().stream().filter(i -> i.rank() != null && i.rank().machine().equals(segment.machine()))
						.map(i -> i.rank().host()).findFirst().orElse("");
				images.put(segment.machine(), new TraceDirectory.Image(firstIndex + images.size(), null, Json.EMPTY, List.of(), List.of(),
						new TraceDirectory.Rank(-1, host, segment.machine(), 0)));
			}
		}
		int pageShift = Integer.numberOfTrailingZeros(trace.pageSizeBytes());
		for (Map.Entry<String, TraceDirectory.Image> image : images.entrySet()) { // structures of an image follow each other
			List<Structure> own = new ArrayList<>();
			Map<Integer, Long> toShared = new HashMap<>();
			long next = ALIGNMENT;
			for (Map.Entry<ContextTables.Segment, List<Integer>> segment : bySegment.entrySet()) {
				if (!segment.getKey().machine().equals(image.getKey())) {
					continue;
				}
				long from = Long.MAX_VALUE;
				long to = 0;
				for (int id : segment.getValue()) {
					long offset = context.segments().get(id).offset();
					from = Math.min(from, offset);
					to = Math.max(to, offset + context.structures().get(id).sizeBytes());
				}
				Structure like = context.structures().get(segment.getValue().get(0));
				own.add(context.structures().get(context.addShared(image.getValue(), like, next, next + to - from)));
				for (int id : segment.getValue()) {
					toShared.put(id, next + context.segments().get(id).offset() - from - context.structures().get(id).startAddress());
				}
				next = (next + to - from + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
			}
			ImageData data = new ImageData(image.getValue(), pageShift, own, rows.get(), evidence);
			shared.byMachine.put(image.getKey(), data);
			toShared.forEach((id, add) -> shared.targets.put(id, new Target(data, add)));
		}
		return shared;
	}

	/** Where the accesses of a structure go; null: it is none that several have. */
	Target target(int structure) {
		return targets.isEmpty() ? null : targets.get(structure);
	}

	/** The images of the machines, in order of their numbers. */
	Collection<ImageData> images() {
		return byMachine.values();
	}

	/** Segments. */
	int count() {
		return byMachine.values().stream().mapToInt(data -> data.structures().size()).sum();
	}
}
