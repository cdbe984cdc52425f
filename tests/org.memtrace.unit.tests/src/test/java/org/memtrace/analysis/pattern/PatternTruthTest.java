// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.pattern;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.junit.jupiter.api.Test;
import org.memtrace.model.MemtraceException;

/**
 * Precision and recall of each label on made programs whose pattern is known. The table is printed and stands in
 * docs/measured/patterns.md. {@code -Dmemtrace.patterns.seed=N} and {@code -Dmemtrace.patterns.programs=N} make others.
 */
class PatternTruthTest {
	private static final long SEED = Long.getLong("memtrace.patterns.seed", 20261122);
	private static final int PROGRAMS = Integer.getInteger("memtrace.patterns.programs", 24);
	/** Precision and recall, of intervals. Of strides that several threads walk at once only the precision: one thread hides another one. */
	private static final double LEAST = 0.85;

	/** A stride that divides the page is told as the page. */
	private static final int PAGE = 4096;

	private static int at(Pattern p) {
		return p == null ? Pattern.values().length : p.ordinal();
	}

	@Test
	void labelsOfMadePrograms() throws MemtraceException {
		int n = Pattern.values().length + 1;
		int[][] counts = new int[n][n];
		int strides = 0;
		int[] together = new int[2];
		int[] apart = new int[2];
		int rightStrides = 0;
		List<String> wrong = new ArrayList<>();
		for (int k = 0; k < n; k++) {
			Pattern truth = k < n - 1 ? Pattern.values()[k] : null;
			for (int i = 0; i < PROGRAMS; i++) {
				long seed = SEED + 1000L * k + i;
				MadePattern made = MadePattern.of(truth, seed);
				int[] said = new int[n];
				for (PatternReading r : made.read()) {
					said[at(r.pattern())]++;
					if (truth == Pattern.STRIDED) {
						(made.together() ? together : apart)[r.pattern() == Pattern.STRIDED ? 0 : 1]++;
					}
					if (truth == Pattern.STRIDED && r.pattern() == Pattern.STRIDED) {
						strides++;
						rightStrides += r.strideBytes() == made.strideBytes || r.strideBytes() % PAGE == 0 && r.strideBytes() % made.strideBytes == 0 ? 1 : 0;
					}
				}
				int all = 0;
				for (int l = 0; l < n; l++) {
					counts[k][l] += said[l];
					all += said[l];
				}
				if (2 * said[k] < all) {
					wrong.add("seed " + seed + ", " + title(k) + " (" + made.what + "): " + text(said));
				}
			}
		}
		System.out.println("labels of made programs, seed " + SEED + ", " + PROGRAMS + " programs each");
		List<String> low = new ArrayList<>();
		for (int k = 0; k < n; k++) {
			int of = 0;
			int said = 0;
			for (int l = 0; l < n; l++) {
				of += counts[k][l];
				said += counts[l][k];
			}
			double precision = said == 0 ? 1 : (double) counts[k][k] / said;
			double recall = (double) counts[k][k] / of;
			System.out.printf(Locale.ROOT, "%-14s %5d intervals, precision %.3f, recall %.3f: %s%n", title(k), of, precision, recall,
					text(counts[k]));
			if (k < n - 1 && (precision < LEAST || recall < LEAST && k != Pattern.STRIDED.ordinal())) {
				low.add(title(k));
			}
		}
		System.out.printf(Locale.ROOT, "stride right in %d of %d; recall of strided where threads have rows of their own %.3f (of %d), the same rows %.3f (of %d)%n",
				rightStrides, strides, (double) apart[0] / (apart[0] + apart[1]), apart[0]
				+ apart[1], (double) together[0] / (together[0] + together[1]), together[0] + together[1]);
		wrong.forEach(System.out::println);
		assertTrue(low.isEmpty(), () -> "below " + LEAST + ": " + low + ", seed " + SEED);
		assertTrue(apart[0] >= LEAST * (apart[0] + apart[1]), "strided, seed " + SEED);
		assertTrue(rightStrides >= LEAST * strides, "strides, seed " + SEED);
	}

	private static String title(int k) {
		return k < Pattern.values().length ? Pattern.values()[k].title() : "no pattern";
	}

	private static String text(int[] said) {
		StringBuilder b = new StringBuilder();
		for (int l = 0; l < said.length; l++) {
			if (said[l] > 0) {
				b.append(b.isEmpty() ? "" : ", ").append(title(l)).append(' ').append(said[l]);
			}
		}
		return b.toString();
	}
}
