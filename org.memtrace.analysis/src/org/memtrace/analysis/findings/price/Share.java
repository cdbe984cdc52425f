// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.price;

/** A share of ticks with its 95 % interval [Wilson 1927]. */
record Share(double value, double low, double high) {
	private static final double Z = 1.96;
	static final Share NONE = new Share(0, 0, 0);

	/** {@code some} of {@code all} ticks. */
	static Share of(double some, double all) {
		if (all <= 0) {
			return new Share(0, 0, 1);
		}
		double p = Math.min(1, some / all);
		double middle = (p + Z * Z / (2 * all)) / (1 + Z * Z / all);
		double half = Z / (1 + Z * Z / all) * Math.sqrt(p * (1 - p) / all + Z * Z / (4 * all * all));
		return new Share(p, Math.max(0, middle - half), Math.min(1, middle + half));
	}

	Share times(double factor) {
		return new Share(value * factor, low * factor, high * factor);
	}
}
