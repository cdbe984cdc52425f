// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;

import org.junit.jupiter.api.Test;

/** Parts of a run that the program named. */
class RegionsTest {
	private static Regions example() {
		Regions.Builder b = new Regions.Builder();
		b.begin(0, 7, "solve", 100);
		b.begin(0, 7, "step", 110);
		b.begin(0, 8, "solve", 150); // another thread
		assertTrue(b.end(0, 7, "", 120));
		b.begin(0, 7, "step", 130);
		assertTrue(b.end(0, 7, "solve", 200), "and the step in it");
		assertFalse(b.end(0, 7, "solve", 210), "it is not open any more");
		assertFalse(b.end(1, 7, "", 210), "another image");
		assertTrue(b.end(0, 8, "solve", 220));
		b.begin(0, 7, "solve", 300);
		b.begin(0, 7, "in\tner", 310);
		return b.build(400);
	}

	private static List<String> text(List<Regions.Region> regions) {
		return regions.stream().map(r -> r.taskId() + " " + r.name() + " " + r.fromNs() + ".." + r.toNs()).toList();
	}

	@Test
	void beginsAndEnds() {
		Regions r = example();
		assertEquals(List.of("7 solve 100..200", "7 step 110..120", "7 step 130..200", "8 solve 150..220", "7 solve 300..400",
				"7 in\tner 310..400"), text(r.all()));
		assertEquals(List.of("solve", "step", "in\tner"), r.names());
		assertEquals(List.of("7 solve 100..220", "7 solve 300..400"), text(r.times("solve")), "threads that overlap are one time");
		assertEquals(List.of("7 step 110..120", "7 step 130..200"), text(r.times("step")));
		assertEquals(List.of(), r.times("nothing"));
		assertEquals(List.of("7 solve 100..200", "8 solve 150..220", "7 solve 300..400"), text(r.outermost().all()));
		assertTrue(Regions.NONE.isEmpty());
	}

	@Test
	void timesThatFollowEachOtherAreTwo() {
		Regions.Builder b = new Regions.Builder();
		for (long ns = 0; ns < 20; ns += 10) {
			b.begin(0, 7, "step", ns);
			b.end(0, 7, "step", ns + 10);
		}
		Regions r = b.build(99);
		assertEquals(List.of("7 step 0..10", "7 step 10..20"), text(r.times("step")));
		assertEquals(2, r.outermost().all().size());
	}

	@Test
	void asItIsStored() {
		List<String> want = text(example().all()).stream().map(s -> s.replace('\t', ' ')).toList();
		assertEquals(want, text(Regions.parse(example().toBytes()).all()));
		assertEquals(List.of("1 a 2..3"), text(Regions.parse("nonsense\n0\t1\t2\t3\ta\n0\tx\t2\t3\tb\n".getBytes(StandardCharsets.UTF_8)).all()));
		assertTrue(Regions.parse(new byte[0]).isEmpty());
	}

	private static ThreadInfo thread(int index, long task) {
		return new ThreadInfo(index, 0, task, "t", 0, 100, "", false);
	}

	@Test
	void pathsOfRegionsInEachOther() {
		Regions.Builder b = new Regions.Builder();
		b.begin(0, 1, "solve", 0);
		b.begin(0, 1, "a/b", 2);
		b.begin(0, 1, "solve", 3);
		b.end(0, 1, "solve", 5);
		b.end(0, 1, "a/b", 6);
		b.end(0, 1, "solve", 9);
		b.begin(0, 1, "check", 9);
		b.end(0, 1, "check", 12);
		Regions.Innermost paths = b.build(20).paths(List.of(thread(0, 1), thread(1, 7)));
		List<String> at = new java.util.ArrayList<>();
		for (int ns : new int[] { 0, 2, 3, 5, 6, 9, 12 }) {
			int path = paths.at(0, ns);
			assertEquals(path, paths.at(1, ns), "a thread without regions is in those of the first one that has some");
			at.add(path < 0 ? "" : paths.names().get(path));
		}
		assertEquals(List.of("solve", "solve/a\u2215b", "solve/a\u2215b/solve", "solve/a\u2215b", "solve", "check", ""), at);
	}
}
