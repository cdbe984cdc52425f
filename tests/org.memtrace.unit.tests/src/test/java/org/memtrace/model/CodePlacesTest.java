// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.Test;

class CodePlacesTest {
	private static CallFrame frame(Random random, long ip) {
		return new CallFrame(ip, "/lib/l" + random.nextInt(3), random.nextBoolean() ? ""
				: "f\u00fc" + random.nextInt(9), "a.c", random.nextInt(5));
	}

	/** Of random addresses, also 0, the largest ones and powers of two, in three images. */
	@Test
	void aNoteHasEveryAddress() throws Exception {
		for (long seed = 1; seed <= 20; seed++) {
			Random random = new Random(seed);
			CodePlaces.Builder b = new CodePlaces.Builder();
			Map<Long, CallFrame> wanted = new HashMap<>();
			int image = random.nextInt(3);
			int n = random.nextInt(200);
			for (int i = 0; i < n; i++) {
				long ip = switch (random.nextInt(4)) {
				case 0 -> 1L << random.nextInt(64);
				case 1 -> -random.nextInt(5);
				default -> random.nextLong();
				};
				CallFrame f = frame(random, ip);
				b.add(image, f);
				wanted.put(ip, f);
			}
			byte[] note = b.build().toBytes();
			CodePlaces places = CodePlaces.of(note);
			String message = "seed " + seed;
			assertEquals(wanted.isEmpty(), places.isEmpty(), message);
			for (Map.Entry<Long, CallFrame> e : wanted.entrySet()) {
				CallFrame f = places.frames().get(places.of(image, e.getKey()));
				CallFrame w = e.getValue();
				assertEquals(new CallFrame(0, w.object(), w.function(), w.file(), w.line()), f, message);
				assertEquals(places.of(image, e.getKey()), places.of(-1, e.getKey()), message);
				assertEquals(-1, places.of(image + 1, e.getKey()), message);
			}
			assertEquals(-1, places.of(image, 12345), message);
			assertArrayEquals(note, places.toBytes(), message);
		}
	}

	/** A damaged note is refused with a sentence, or is another table; it never ends in another error or takes the memory. */
	@Test
	void damagedNotesAreRefused() throws Exception {
		Random random = new Random(7);
		CodePlaces.Builder b = new CodePlaces.Builder();
		for (int i = 0; i < 50; i++) {
			b.add(i % 2, frame(random, random.nextLong()));
		}
		byte[] note = b.build().toBytes();
		for (int cut = 0; cut < note.length; cut++) {
			byte[] part = Arrays.copyOf(note, cut);
			assertThrows(StoreException.class, () -> CodePlaces.of(part), "cut at " + cut);
		}
		int refused = 0;
		for (int i = 0; i < 2000; i++) {
			byte[] other = note.clone();
			other[random.nextInt(other.length)] ^= (byte) (1 << random.nextInt(8));
			try {
				CodePlaces.of(other).of(0, 5);
			} catch (StoreException e) {
				refused++;
			}
		}
		assertTrue(refused > 100, "refused " + refused);
	}
}
