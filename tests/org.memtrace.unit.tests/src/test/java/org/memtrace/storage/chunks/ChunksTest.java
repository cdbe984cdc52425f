// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.chunks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.columns.ChunkInfo;
import org.memtrace.model.columns.DamagedChunkException;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.AccessVisitor;

/** Rows go in in any order and come out in two: that of the tree and that of time. Whatever the numbers are. */
class ChunksTest {
	@TempDir
	Path directory;

	record Row(int leaf, long start, long end, int thread, int cpuSet, int cell, long reads, long writes, int sharing, int node, int flags,
			long ip, int readOffset, int writeOffset, long firstNs) {
		static final Comparator<Row> ORDER = Comparator.comparingInt(Row::leaf).thenComparingLong(Row::start).thenComparingLong(Row::end)
				.thenComparing(Row::firstNs, Long::compareUnsigned);
	}

	/** What the numbers of a column are like. */
	private static LongSupplier column(Random random, long low, long high) {
		long[] some = random.longs(1 + random.nextInt(5), low, high).toArray();
		return switch (random.nextInt(8)) {
		case 0 -> () -> low;
		case 1 -> () -> high - 1;
		case 2 -> () -> some[random.nextInt(some.length)];
		case 3 -> () -> low + (random.nextInt(500) == 0 ? random.nextLong(high - low) : 0);
		case 4 -> () -> Math.min(high - 1, Math.max(low, 1L << random.nextInt(63)));
		case 5 -> {
			long[] last = {low};
			yield () -> last[0] = random.nextInt(20) == 0 ? random.nextLong(low, high) : last[0];
		}
		case 6 -> () -> Math.min(high - 1, low + random.nextInt(256));
		default -> () -> random.nextLong(low, high);
		};
	}

	private record Case(List<Row> rows, int[] leafOfCell, int leaves) {
	}

	private static Case random(Random random) {
		int cells = 1 << random.nextInt(10);
		int[] leafOfCell = new int[cells];
		int leaf = random.nextInt(3);
		for (int c = 0; c < cells; c++) {
			leafOfCell[c] = leaf;
			leaf += random.nextInt(4) == 0 ? 0 : 1 + random.nextInt(3);
		}
		int n = switch (random.nextInt(6)) {
		case 0 -> 1;
		case 1 -> 2 + random.nextInt(5);
		case 2 -> 64;
		default -> 1 + random.nextInt(3000);
		};
		long most = random.nextInt(3) == 0 ? 1L << 50 : 1000;
		LongSupplier cell = column(random, 0, cells);
		LongSupplier start = random.nextInt(3) == 0 ? column(random, Long.MIN_VALUE / 4, Long.MAX_VALUE / 4) : column(random, 0, most);
		LongSupplier duration = column(random, 1, random.nextBoolean() ? 2 : 1L << 61);
		LongSupplier thread = column(random, -1, 1 + random.nextInt(300));
		LongSupplier cpuSet = column(random, -1, 1 + random.nextInt(300));
		LongSupplier reads = column(random, 0, random.nextBoolean() ? 3 : Long.MAX_VALUE / 10_000);
		LongSupplier writes = column(random, 0, random.nextBoolean() ? 3 : Long.MAX_VALUE / 10_000);
		LongSupplier sharing = column(random, 0, 70);
		LongSupplier node = column(random, -1, 3);
		LongSupplier flags = column(random, 0, Integer.MAX_VALUE);
		LongSupplier ip = random.nextBoolean() ? column(random, Long.MIN_VALUE / 2, Long.MAX_VALUE / 2) : column(random, 0, 1 << 24);
		LongSupplier offset = column(random, -1, 1 << 12);
		LongSupplier first = column(random, -1, 1L << 40);
		boolean bound = random.nextBoolean();
		List<Row> rows = new ArrayList<>();
		for (int i = 0; i < n; i++) {
			int c = (int) cell.getAsLong();
			long s = start.getAsLong();
			int t = (int) thread.getAsLong();
			long r = reads.getAsLong();
			long w = writes.getAsLong();
			r = r == 0 && w == 0 ? 1 : r;
			rows.add(new Row(leafOfCell[c], s, s + duration.getAsLong(), t, bound ? (t + 1) * 2 : (int) cpuSet.getAsLong(), c, r, w,
					(int) sharing.getAsLong(), (int) node.getAsLong(), (int) flags.getAsLong(), ip.getAsLong(),
					r > 0 ? (int) offset.getAsLong() : -1, w > 0 ? (int) offset.getAsLong() : -1, first.getAsLong()));
		}
		if (random.nextBoolean()) {
			rows.sort(Comparator.comparingLong(Row::start));
		}
		return new Case(rows, leafOfCell, leafOfCell[cells - 1] + 1);
	}

