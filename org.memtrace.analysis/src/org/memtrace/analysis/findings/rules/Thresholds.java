// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;

import org.memtrace.model.MemtraceException;

/** Values of the thresholds: the standard ones, but for those that a user set. Immutable. */
public final class Thresholds {
	/** Nothing is set. */
	public static final Thresholds STANDARD = new Thresholds(Map.of());

	private final Map<Threshold, Double> set = new EnumMap<>(Threshold.class);

	private Thresholds(Map<Threshold, Double> values) {
		set.putAll(values);
	}

	/** The value of a threshold. */
	public double get(Threshold t) {
		return set.getOrDefault(t, t.standard());
	}

	/**
	 * These thresholds with another value of one.
	 *
	 * @param assignment {@code NAME=VALUE}
	 */
	public Thresholds with(String assignment) throws MemtraceException {
		int at = assignment.indexOf('=');
		String name = at < 0 ? assignment : assignment.substring(0, at).strip();
		Threshold t = Arrays.stream(Threshold.values()).filter(x -> x.id().equals(name)).findAny()
				.orElseThrow(() -> new MemtraceException("there is no threshold '" + name + "'; there are "
						+ Arrays.stream(Threshold.values()).map(Threshold::id).collect(Collectors.joining(", "))));
		try {
			double value = Double.parseDouble(assignment.substring(at + 1).strip());
			if (at < 0 || !(value >= 0) || Double.isInfinite(value)) {
				throw new NumberFormatException();
			}
			return with(t, value);
		} catch (NumberFormatException e) {
			throw new MemtraceException("'" + assignment + "' is not NAME=NUMBER with a number that is not negative");
		}
	}

	/** These thresholds with another value of one. */
	public Thresholds with(Threshold t, double value) {
		Map<Threshold, Double> values = new EnumMap<>(Threshold.class);
		values.putAll(set);
		values.put(t, value);
		return new Thresholds(values);
	}
}
