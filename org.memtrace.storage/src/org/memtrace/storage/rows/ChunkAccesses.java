// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.rows;

import java.math.BigInteger;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.zip.CRC32C;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.AccessVisitor;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventVisitor;
import org.memtrace.storage.chunks.AccessesByTime;
import org.memtrace.storage.chunks.ChunkSource;
import org.memtrace.storage.chunks.Damage;
import org.memtrace.storage.chunks.ScratchBlobs;
import org.memtrace.storage.chunks.StoredChunks;

/** What a store with chunks answers, for the tree of one address space. Safe for all threads. */
public final class ChunkAccesses {
	private static final int BATCH = 8192;
	/** The id of an event is the id of its access times this, one more for the writes. */
	private static final int EVENTS = 2;

	private final StoredChunks chunks;
	private final CellMap cells;
	private final int[] producerOfCell;
	private final boolean inOrder;
	private final int producers;
	private final Path scratchDirectory;
	private final String name;
	private final Damage damage;
	private final AccessesByTime byTime;
	private AccessSource source;
	private ScratchBlobs scratch;

	/**
	 * @param inOrder whether the chunks are in the order of the tree
	 * @param producers number of event producers of the tree
	 * @param scratchDirectory for temporary data, when they are not; null for the heap
	 * @param name of the trace database, for messages
	 */
	public ChunkAccesses(StoredChunks chunks, int[] producerOfCell, boolean inOrder, int producers, Path scratchDirectory, String name,
			Damage damage) {
		this.chunks = chunks;
		this.producerOfCell = producerOfCell;
		this.inOrder = inOrder;
		this.producers = producers;
		this.scratchDirectory = scratchDirectory;
		this.name = name;
		this.damage = damage;
		cells = new CellMap(producerOfCell);
		byTime = new AccessesByTime(chunks, producerOfCell, scratchDirectory, damage);
	}

	/** Tells whether chunks that were written for a tree are in the order of another one. */
	public static long orderOf(int[] leafOfCell) {
		CRC32C crc = new CRC32C();
		byte[] bytes = new byte[4];
		for (int leaf : leafOfCell) {
			bytes[0] = (byte) leaf;
			bytes[1] = (byte) (leaf >> 8);
			bytes[2] = (byte) (leaf >> 16);
			bytes[3] = (byte) (leaf >> 24);
			crc.update(bytes);
		}
		return crc.getValue();
	}

	/** Made the first time when the chunks are in another order. */
	public synchronized AccessSource source(Progress progress) throws MemtraceException {
		if (source == null) {
			if (inOrder) {
				source = new ChunkSource(chunks, producerOfCell, damage);
			} else {
				ScratchBlobs blobs = new ScratchBlobs(scratchDirectory);
				boolean ok = false;
				try {
					source = ChunkSource.reordered(chunks, producerOfCell, producers, blobs, scratchDirectory, name, damage, progress);
					scratch = blobs;
					ok = true;
				} finally {
					if (!ok) {
						blobs.close();
					}
				}
			}
		}
		return source;
	}

	/** How many rows a query looks at. */
	public long rowsToRead(AccessQuery query) {
		CellMap.Range range = cells.range(query);
		return query.fromNs() >= query.toNs() || range.from() >= range.to() ? 0 : byTime.rowsToRead(query, range.from(), range.to());
	}

	public void visit(AccessQuery query, long fromNs, int fromId, long toNs, int toId, AccessVisitor visitor, Progress progress)
			throws MemtraceException {
		CellMap.Range range = cells.range(query);
		byTime.visit(query, range.from(), range.to(), fromNs, fromId, toNs, toId, visitor, progress);
	}

	public void read(int[] ids, AccessVisitor visitor) throws MemtraceException {
		byTime.read(ids, visitor);
	}

	/** How accesses are shown as events. */
	public record EventNumbers(boolean typesByThread, List<ThreadInfo> threads, List<BitSet> cpuSets) {
		int type(AccessBatch b, int i, boolean write) {
			return typesByThread ? EventTypes.of(b.thread[i], threads.size(), b.sharing[i], write)
					: EventTypes.of(threads.size(), b.sharing[i], write);
		}

		String parameters(AccessBatch b, int i) {
			int set = b.cpuSet[i];
			return "CPUMask=" + (set < 0 || set >= cpuSets.size() ? "0" : mask(cpuSets.get(set))) + ", Tid="
					+ (b.thread[i] == AccessBatch.NO_THREAD ? -1 : threads.get(b.thread[i]).taskId());
		}
	}

