// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.text;

import java.math.BigDecimal;
import java.math.RoundingMode;

/** Cells of CSV files (RFC 4180). */
public final class Csv {
	private Csv() {
	}

	/** Text, in quotes when it must be. */
	public static String cell(String s) {
		for (int i = 0; i < s.length(); i++) {
			char c = s.charAt(i);
			if (c == ',' || c == '"' || c == '\n' || c == '\r') {
				return '"' + s.replace("\"", "\"\"") + '"';
			}
		}
		return s;
	}

	/** A number with three decimals at most, never with an exponent. */
	public static String number(double v) {
		return v == Math.rint(v) && Math.abs(v) < 1e15 ? Long.toString((long) v)
				: BigDecimal.valueOf(v).setScale(3, RoundingMode.HALF_UP).stripTrailingZeros().toPlainString();
	}
}