	private static AccessBatch batch(List<Row> rows) {
		AccessBatch batch = new AccessBatch(rows.size());
		for (Row r : rows) {
			batch.add(r.start, r.end, r.cell, r.thread, r.cpuSet, r.reads, r.writes, r.sharing, r.node, r.flags, r.ip, r.readOffset,
					r.writeOffset, r.firstNs);
		}
		return batch;
	}

	private HeapBlobs write(Case c, int runRows, int chunkRows, int mostChunkRows, long heapBytes) throws Exception {
		HeapBlobs blobs = new HeapBlobs();
		try (RowSorter sorter = new RowSorter(c.leafOfCell, c.leaves, directory, runRows, chunkRows, mostChunkRows, heapBytes)) {
			AccessBatch all = batch(c.rows);
			for (int i = 0; i < all.count; i++) {
				sorter.add(all, i);
			}
			assertEquals(all.count, sorter.rows());
			sorter.finish(Progress.NONE, blobs);
		}
		return blobs;
	}

	private static List<Row> read(StoredChunks chunks, int[] leafOfCell) throws Exception {
		List<Row> rows = new ArrayList<>();
		AccessChunk c = new AccessChunk();
		ChunkCells cells = new ChunkCells();
		for (int k = 0; k < chunks.size(); k++) {
			chunks.verify(k, c, cells);
			assertEquals(chunks.firstRow(k), rows.size());
			assertEquals(c.rows, c.leafFrom[c.leaves]);
			for (int l = 0; l < c.leaves; l++) {
				for (int r = c.leafFrom[l]; r < c.leafFrom[l + 1]; r++) {
					assertEquals(leafOfCell[c.leaf[l]], leafOfCell[cells.cell[r]]);
					rows.add(new Row(leafOfCell[c.leaf[l]], c.startNs(r), c.endNs(r), c.thread[r], c.cpuSet[r], cells.cell[r], c.reads[r],
							c.writes[r], c.sharing[r], c.node[r], c.flags[r], c.ip[r], c.readOffset[r], c.writeOffset[r], c.firstNs[r]));
				}
			}
		}
		return rows;
	}

	/** Their index says nothing of first accesses, which came last. */
	@Test
	void chunksThatWereMadeEarlierKnowNoFirstAccess() throws Exception {
		Case c = random(new Random(20261128));
		List<Row> before = c.rows.stream().map(r -> new Row(r.leaf, r.start, r.end, r.thread, r.cpuSet, r.cell, r.reads, r.writes, r.sharing,
				r.node, r.flags, r.ip, r.readOffset, r.writeOffset, AccessBatch.NO_FIRST)).sorted(Row.ORDER).toList();
		HeapBlobs blobs = write(new Case(before, c.leafOfCell, c.leaves), 100, 50, 100, 0);
		List<ChunkEntry> index = blobs.index().stream().map(e -> {
			int sum = Math.ceilDiv(64 - Long.numberOfLeadingZeros(2L * e.rows() - 1), 7); // zigzag, LEB128: 2 * rows - 1
			byte[] columns = Arrays.copyOf(e.columns(), e.columns().length - 3 - sum);
			return new ChunkEntry(e.rows(), e.cellFrom(), e.cellTo(), e.startNs(), e.lastStartNs(), e.endNs(), e.reads(), e.writes(), columns);
		}).toList();
		assertEquals(before, read(new StoredChunks("t", index, blobs), c.leafOfCell));
	}

