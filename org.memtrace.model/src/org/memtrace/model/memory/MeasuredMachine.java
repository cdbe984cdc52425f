// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.memory;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What memory cost on the machine of a recording, as {@code memtrace check --measure} found it: figures by name
 * (docs/reference/measured.md), in nanoseconds. One that was refused is not there. As text: {@code NAME=VALUE,LOW,HIGH} and
 * {@code NAME=BYTES} between blanks. Immutable.
 *
 * @param figures by name
 * @param l2Bytes the L2 cache of a core, 0 not known
 */
public record MeasuredMachine(Map<String, Figure> figures, long l2Bytes) {
	/** Nothing was measured. */
	public static final MeasuredMachine NONE = new MeasuredMachine(Map.of(), 0);
	private static final String L2 = "l2_bytes";
	private static final int NUMBERS = 3;

	/**
	 * A figure.
	 *
	 * @param value the lower quartile of what was seen
	 * @param low the tenth percentile
	 * @param high the median
	 */
	public record Figure(double value, double low, double high) {
		/** This one times a factor. */
		public Figure times(double factor) {
			return new Figure(value * factor, low * factor, high * factor);
		}

		/** The sum; its bounds are those of both. */
		public Figure plus(Figure o) {
			return new Figure(value + o.value, low + o.low, high + o.high);
		}
	}

	public MeasuredMachine {
		figures = Map.copyOf(figures);
	}

	/** Whether nothing is known. */
	public boolean isEmpty() {
		return figures.isEmpty();
	}

	/** A figure, if it is known. */
	public Optional<Figure> figure(String name) {
		return Optional.ofNullable(figures.get(name));
	}

	/** What {@link #text} made; what cannot be read is not known. */
	public static MeasuredMachine of(String text) {
		Map<String, Figure> figures = new TreeMap<>();
		long l2 = 0;
		for (String word : text.isBlank() ? new String[0] : text.strip().split(" +")) {
			int at = word.indexOf('=');
			String[] numbers = word.substring(at + 1).split(",");
			try {
				if (word.startsWith(L2 + "=")) {
					l2 = Long.parseLong(numbers[0]);
				} else if (at > 0 && numbers.length == NUMBERS) {
					Figure f = new Figure(Double.parseDouble(numbers[0]), Double.parseDouble(numbers[1]), Double.parseDouble(numbers[2]));
					if (f.low > 0 && f.low <= f.value && f.value <= f.high && !Double.isInfinite(f.high)) {
						figures.put(word.substring(0, at), f);
					}
				}
			} catch (NumberFormatException e) {
				// not known
			}
		}
		return figures.isEmpty() ? NONE : new MeasuredMachine(figures, l2);
	}

	/** For a property of the trace; empty when nothing is known. */
	public String text() {
		StringBuilder b = new StringBuilder();
		new TreeMap<>(figures).forEach((name, f) -> b.append(name).append('=').append(f.value).append(',').append(f.low).append(',')
				.append(f.high).append(' '));
		return b.isEmpty() ? "" : b.append(L2).append('=').append(l2Bytes).toString();
	}
}
