// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;

class ShellWordsTest {
	@Test
	void blanksQuotesAndBackslashes() {
		assertEquals(List.of(), ShellWords.split("  \n\t "));
		assertEquals(List.of("a", "b c", "d e", "f g", "x'y"), ShellWords.split("a 'b c' \"d e\"\n f\\ g x\\'y"));
		assertEquals(List.of("", "a\"b", "$x`\\", "\\n"), ShellWords.split("'' \"a\\\"b\" \"\\$x\\`\\\\\" '\\n'"));
		assertEquals(List.of("ab cd"), ShellWords.split("a'b c'd"));
		assertThrows(IllegalArgumentException.class, () -> ShellWords.split("a 'b"));
		assertThrows(IllegalArgumentException.class, () -> ShellWords.split("a \\"));
	}

	@Test
	void quotingIsReadBack() {
		Random random = new Random(7);
		for (int i = 0; i < 500; i++) {
			List<String> words = words(random);
			assertEquals(words, ShellWords.split(ShellWords.join(words)), "seed 7, round " + i);
		}
	}

	@Test
	void theShellReadsTheSame() throws IOException, InterruptedException {
		Random random = new Random(8);
		for (int i = 0; i < 5; i++) {
			List<String> words = words(random);
			Process shell = new ProcessBuilder("sh", "-c", "printf '%s\\0' " + ShellWords.join(words)).start();
			String out = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			assertEquals(0, shell.waitFor());
			assertEquals(String.join("\0", words) + "\0", out, "seed 8, round " + i);
		}
	}

	private static List<String> words(Random random) {
		String letters = "ab 'é\"\\$`*;&|<>()#~!\t-";
		List<String> words = new ArrayList<>();
		for (int w = random.nextInt(5) + 1; w > 0; w--) {
			StringBuilder word = new StringBuilder();
			for (int n = random.nextInt(8); n > 0; n--) {
				word.append(letters.charAt(random.nextInt(letters.length())));
			}
			words.add(word.toString());
		}
		return words;
	}
}