	@Test
	void whatGoesInComesOutInTheOrderOfTheTree() throws Exception {
		long seed = 20261122;
		for (int i = 0; i < 300; i++) {
			Random random = new Random(seed + i);
			Case c = random(random);
			String about = "seed " + (seed + i) + ", " + c.rows.size() + " rows";
			int chunkRows = 1 + random.nextInt(random.nextBoolean() ? 20 : 2000);
			HeapBlobs blobs = write(c, 1 + random.nextInt(random.nextBoolean() ? 100 : 5000), chunkRows, chunkRows + random.nextInt(50),
					random.nextBoolean() ? 0 : 10_000);
			List<Row> read = read(new StoredChunks("t", blobs.index(), blobs), c.leafOfCell);
			assertEquals(c.rows.stream().sorted(Row.ORDER).toList(), read, about); // stable: equal ones as they came
			long reads = c.rows.stream().mapToLong(Row::reads).sum();
			assertEquals(reads, blobs.index().stream().mapToLong(ChunkEntry::reads).sum(), about);
			for (ChunkEntry e : blobs.index()) {
				assertTrue(e.rows() <= chunkRows + 50, about);
			}
		}
	}

	/** Any columns that are asked for are those that come when all are. */
	@Test
	void someColumnsAreAsAll() throws Exception {
		Random random = new Random(5);
		for (int i = 0; i < 50; i++) {
			Case c = random(random);
			HeapBlobs blobs = write(c, 1 << 12, 300, 400, 1 << 20);
			StoredChunks chunks = new StoredChunks("t", blobs.index(), blobs);
			AccessChunk all = new AccessChunk();
			AccessChunk some = new AccessChunk();
			for (AccessColumn column : AccessColumn.values()) {
				int k = random.nextInt(chunks.size());
				chunks.read(k, EnumSet.allOf(AccessColumn.class), all, null);
				chunks.read(k, Set.of(column), some, null);
				assertEquals(all.rows, some.rows);
				for (int r = 0; r < all.rows; r++) {
					assertEquals(value(all, column, r), value(some, column, r), column + " " + r);
				}
			}
		}
	}

	private static String value(AccessChunk c, AccessColumn column, int r) {
		return switch (column) {
		case TIME -> c.startNs(r) + " " + c.endNs(r);
		case THREAD -> "" + c.thread[r];
		case CPU_SET -> "" + c.cpuSet[r];
		case READS -> "" + c.reads[r];
		case WRITES -> "" + c.writes[r];
		case SHARING -> "" + c.sharing[r];
		case NODE -> "" + c.node[r];
		case FLAGS -> "" + c.flags[r];
		case IP -> "" + c.ip[r];
		case READ_OFFSET -> "" + c.readOffset[r];
		case WRITE_OFFSET -> "" + c.writeOffset[r];
		case FIRST -> "" + c.firstNs[r];
		};
	}