	/** Bit i is CPU i, hexadecimal. */
	public static String mask(BitSet cpus) {
		byte[] little = cpus.toByteArray();
		byte[] big = new byte[little.length];
		for (int i = 0; i < big.length; i++) {
			big[i] = little[big.length - 1 - i];
		}
		return new BigInteger(1, big).toString(16);
	}

	/** The parameters of events as FrameSoc has them; empty for an event that is not there. */
	public List<String> parameters(EventNumbers numbers, long[] ids) throws MemtraceException {
		int[] accesses = accesses(ids);
		String[] texts = new String[ids.length];
		Arrays.fill(texts, "");
		read(accesses, b -> {
			int row = 0;
			for (int i = 0; i < ids.length && row < b.count; i++) {
				if (b.id[row] == accesses[i]) {
					texts[i] = numbers.parameters(b, row++);
				}
			}
		});
		return List.of(texts);
	}

	private static int[] accesses(long[] events) {
		return Arrays.stream(events).mapToInt(id -> id < 0 || id / EVENTS > Integer.MAX_VALUE ? -1 : (int) (id / EVENTS)).toArray();
	}

	public void events(EventNumbers numbers, AccessQuery query, long fromNs, long fromId, long toNs, long toId, EventVisitor visitor,
			Progress progress) throws MemtraceException {
		Events out = new Events(numbers, fromNs, fromId, toNs, toId, visitor, progress);
		visit(query, fromNs, access(fromId), toNs, access(toId == Long.MAX_VALUE ? toId : toId + 1), out, progress);
		out.end();
	}

	private static int access(long event) {
		return (int) Math.clamp(event / EVENTS, 0, Integer.MAX_VALUE);
	}

	/** Events in the order of ids that were asked for. */
	public void events(EventNumbers numbers, long[] ids, EventVisitor visitor) throws MemtraceException {
		int[] accesses = accesses(ids);
		EventBatch out = new EventBatch(Math.max(1, ids.length));
		read(accesses, b -> {
			int row = 0;
			for (int i = 0; i < ids.length; i++) {
				if (row < b.count && b.id[row] == accesses[i]) {
					boolean write = ids[i] % EVENTS == 1;
					if ((write ? b.writes[row] : b.reads[row]) > 0) {
						add(numbers, b, row, write, out);
					}
					row++;
				}
			}
		});
		if (out.count > 0) {
			visitor.visit(out);
		}
	}

	private static void add(EventNumbers numbers, AccessBatch b, int i, boolean write, EventBatch out) {
		out.add((long) b.id[i] * EVENTS + (write ? 1 : 0), numbers.type(b, i, write), b.producer[i], b.startNs[i], b.endNs[i],
				write ? b.writes[i] : b.reads[i], WriterRules.cpu(numbers.cpuSets, b.cpuSet[i]));
	}

	private static final class Events implements AccessVisitor {
		private final EventNumbers numbers;
		private final long fromNs;
		private final long fromId;
		private final long toNs;
		private final long toId;
		private final EventVisitor visitor;
		private final Progress progress;
		private final EventBatch out = new EventBatch(BATCH);

		Events(EventNumbers numbers, long fromNs, long fromId, long toNs, long toId, EventVisitor visitor, Progress progress) {
			this.numbers = numbers;
			this.fromNs = fromNs;
			this.fromId = fromId;
			this.toNs = toNs;
			this.toId = toId;
			this.visitor = visitor;
			this.progress = progress;
		}

		@Override
		public void visit(AccessBatch b) throws MemtraceException {
			for (int i = 0; i < b.count; i++) {
				for (int write = 0; write < 2; write++) {
					long id = (long) b.id[i] * EVENTS + write;
					long start = b.startNs[i];
					if ((write == 0 ? b.reads[i] : b.writes[i]) > 0 && (start > fromNs || start == fromNs && id >= fromId)
							&& (start < toNs || start == toNs && id < toId)) {
						if (out.isFull()) {
							visitor.visit(out);
							out.count = 0;
							progress.check();
						}
						add(numbers, b, i, write == 1, out);
					}
				}
			}
		}

		void end() throws MemtraceException {
			if (out.count > 0) {
				visitor.visit(out);
			}
		}
	}

	public synchronized void close() {
		byTime.close();
		if (scratch != null) {
			scratch.close();
		}
	}
}
