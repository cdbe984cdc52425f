// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

/** The short run of the fuzzer: its seeds, and mutations of them that are the same each time. */
class ImportFuzzerTest {
	private static final Path SEEDS = Path.of(System.getProperty("memtrace.root", "../.."), "testdata", "fuzz", "import");
	private static final String[] TOKENS = { "\n", ",", "-", "-1", "0", "18446744073709551615", "ffffffffffffffff", "\"", "\0", "\r\n",
			"#", "9007199254740992", "9223372036854775807", "R", "W", "Shared", "1" };

	private static List<byte[]> seeds() throws Exception {
		List<byte[]> seeds = new ArrayList<>();
		try (Stream<Path> files = Files.list(SEEDS)) {
			for (Path file : files.sorted().toList()) {
				seeds.add(Files.readAllBytes(file));
			}
		}
		return seeds;
	}

	@Test
	void seedsCanBeImported() throws Exception {
		List<byte[]> seeds = seeds();
		assertEquals(7, seeds.size());
		for (byte[] seed : seeds) {
			ImportFuzzer.fuzzerTestOneInput(seed);
			assertTrue(ImportFuzzer.imports(Arrays.copyOfRange(seed, 1, seed.length), false), new String(seed, StandardCharsets.ISO_8859_1));
		}
	}

	@Test
	void mutationsEndWell() throws Exception {
		List<byte[]> seeds = seeds();
		int imported = 0;
		for (int n = 0; n < 3000; n++) {
			Random random = new Random(n);
			String text = new String(seeds.get(n % seeds.size()), StandardCharsets.ISO_8859_1);
			for (int m = random.nextInt(4); m >= 0; m--) {
				int from = random.nextInt(text.length() + 1);
				int to = random.nextInt(3) == 0 ? from : Math.min(text.length(), from + random.nextInt(12));
				String token = random.nextInt(4) == 0 ? "" + (char) random.nextInt(256) : TOKENS[random.nextInt(TOKENS.length)];
				text = text.substring(0, from) + (random.nextInt(5) == 0 ? "" : token) + text.substring(to);
			}
			byte[] data = text.getBytes(StandardCharsets.ISO_8859_1);
			try {
				ImportFuzzer.fuzzerTestOneInput(data);
				imported += data.length > 0 && ImportFuzzer.imports(Arrays.copyOfRange(data, 1, data.length), false) ? 1 : 0;
			} catch (Throwable e) {
				throw new AssertionError("mutation " + n + ": " + text, e);
			}
		}
		assertTrue(imported > 500 && imported < 3000, imported + " of 3000 imported");
	}
}