	/** By time with little memory, of any window, part of the tree and page; and by id. */
	@Test
	void byTime() throws Exception {
		long seed = 77;
		for (int i = 0; i < 300; i++) {
			Random random = new Random(seed + i);
			Case c = random(random);
			String about = "seed " + (seed + i) + ", " + c.rows.size() + " rows";
			int chunkRows = random.nextBoolean() ? 100 : 1300;
			HeapBlobs blobs = write(c, 1 << 12, chunkRows, 3 * chunkRows / 2, 1 << 20);
			StoredChunks chunks = new StoredChunks("t", blobs.index(), blobs);
			List<Row> places = read(chunks, c.leafOfCell);
			Path nowhere = directory.resolve("missing"); // where nothing can be kept
			TimeRuns runs = new TimeRuns(chunks, List.of(directory, nowhere).get(random.nextInt(4) / 3), random.nextInt(3) * 20_000L);
			AccessesByTime byTime = new AccessesByTime(chunks, c.leafOfCell, e -> {
				throw new AssertionError(e);
			}, 1 + random.nextInt(random.nextBoolean() ? 50 : 5000), random.nextInt(3) * 100, runs);
			long[] starts = c.rows.stream().mapToLong(Row::start).toArray();
			AccessQuery query = random.nextBoolean() ? AccessQuery.ALL
					: new AccessQuery(starts[random.nextInt(starts.length)], starts[random.nextInt(starts.length)] + random.nextInt(3),
							random.nextInt(c.leaves), random.nextInt(c.leaves) + 1);
			List<Integer> order = new ArrayList<>();
			for (int id = 0; id < places.size(); id++) {
				Row r = places.get(id);
				if (r.start < query.toNs() && r.end > query.fromNs() && r.leaf >= query.producerFrom() && r.leaf < query.producerTo()
						&& query.fromNs() < query.toNs()) {
					order.add(id);
				}
			}
			order.sort(Comparator.comparingLong((Integer id) -> places.get(id).start).thenComparingInt(id -> id));
			List<Integer> got = visit(byTime, c, query, Long.MIN_VALUE, 0, Long.MAX_VALUE, Integer.MAX_VALUE, places);
			assertEquals(order, got, about);
			if (order.size() > 2) {
				int a = random.nextInt(order.size() - 1);
				int b = a + 1 + random.nextInt(order.size() - 1 - a);
				assertEquals(order.subList(a, b), visit(byTime, c, query, places.get(order.get(a)).start, order.get(a),
						places.get(order.get(b)).start, order.get(b), places), about);
			}
			if (random.nextBoolean()) { // what is kept now, or was not
				assertEquals(order, visit(byTime, c, query, Long.MIN_VALUE, 0, Long.MAX_VALUE, Integer.MAX_VALUE, places), about);
			}
			int[] ids = random.ints(20, -3, places.size() + 3).toArray();
			List<Integer> read = new ArrayList<>();
			byTime.read(ids, batch -> take(batch, places, read));
			assertEquals(Arrays.stream(ids).filter(id -> id >= 0 && id < places.size()).boxed().toList(), read, about);
			byTime.close();
		}
	}

	/** A full chunk has more rows than two bytes can number. */
	@Test
	void aFullChunkByTime() throws Exception {
		Random random = new Random(5);
		int n = 70_000;
		List<Row> rows = new ArrayList<>();
		for (int i = 0; i < n; i++) {
			long s = random.nextInt(1 << 20);
			rows.add(new Row(0, s, s + 1, i % 3, i % 3, 0, 1, i, 1, 0, 0, i, 0, i > 0 ? 0 : -1, 0));
		}
		Case c = new Case(rows, new int[] {0}, 1);
		HeapBlobs blobs = write(c, 1 << 12, n, 2 * n, 1 << 24);
		StoredChunks chunks = new StoredChunks("t", blobs.index(), blobs);
		assertEquals(1, chunks.size());
		List<Row> places = read(chunks, c.leafOfCell);
		for (long heap : new long[] {1L << 30, 0}) { // on the heap, and in a file
			AccessesByTime byTime = new AccessesByTime(chunks, c.leafOfCell, e -> {
				throw new AssertionError(e);
			}, 5000, 100, new TimeRuns(chunks, directory, heap));
			List<Integer> order = new ArrayList<>(IntStream.range(0, n).boxed().toList());
			order.sort(Comparator.comparingLong((Integer id) -> places.get(id).start).thenComparingInt(id -> id));
			assertEquals(order, visit(byTime, c, AccessQuery.ALL, Long.MIN_VALUE, 0, Long.MAX_VALUE, Integer.MAX_VALUE, places));
			int[] ids = {0, 65_535, 65_536, 66_000, n - 1};
			List<Integer> read = new ArrayList<>();
			byTime.read(ids, batch -> take(batch, places, read));
			assertEquals(Arrays.stream(ids).boxed().toList(), read);
			byTime.close();
		}
	}

