// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;

/** Rows in blocks by page: each once, those of a page in their order, and blocks that are about few pages. */
class PageRunsTest {
	private static final long SEED = 4711;

	private static SpilledRow random(Random random, int leaf) {
		SpilledRow r = new SpilledRow();
		r.leaf = leaf;
		r.startNs = random.nextInt(3) == 0 ? random.nextLong() >>> 1 : random.nextInt(5);
		r.endNs = r.startNs + 1 + random.nextInt(1 << random.nextInt(20));
		r.thread = random.nextInt(4) - 1;
		r.cpuSet = random.nextInt(3) - 1;
		r.reads = random.nextInt(3) == 0 ? 1L << random.nextInt(54) : random.nextInt(2);
		r.writes = r.reads == 0 ? 1 : random.nextInt(2);
		r.ip = random.nextInt(3);
		r.node = random.nextInt(3) - 1;
		r.flags = random.nextInt(9);
		r.readOffset = r.reads > 0 ? random.nextInt(4097) - 1 : -1;
		r.writeOffset = r.writes > 0 ? random.nextInt(4097) - 1 : -1;
		return r;
	}

	private static String text(SpilledRow r) {
		return Arrays.toString(new long[] {r.leaf, r.startNs, r.endNs, r.thread, r.cpuSet, r.reads, r.writes, r.ip, r.node, r.flags,
				r.readOffset, r.writeOffset});
	}

	@Test
	void theRowsOfAPageStayInTheirOrder() throws Exception {
		System.out.println("seed " + SEED);
		int blocks = 0;
		for (int t = 0; t < 200; t++) {
			Random random = new Random(SEED + t);
			long[] pages = new long[1 + random.nextInt(20)];
			for (int p = 0; p < pages.length; p++) {
				pages[p] = t % 3 == 0 ? random.nextLong() : random.nextInt(30);
			}
			Map<Long, List<String>> wanted = new TreeMap<>();
			Map<Long, List<String>> found = new TreeMap<>();
			int n = random.nextInt(300);
			int[] count = new int[1];
			PageRuns runs = new PageRuns(n, 100, 16, (bytes, length, rows, first, last) -> {
				count[0]++;
				assertTrue(rows > 0 && rows <= 16 && first <= last, rows + " " + first + " " + last);
				PageRuns.Rows in = new PageRuns.Rows(Arrays.copyOf(bytes, length), rows);
				for (int k = 0; in.next(); k++) {
					long page = pages[in.row.leaf];
					assertTrue(page >= first && page <= last && (k > 0 || page == first) && (k < rows - 1 || page == last));
					found.computeIfAbsent(page, key -> new ArrayList<>()).add(text(in.row));
				}
			});
			for (int i = 0; i < n; i++) {
				SpilledRow r = random(random, random.nextInt(pages.length));
				wanted.computeIfAbsent(pages[r.leaf], key -> new ArrayList<>()).add(text(r));
				runs.add(r, pages[r.leaf]);
			}
			runs.finish();
			assertEquals(wanted, found, "rows " + t);
			blocks += count[0];
		}
		assertTrue(blocks > 1000, blocks + " blocks");
	}
}
