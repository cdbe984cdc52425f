// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.access;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;

import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.importer.parts.RowTables;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.tree.LeafTable;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;

/** An import whose images have what the tables of all parts say, and no rows. */
final class WholeImport implements Division, AutoCloseable {
	final AccessImport all;
	private final List<RowTables> parts;
	private final boolean completes;
	/** Leaf of the whole by leaf of a part, and rows of the leaves of the whole, by image. */
	final List<Map<Integer, int[]>> leafOf = new ArrayList<>();
	final Map<Integer, int[]> rowsOfLeaf = new HashMap<>();
	final Map<Integer, SkipCounter> skips = new HashMap<>();
	final List<int[]> cpuSetOf = new ArrayList<>();
	/** Threads that are not listed, by image and task id. */
	private final Map<Integer, Map<Long, Integer>> unlisted = new HashMap<>();

	/** @param completes whether skipped rows are counted, in the last step */
	WholeImport(TraceDirectory trace, String source, ImportRequest request, List<RowTables> parts, boolean completes, Progress progress)
			throws MemtraceException {
		this.parts = parts;
		this.completes = completes;
		all = new AccessImport(trace, source, request);
		boolean ok = false;
		try {
			for (RowTables part : parts) {
				leafOf.add(new HashMap<>());
				cpuSetOf.add(part.cpuSets().stream().mapToInt(all.cpuSets()::number).toArray());
			}
			all.read(this, progress);
			for (RowTables part : parts) {
				all.counts().add(part.counts());
			}
			if (all.counts().imported == 0) {
				throw all.empty();
			}
			ok = true;
		} finally {
			if (!ok) {
				all.close();
			}
		}
	}

	@Override
	public void close() {
		all.close();
	}

	@Override
	public boolean completes() {
		return completes;
	}

	@Override
	public SkipCounter skips(int image) {
		return skips.computeIfAbsent(image, key -> new SkipCounter(false));
	}

	@Override
	public void readShared(ImageData data) throws MemtraceException {
		read(data);
	}

	@Override
	public boolean read(ImageData data) throws MemtraceException {
		int index = data.index();
		int pageShift = Integer.numberOfTrailingZeros(all.pageSizeBytes());
		LeafTable leaves = data.leaves();
		int[] rows = new int[0];
		Map<Long, Integer> threads = unlisted.computeIfAbsent(index, key -> new LinkedHashMap<>());
		for (int p = 0; p < parts.size(); p++) {
			RowTables.OfImage part = parts.get(p).images().stream().filter(i -> i.index() == index).findFirst()
					.orElseThrow(() -> new StoreException("the parts do not know the process image " + index + " of the trace"));
			int[] leafOfPart = new int[part.leaves()];
			for (int l = 0; l < leafOfPart.length; l++) {
				int page = leaves.pageOf(part.page()[l] << pageShift, data.structures());
				leafOfPart[l] = leaves.leaf(page, part.structure()[l], part.frame()[l], part.node()[l]);
				if (leaves.size() > rows.length) {
					rows = Arrays.copyOf(rows, Math.max(256, leaves.size() * 2));
				}
				rows[leafOfPart[l]] = Math.addExact(rows[leafOfPart[l]], part.rows()[l]);
				data.rowsElsewhere(part.rows()[l]);
			}
			leafOf.get(p).put(index, leafOfPart);
			for (long task : part.unlisted()) {
				threads.computeIfAbsent(task, key -> all.context().addThread(data.image(), key));
			}
			long unsorted = part.unsorted() + (data.read() > 0 && part.read() > 0 && part.firstStartNs() < data.lastStartNs() ? 1 : 0);
			if (unsorted > 0) {
				all.counts().unsorted.merge(index, unsorted, Long::sum);
			}
			data.read(part.read(), part.firstStartNs(), part.lastStartNs());
			RowTables.Skips s = part.skips();
			(completes ? all.skips() : skips(index)).add(s.byReason(), s.firstPlaces(), s.warnings(), s.incompleteLines());
		}
		rowsOfLeaf.put(index, Arrays.copyOf(rows, leaves.size()));
		return true;
	}

	/** Thread of the whole by the number that it has in the rows of a part. */
	int[] threadOf(RowTables part) {
		List<Integer> threads = new ArrayList<>();
		for (int[] range : all.listed().values()) {
			for (int t = range[0]; t < range[1]; t++) {
				threads.add(t);
			}
		}
		for (RowTables.OfImage image : part.images()) {
			for (long task : image.unlisted()) {
				threads.add(unlisted.get(image.index()).get(task));
			}
		}
		return threads.stream().mapToInt(Integer::intValue).toArray();
	}

	/** The numbers of accesses of the leaves of the tree. */
	int[] rowsOfTree(CellOrder order) {
		int[] rows = new int[order.trees().virtual().size()];
		for (ImageData image : all.images()) {
			int[] own = rowsOfLeaf.get(image.index());
			for (int leaf = 0; leaf < own.length; leaf++) {
				int producer = order.trees().virtualLeaf()[image.cellOfLeaf()[leaf]];
				rows[producer] = Math.addExact(rows[producer], own[leaf]);
			}
		}
		return rows;
	}

	/** Changes with the pages of the trace, the numbers of their accesses, the tree, and what becomes of threads and CPUs. */
	long fingerprint(CellOrder order) {
		Sum sum = new Sum();
		sum.add(order.trees().virtualLeaf());
		sum.add(order.layout().cells().structure());
		sum.add(order.layout().cells().node());
		for (long address : order.layout().cells().address()) {
			sum.add((int) address, (int) (address >> 32));
		}
		for (ImageData image : all.images()) {
			sum.add(image.cellOfLeaf());
			sum.add(rowsOfLeaf.get(image.index()));
		}
		sum.add(all.cpuSets().sets().hashCode(), all.context().threads().hashCode());
		all.context().structures().forEach(s -> sum.add(s.toString().hashCode()));
		for (long n : all.counts().numbers()) {
			sum.add((int) n, (int) (n >> 32));
		}
		return sum.value();
	}

	/** A checksum of many numbers, of 64 bits. */
	private static final class Sum {
		private final CRC32 one = new CRC32();
		private final CRC32C other = new CRC32C();

		void add(int... numbers) {
			byte[] bytes = new byte[Integer.BYTES * numbers.length];
			ByteBuffer.wrap(bytes).asIntBuffer().put(numbers);
			one.update(bytes);
			other.update(bytes);
		}

		long value() {
			return one.getValue() << 32 | other.getValue();
		}
	}
}