	private static List<Integer> visit(AccessesByTime byTime, Case c, AccessQuery query, long fromNs, int fromId, long toNs, int toId,
			List<Row> places) throws Exception {
		List<Integer> early = new ArrayList<>(); // before anything is kept
		List<Integer> batches = new ArrayList<>();
		byTime.visit(query, 0, c.leafOfCell.length, fromNs, fromId, toNs, toId, AccessVisitor.early(b -> {
			batches.add(b.count);
			take(b, places, early);
		}), Progress.NONE);
		assertTrue(batches.isEmpty() || batches.get(0) <= 8192);
		List<Integer> ids = new ArrayList<>();
		byTime.visit(query, 0, c.leafOfCell.length, fromNs, fromId, toNs, toId, b -> take(b, places, ids), Progress.NONE);
		assertEquals(ids, early);
		return ids;
	}

	/** Who wants a few rows, or the first ones early, gets them without that all chunks are read. */
	@Test
	void theFirstRowsAreEarly() throws Exception {
		Random random = new Random(7);
		List<Row> rows = new ArrayList<>();
		int cells = 400;
		for (int i = 0; i < 100_000; i++) {
			int cell = i * cells / 100_000;
			long start = i % 50 * 1000L;
			rows.add(new Row(cell, start, start + 1000, random.nextInt(3), 0, cell, 1, 0, 1, 0, 0, i, 0, -1, 0));
		}
		Case c = new Case(rows, IntStream.range(0, cells).toArray(), cells);
		HeapBlobs blobs = write(c, 1 << 12, 1000, 1500, 1 << 24);
		Set<Integer> read = new HashSet<>();
		StoredChunks chunks = new StoredChunks("t", blobs.index(), (chunk, column) -> {
			synchronized (read) {
				read.add(chunk);
			}
			return blobs.read(chunk, column);
		});
		try (AccessesByTime byTime = new AccessesByTime(chunks, c.leafOfCell, null, e -> {
			throw new AssertionError(e);
		})) {
			AccessBatch[] first = new AccessBatch[1];
			assertThrows(CancelledException.class, () -> byTime.visit(AccessQuery.ALL, 0, cells, Long.MIN_VALUE, 0, Long.MAX_VALUE,
					Integer.MAX_VALUE, AccessVisitor.early(b -> {
						first[0] = b;
						throw new CancelledException();
					}), Progress.NONE));
			assertEquals(1024, first[0].count);
			assertEquals(chunks.chunkOf(first[0].id[1023]) + 1, read.size(), "of " + chunks.size() + " chunks");
			assertTrue(read.size() < chunks.size() * 3 / 4, read.size() + " of " + chunks.size() + " chunks");
		}
	}

	private static void take(AccessBatch b, List<Row> places, List<Integer> ids) {
		for (int i = 0; i < b.count; i++) {
			Row r = places.get(b.id[i]);
			assertEquals(r, new Row(b.producer[i], b.startNs[i], b.endNs[i], b.thread[i], b.cpuSet[i], r.cell, b.reads[i], b.writes[i],
					b.sharing[i], b.node[i], b.flags[i], b.ip[i], b.readOffset[i], b.writeOffset[i], b.firstNs[i]));
			ids.add(b.id[i]);
		}
	}

