// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

class EventSorterTest {
	@TempDir
	Path directory;

	private record Row(long start, long end, int context, int parameters, double value) {
	}

	private static Row random(Random random, int number) {
		long start = switch (random.nextInt(6)) {
		case 0 -> 1L << random.nextInt(63);
		case 1 -> -(1L << random.nextInt(62));
		case 2 -> 0;
		default -> random.nextInt(50);
		};
		double value = switch (random.nextInt(4)) {
		case 0 -> random.nextInt(300) - 20;
		case 1 -> random.nextGaussian();
		case 2 -> 1L << random.nextInt(60);
		default -> 0;
		};
		return new Row(start, start + (random.nextBoolean() ? 0 : random.nextInt(1000)), number, random.nextInt(3), value);
	}

	/** Buffers of 1, 2, 7 and 64 rows, and none at all, against a sort of objects that keeps the order of equal ones. */
	@Test
	void sortsAndKeepsTheOrderOfEqualOnes() throws Exception {
		long seed = 20261122;
		System.out.println("seed " + seed);
		Random random = new Random(seed);
		for (int round = 0; round < 300; round++) {
			int limit = new int[] { 1, 2, 7, 64, 1 << 20 }[random.nextInt(5)];
			int count = round == 0 ? 0 : round < 4 ? 64 * round : random.nextInt(500);
			List<Row> rows = new ArrayList<>();
			List<Row> sorted = new ArrayList<>();
			try (EventSorter sorter = new EventSorter(directory, limit)) {
				for (int i = 0; i < count; i++) {
					Row r = random(random, i);
					rows.add(r);
					sorter.add(r.start, r.end, r.context, r.parameters, r.value);
				}
				assertEquals(count, sorter.rows());
				sorter.finish((start, end, context, parameters, value) -> sorted.add(new Row(start, end, context, parameters, value)),
						Progress.NONE);
			}
			rows.sort(Comparator.comparingLong(Row::start));
			assertEquals(rows, sorted, "round " + round + " with a buffer of " + limit);
		}
		try (Stream<Path> files = Files.list(directory)) {
			assertEquals(0, files.count(), "the file has no name");
		}
	}

	@Test
	void canBeCancelled() throws Exception {
		try (EventSorter sorter = new EventSorter(directory, 1000)) {
			for (int i = 0; i < 20_000; i++) {
				sorter.add(-i, 0, 0, 0, 0);
			}
			int[] seen = { 0 };
			assertThrows(CancelledException.class, () -> sorter.finish((s, e, c, p, v) -> seen[0]++, Progress.cancelledWhen(() -> seen[0] > 0)));
			assertEquals(8192, seen[0]);
		}
	}
}
