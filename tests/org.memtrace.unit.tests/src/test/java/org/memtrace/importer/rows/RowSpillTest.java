// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What goes into a spill comes out of it, on the heap and from its file. */
class RowSpillTest {
	@TempDir
	Path directory;

	/** Around each power of two, where a number takes one byte more. */
	private static long edge(Random random, int bits) {
		return Math.max(0, (1L << random.nextInt(bits)) - 1 + random.nextInt(3) - 1);
	}

	private static SpilledRow row(Random random) {
		SpilledRow r = new SpilledRow();
		r.startNs = random.nextBoolean() ? edge(random, 62) : 1_000_000;
		r.endNs = r.startNs + (random.nextBoolean() ? edge(random, 61) : 50);
		r.leaf = (int) edge(random, 31);
		r.thread = (int) edge(random, 31) - 1;
		r.cpuSet = (int) edge(random, 31) - 1;
		r.reads = edge(random, 63);
		r.writes = random.nextInt(3) == 0 ? 0 : edge(random, 63);
		r.ip = (int) edge(random, 31);
		r.node = (int) edge(random, 31) - 1;
		r.flags = (int) edge(random, 31);
		return r;
	}

	private static String text(SpilledRow r) {
		return r.startNs + " " + r.endNs + " leaf " + r.leaf + " thread " + r.thread + " cpus " + r.cpuSet + " reads " + r.reads + " writes "
				+ r.writes + " ip " + r.ip + " node " + r.node + " flags " + r.flags;
	}

	private void check(List<SpilledRow> rows, long heapBytes, String what) throws Exception {
		try (RowSpill spill = new RowSpill(directory, new RowSpill.Budget(heapBytes))) {
			for (SpilledRow r : rows) {
				spill.add(r);
			}
			spill.finish();
			assertEquals(rows.size(), spill.rows(), what);
			for (int pass = 0; pass < 2; pass++) {
				RowSpill.Cursor cursor = spill.read();
				for (int i = 0; i < rows.size(); i++) {
					assertTrue(cursor.next(), what + ", row " + i);
					assertEquals(text(rows.get(i)), text(cursor.row), what + ", row " + i);
				}
				assertFalse(cursor.next(), what);
			}
		}
		try (var files = Files.list(directory)) {
			assertEquals(0, files.count(), "no file stays");
		}
	}

	@Test
	void everyNode() throws Exception {
		List<SpilledRow> rows = new ArrayList<>();
		for (int node = -1; node < 1100; node++) {
			SpilledRow r = new SpilledRow();
			r.node = node;
			r.flags = node & 1;
			r.reads = 1;
			rows.add(r);
		}
		check(rows, Long.MAX_VALUE, "nodes");
	}

	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3 })
	void anyRows(long seed) throws Exception {
		Random random = new Random(seed);
		// 8192 rows are a block: none, one, a full one, one more
		for (int count : new int[] { 0, 1, 8191, 8192, 8193, 20_000 }) {
			List<SpilledRow> rows = new ArrayList<>();
			for (int i = 0; i < count; i++) {
				SpilledRow r = row(random);
				if (i > 0 && random.nextBoolean()) { // what is the same as before is left out
					SpilledRow before = rows.get(i - 1);
					r.startNs = random.nextBoolean() ? before.startNs : r.startNs;
					r.endNs = Math.max(r.startNs, random.nextBoolean() ? before.endNs : r.endNs);
					r.thread = random.nextBoolean() ? before.thread : r.thread;
					r.cpuSet = random.nextBoolean() ? before.cpuSet : r.cpuSet;
					r.ip = random.nextBoolean() ? before.ip : r.ip;
					r.node = random.nextBoolean() ? before.node : r.node;
					r.flags = random.nextBoolean() ? before.flags : r.flags;
					r.reads = random.nextInt(3);
					r.writes = random.nextInt(3);
				}
				rows.add(r);
			}
			check(rows, Long.MAX_VALUE, "seed " + seed + ", heap");
			check(rows, 0, "seed " + seed + ", file");
			check(rows, 200_000, "seed " + seed + ", first on the heap, then in the file");
		}
	}
}
