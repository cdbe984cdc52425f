// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.memtrace.cli.Ran;

/**
 * The recorded trace heap-reuse: a thread frees a buffer (mine) and another thread gets the same memory (yours), often in one interval.
 * They do not share it. A third buffer (common) is used by both all the time.
 */
class ReusedMemoryTest {
	private static final Path TRACE = Path.of(System.getProperty("memtrace.root"), "testdata/traces/heap-reuse");

	@TempDir
	Path temporary;

	private static List<String[]> rows(String csv) {
		return csv.lines().skip(1).map(l -> l.split(",", -1)).toList();
	}

	/** Pages in intervals in which more than one thread used the memory of the buffers: what is to be told apart. */
	private static int usedByTwo() throws Exception {
		Set<String> pages = new HashSet<>();
		for (String[] s : rows(Files.readString(TRACE.resolve("p0000/structures.csv")))) {
			if (s[2].equals("mine") || s[2].equals("yours")) {
				for (long a = Long.parseLong(s[3], 16) >>> 12; a <= Long.parseLong(s[4], 16) >>> 12; a++) {
					pages.add(Long.toString(a));
				}
			}
		}
		Map<String, Set<String>> threads = new HashMap<>();
		for (String[] r : rows(Files.readString(TRACE.resolve("p0000/accesses-000000.csv")))) {
			String page = Long.toString(Long.parseLong(r[0], 16) >>> 12);
			if (pages.contains(page)) {
				threads.computeIfAbsent(r[5] + "|" + page, k -> new HashSet<>()).add(r[7]);
			}
		}
		return (int) threads.values().stream().filter(t -> t.size() > 1).count();
	}

	@Test
	void aFreedBufferIsNotSharedWithWhoGetsItsMemory() throws Exception {
		assertTrue(usedByTwo() >= 50, "the trace shows what it was recorded for");
		String db = temporary.resolve("t.db").toString();
		Ran.ok("import", "-o", db, TRACE.toString());
		Map<String, long[]> records = new HashMap<>(); // private or not known, shared
		for (String[] r : rows(Ran.ok("query", "--what", "groups", "--by", "structure,sharing", "--format", "csv", db))) {
			records.computeIfAbsent(r[0].replaceFirst(" \\(12 blocks\\)$| \\(reuse.c:91\\)$", ""),
					k -> new long[2])[r[1].isEmpty() || r[1].equals("1") ? 0 : 1] += Long.parseLong(r[2]);
		}
		for (String name : List.of("mine", "yours")) { // the first and the last page hold small blocks, too
			long[] n = records.get(name);
			assertTrue(n[0] >= 100 && n[1] <= n[0] / 50, name + ": " + n[0] + " private, " + n[1] + " shared");
		}
		assertTrue(records.get("common")[1] >= 200, "what both use is shared");
		Map<String, Map<String, Long>> users = new HashMap<>(); // of each block, by its number
		for (String[] r : rows(Ran.ok("query", "--what", "accesses", "--columns", "structure,structure_id,task", "--format", "csv", db))) {
			if (r[0].matches("(mine|yours) \\(12 blocks\\)")) {
				users.computeIfAbsent(r[1], k -> new HashMap<>()).merge(r[2], 1L, Long::sum);
			}
		}
		assertTrue(users.size() >= 12, "several blocks of a thread in one interval are one record: " + users.size());
		long all = users.values().stream().flatMap(m -> m.values().stream()).mapToLong(n -> n).sum();
		long owners = users.values().stream().mapToLong(m -> m.values().stream().mapToLong(n -> n).max().orElse(0)).sum();
		// free() itself writes to the first bytes of a block that is no more
		assertTrue(all - owners <= all / 50, users::toString);
	}
}