	/** Another tree over the same cells: rows are where it wants them. */
	@Test
	void anotherOrder() throws Exception {
		for (int i = 0; i < 60; i++) {
			Random random = new Random(900 + i);
			Case c = random(random);
			HeapBlobs blobs = write(c, 1 << 12, 100, 150, 1 << 20);
			StoredChunks chunks = new StoredChunks("t", blobs.index(), blobs);
			int producers = 1 + random.nextInt(40);
			int[] producerOfCell = random.ints(c.leafOfCell.length, 0, producers).toArray();
			try (ScratchBlobs scratch = new ScratchBlobs(directory, random.nextBoolean() ? 0 : 1000)) {
				ChunkSource source = ChunkSource.reordered(chunks, producerOfCell, producers, scratch, directory, "t", new Damage(chunks),
						Progress.NONE);
				assertEquals(c.rows.size(), source.rows());
				List<String> read = new ArrayList<>();
				AccessChunk a = new AccessChunk();
				int last = 0;
				for (int k = 0; k < source.chunks(); k++) {
					source.read(k, EnumSet.allOf(AccessColumn.class), a);
					ChunkInfo info = source.info(k);
					for (int l = 0; l < a.leaves; l++) {
						assertTrue(a.leaf[l] >= last && a.leaf[l] >= info.producerFrom() && a.leaf[l] < info.producerTo());
						last = a.leaf[l];
						for (int r = a.leafFrom[l]; r < a.leafFrom[l + 1]; r++) {
							assertTrue(r == a.leafFrom[l] || a.startNs(r - 1) <= a.startNs(r));
							read.add(a.leaf[l] + " " + a.startNs(r) + " " + a.reads[r] + " " + a.ip[r]);
						}
					}
				}
				assertEquals(c.rows.stream().map(r -> producerOfCell[r.cell] + " " + r.start + " " + r.reads + " " + r.ip).sorted().toList(),
						read.stream().sorted().toList());
			}
		}
	}

	/** A damaged chunk is told at each question, and read only at the first one. */
	@Test
	void aDamagedChunkIsReadOnce() throws Exception {
		Random random = new Random(5);
		HeapBlobs blobs = write(random(random), 1 << 12, 100, 150, 1 << 20);
		int some = 0;
		while (blobs.read(0, some) == null || blobs.read(0, some).length == 0) {
			some++;
		}
		blobs.read(0, some)[blobs.read(0, some).length / 2] ^= 4;
		int[] asked = new int[1];
		StoredChunks chunks = new StoredChunks("t", blobs.index(), (chunk, column) -> {
			asked[0]++;
			return blobs.read(chunk, column);
		});
		AccessChunk into = new AccessChunk();
		String first = assertThrows(DamagedChunkException.class, () -> chunks.read(0, Set.of(AccessColumn.THREAD), into, null)).getMessage();
		int once = asked[0];
		assertTrue(once > 0);
		for (AccessColumn column : AccessColumn.values()) {
			assertEquals(first, assertThrows(DamagedChunkException.class, () -> chunks.read(0, Set.of(column), into, null)).getMessage());
			assertEquals(0, into.rows);
		}
		assertEquals(once, asked[0], "read again");
	}

	/** Every flipped bit is noticed, and nothing but that is thrown; the other chunks stay. */
	@Test
	void damageIsNoticed() throws Exception {
		Random random = new Random(3);
		for (int i = 0; i < 15; i++) {
			Case c = random(random);
			HeapBlobs blobs = write(c, 1 << 12, 100, 150, 1 << 20);
			int n = blobs.index().size();
			for (int k = 0; k < n; k++) {
				for (int column = 0; column < StoredColumn.COUNT; column++) {
					byte[] good = blobs.read(k, column);
					if (good == null) {
						continue;
					}
					for (byte[] bad : List.of(flipped(good, random.nextInt(good.length * 8)), Arrays.copyOf(good, good.length - 1),
							Arrays.copyOf(good, good.length + 1), new byte[0], new byte[good.length])) {
						int chunk = k;
						int broken = column;
						Blobs damaged = (ch, co) -> ch == chunk && co == broken ? bad : blobs.read(ch, co);
						StoredChunks chunks = new StoredChunks("t", blobs.index(), damaged);
						AccessColumn other = AccessColumn.values()[random.nextInt(AccessColumn.values().length)];
						assertThrows(DamagedChunkException.class, () -> chunks.read(chunk, Set.of(other), new AccessChunk(), null),
								"whatever column is asked for");
						DamagedChunkException e = assertThrows(DamagedChunkException.class,
								() -> chunks.read(chunk, EnumSet.allOf(AccessColumn.class), new AccessChunk(), new ChunkCells()));
						assertEquals(k, e.chunk());
						assertTrue(e.getMessage().startsWith("t: chunk " + k + " with "), e.getMessage());
						Damage damage = new Damage(chunks);
						long[] rows = {0};
						new AccessesByTime(chunks, c.leafOfCell, damage, 1 << 20, k % 2 * 1000, new TimeRuns(chunks, directory)).visit(AccessQuery.ALL, 0,
								c.leafOfCell.length, Long.MIN_VALUE, 0, Long.MAX_VALUE, Integer.MAX_VALUE, b -> rows[0] += b.count, Progress.NONE);
						assertEquals(c.rows.size(), rows[0] + damage.losses().accesses());
						assertEquals(1, damage.losses().chunks());
					}
				}
			}
		}
	}

