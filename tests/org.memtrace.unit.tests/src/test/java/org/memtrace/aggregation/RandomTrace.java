// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/**
 * Traces by chance: structures of any number of pages, blocks in groups, ranges, stacks; intervals that follow each other, overlap, or are
 * one for each access; counts that are small, powers of two, huge, or the same.
 */
public final class RandomTrace {
	private static final int PAGE = 4096;
	private final Random random;
	private final ProducerTreeBuilder builder = new ProducerTreeBuilder(PAGE);
	private final List<Structure> structures = new ArrayList<>();
	private final List<Integer> leaves = new ArrayList<>();
	private long address = 0x7f0000000000L;

	private RandomTrace(Random random) {
		this.random = random;
	}

	/**
	 * Writes a trace.
	 *
	 * @param mostPages of a structure
	 * @param rows accesses at least; the last ones make the times complete
	 */
	public static void write(TraceWriter writer, Random random, int mostPages, int rows) throws MemtraceException {
		new RandomTrace(random).write(writer, mostPages, rows, 1 + random.nextInt(6));
	}

	/** Writes a trace with a number of parts of memory. */
	public static void write(TraceWriter writer, Random random, int mostPages, int rows, int parts) throws MemtraceException {
		new RandomTrace(random).write(writer, mostPages, rows, parts);
	}

	private void write(TraceWriter writer, int mostPages, int rows, int parts) throws MemtraceException {
		builder.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
		for (int i = 0; i < parts; i++) {
			switch (random.nextInt(5)) {
			case 0 -> group();
			case 1 -> named(ProducerKind.RANGE, -1, 1 + random.nextInt(mostPages));
			case 2 -> named(ProducerKind.STACK, structure(StructureKind.STACK, "stack of " + i, mostPages), 1 + random.nextInt(4));
			default -> named(ProducerKind.STRUCTURE, structure(StructureKind.HEAP, "s" + i % 4, mostPages), 1 + random.nextInt(mostPages));
			}
		}
		builder.end();
		ProducerTree tree = builder.build();
		int threads = 1 + random.nextInt(5);
		List<ThreadInfo> infos = new ArrayList<>();
		List<BitSet> cpus = new ArrayList<>();
		for (int t = 0; t < threads; t++) {
			infos.add(new ThreadInfo(t, 0, 100 + t, "worker", 0, Long.MAX_VALUE, "", t == 0));
			cpus.add(BitSet.valueOf(new long[] {1 + random.nextInt(7)}));
		}
		long[][] times = times(rows);
		AccessBatch batch = new AccessBatch(rows + times.length);
		int counts = random.nextInt(5);
		boolean nodes = random.nextBoolean();
		for (int i = 0; i < rows; i++) {
			long[] time = times[random.nextInt(times.length)];
			int leaf = leaves.get(random.nextInt(leaves.size()));
			if (random.nextInt(4) == 0) {
				leaf = leaves.get(Math.min(leaves.size() - 1, (int) (time[0] % 7)));
			}
			long reads = count(counts, rows);
			long writes = random.nextInt(3) == 0 ? count(counts, rows) : 0;
			if (reads + writes == 0) {
				writes = 1;
			}
			int sharing = i % 5 == 0 ? AccessBatch.SHARING_NOT_KNOWN : 1 + random.nextInt(1 + random.nextInt(threads));
			batch.add(time[0], time[1], leaf, random.nextInt(threads + 1) - 1, random.nextInt(threads + 1) - 1, reads, writes,
					sharing, nodes ? random.nextInt(3) - 1 : -1, 0, 0, -1, -1,
					i % 3 == 0 ? AccessBatch.NO_FIRST : i * 7919L % (time[1] - time[0]));
		}
		writer.threads(infos);
		writer.structures(structures);
		writer.cpuSets(cpus);
		writer.producers(tree);
		writer.accesses(batch);
		long start = Long.MAX_VALUE;
		long end = 0;
		for (int i = 0; i < batch.count; i++) {
			start = Math.min(start, batch.startNs[i]);
			end = Math.max(end, batch.endNs[i]);
		}
		writer.commit(new TraceInfo(-1, "random", "random", TraceInfo.TYPE_MEMTRACE, "random", "host", "Linux", 4, batch.count, 0, start, end,
				Instant.EPOCH, PAGE, "", Map.of()), "{}", Progress.NONE);
	}

	private long count(int kind, int rows) {
		return switch (kind) {
		case 0 -> random.nextInt(4);
		case 1 -> 1L << random.nextInt(12);
		case 2 -> 1;
		case 3 -> random.nextLong(Long.MAX_VALUE / rows / 2);
		default -> random.nextInt(3) == 0 ? 1L << 30 : 0;
		};
	}

	private long[][] times(int rows) {
		long[][] times;
		long now = 1_000_000 + random.nextInt(1000);
		switch (random.nextInt(4)) {
		case 0 -> times = new long[1][];
		case 1 -> times = new long[rows + 5000][]; // one for each, nearly
		default -> times = new long[1 + random.nextInt(60)][];
		}
		boolean overlap = random.nextBoolean();
		for (int t = 0; t < times.length; t++) {
			long length = 1 + random.nextInt(1000);
			times[t] = new long[] {now, now + length};
			now += overlap ? random.nextInt(700) : length + (random.nextInt(5) == 0 ? 100 : 0);
		}
		return times;
	}

	private int structure(StructureKind kind, String name, int mostPages) {
		int id = structures.size();
		structures.add(new Structure(id, 0, kind, name, address, address + (long) mostPages * PAGE, 0, Long.MAX_VALUE, 100, -1,
				random.nextBoolean() ? "" : "main.c:" + id % 3));
		return id;
	}

	private void named(ProducerKind kind, int structure, int pages) {
		String name = structure < 0 ? Long.toHexString(address) : structures.get(structure).name() + " #" + structure;
		long end = address + (long) pages * PAGE;
		if (pages == 1) {
			leaves.add(builder.leaf(kind, name, address, end, structure));
		} else {
			builder.begin(kind, name, address, end, structure);
			divide(structure, address, pages);
			builder.end();
		}
		address = end + PAGE;
	}

	private void divide(int structure, long from, int pages) {
		int fanout = 2 + random.nextInt(3);
		if (pages <= fanout) {
			for (int p = 0; p < pages; p++) {
				leaves.add(builder.leaf(ProducerKind.PAGE, null, from + (long) p * PAGE, from + (p + 1L) * PAGE, structure));
			}
			return;
		}
		for (int i = 0; i < fanout; i++) {
			int a = (int) ((long) pages * i / fanout);
			int b = (int) ((long) pages * (i + 1) / fanout);
			long start = from + (long) a * PAGE;
			if (b - a == 1) {
				leaves.add(builder.leaf(ProducerKind.PAGE, null, start, start + PAGE, structure));
			} else {
				builder.begin(ProducerKind.PART, null, start, from + (long) b * PAGE, structure);
				divide(structure, start, b - a);
				builder.end();
			}
		}
	}

	/** Blocks that were merged: pages of several structures below one producer. */
	private void group() {
		int blocks = 2 + random.nextInt(5);
		long from = address;
		builder.begin(ProducerKind.GROUP, "group " + structures.size(), address, address + 8L * PAGE, -1);
		for (int i = 0; i < blocks; i++) {
			int s = structure(StructureKind.HEAP, "block", 1);
			leaves.add(builder.leaf(ProducerKind.PAGE, null, from + (long) i * PAGE, from + (i + 1L) * PAGE, s));
		}
		builder.end();
		address += 9L * PAGE;
	}
}
