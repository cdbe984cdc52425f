// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;

class CloseLookTest {
	private static CloseLook example() {
		CloseLook.Builder b = new CloseLook.Builder();
		b.add(1, 7, 0x1048, 50, false, true);
		b.add(0, 5, 0x1048, 30, true, true); // out of order
		b.add(0, 7, 0x1050, 20, false, true);
		b.add(0, 5, 0x104c, 10, true, false);
		b.add(0, 7, 0x1050, 40, true, false);
		b.add(0, 5, 0x107f, 60, true, false);
		b.add(0, 5, 0x1080, 61, true, false);
		return b.build();
	}

	private static String text(CloseLook look) {
		StringBuilder s = new StringBuilder();
		for (CloseLook.Line l : look.lines()) {
			s.append(l.image()).append(' ').append(Long.toHexString(l.address())).append(' ').append(l.fromNs()).append("..").append(l.toNs())
					.append(' ').append(l.samples()).append(" samples ").append(l.handOvers()).append(" hand-overs:");
			l.uses().forEach(u -> s.append(' ').append(u.taskId()).append('@').append(u.offset()).append(" r").append(u.reads()).append(" w")
					.append(u.writes()));
			s.append('\n');
		}
		return s.toString();
	}

	@Test
	void samplesBecomeLinesWithUses() {
		// in order: 5 reads, 7 writes, 5 writes, 7 reads, 5 reads: the last two only read
		assertEquals("""
				0 1040 10..60 5 samples 3 hand-overs: 5@8 r1 w1 5@12 r1 w0 7@16 r1 w1 5@60 r1 w0
				0 1080 61..61 1 samples 0 hand-overs: 5@0 r1 w0
				1 1040 50..50 1 samples 0 hand-overs: 7@8 r0 w1
				""", text(example()));
	}

	@Test
	void isReadAsItWasWritten() {
		CloseLook look = example();
		assertEquals(text(look), text(CloseLook.parse(look.toBytes())));
		assertTrue(CloseLook.NONE.isEmpty());
		assertTrue(CloseLook.parse(new byte[0]).isEmpty());
		assertEquals("0 40 1..2 3 samples 4 hand-overs: 5@0 r1 w2\n", text(CloseLook.parse(
				"nonsense\n0\t40\t1\t2\t3\t4\n0\tx\t1\t2\t3\t4\t5\t0\t1\t2\n0\t40\t1\t2\t3\t4\t5\t0\t1\n0\t40\t1\t2\t3\t4\t5\t0\t1\t2\n"
						.getBytes(StandardCharsets.UTF_8))));
	}

	@Test
	void theOrderOfSamplesDoesNotMatter() {
		long seed = 20261123;
		System.out.println("seed " + seed);
		Random random = new Random(seed);
		List<long[]> samples = new ArrayList<>();
		long expected = 0;
		long before = -1;
		for (int i = 0; i < 2000; i++) {
			long task = random.nextInt(3);
			samples.add(new long[] { i * 1000L, task });
			expected += before >= 0 && before != task ? 1 : 0;
			before = task;
		}
		for (long scale : new long[] { 1, 1L << 42 }) { // the larger one does not fit beside a number of the sample
			java.util.Collections.shuffle(samples, random);
			CloseLook.Builder b = new CloseLook.Builder();
			samples.forEach(s -> b.add(0, s[1], 0x2000 + 8 * s[1], s[0] * scale, false, true));
			assertEquals(expected, b.build().lines().get(0).handOvers());
		}
	}
}