	/** Bytes with a right checksum that are no column end in the same exception. */
	@Test
	void nonsenseIsNoticed() throws Exception {
		Random random = new Random(4);
		for (int i = 0; i < 2000; i++) {
			byte[] bytes = new byte[random.nextInt(40)];
			random.nextBytes(bytes);
			if (bytes.length > 0) {
				bytes[0] = (byte) (random.nextInt(5) << 4 | random.nextInt(10));
			}
			int n = random.nextInt(20);
			try {
				if (random.nextBoolean()) {
					Numbers.decode(new ByteReader(bytes, 0, bytes.length), n, new int[n]);
				} else {
					Numbers.decode(new ByteReader(bytes, 0, bytes.length), n, new long[n]);
				}
			} catch (ByteReader.FormatError e) {
				assertTrue(e.getMessage().startsWith("it") || e.getMessage().startsWith("its"), e.getMessage());
			}
		}
	}

	private static byte[] flipped(byte[] bytes, int bit) {
		byte[] copy = bytes.clone();
		copy[bit / 8] ^= (byte) (1 << bit % 8);
		return copy;
	}

	@Test
	void finishingCanBeCancelled() throws Exception {
		Case c = random(new Random(1));
		int[] asked = {0};
		HeapBlobs blobs = new HeapBlobs();
		try (RowSorter sorter = new RowSorter(c.leafOfCell, c.leaves, directory, 100, 1, 1, 0)) {
			AccessBatch all = batch(c.rows);
			for (int k = 0; k < 40; k++) {
				for (int i = 0; i < all.count; i++) {
					sorter.add(all, i);
				}
			}
			assertThrows(CancelledException.class, () -> sorter.finish(Progress.cancelledWhen(() -> ++asked[0] > 20), blobs));
		}
		assertTrue(blobs.index().size() < 40);
	}

	/** Numbers of every width, alone and in every coding. */
	@Test
	void numbers() {
		long seed = 11;
		Numbers numbers = new Numbers();
		for (int i = 0; i < 3000; i++) {
			Random random = new Random(seed + i);
			int n = random.nextInt(4) == 0 ? random.nextInt(4) : random.nextInt(400);
			boolean narrow = random.nextBoolean();
			LongSupplier values = narrow ? column(random, 0, Integer.MAX_VALUE)
					: random.nextBoolean() ? column(random, Long.MIN_VALUE / 2, Long.MAX_VALUE / 2) : () -> random.nextBoolean() ? Long.MIN_VALUE
					: Long.MAX_VALUE;
			long[] v = new long[n];
			Arrays.setAll(v, k -> values.getAsLong());
			boolean ordered = random.nextBoolean();
			if (ordered && random.nextBoolean()) {
				Arrays.sort(v);
			}
			Bytes out = new Bytes(1);
			numbers.encode(v, n, ordered, out);
			long[] read = new long[n];
			ByteReader in = new ByteReader(out.array, 0, out.length);
			Numbers.decode(in, n, read);
			assertEquals(Arrays.toString(v), Arrays.toString(read), "seed " + (seed + i));
			assertEquals(out.length, in.position, "seed " + (seed + i));
			if (narrow) {
				int[] ints = new int[n];
				Numbers.decode(new ByteReader(out.array, 0, out.length), n, ints);
				assertEquals(Arrays.toString(v), Arrays.toString(ints), "seed " + (seed + i));
			}
		}
	}
}
