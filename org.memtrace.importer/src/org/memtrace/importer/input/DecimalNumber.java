// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.input;

import java.math.BigDecimal;
import java.math.RoundingMode;

/** Decimal numbers as whole numbers of a smaller unit, such as seconds as nanoseconds. */
public final class DecimalNumber {
	private static final int MOST_DIGITS = 18;
	private static final int LARGEST_EXPONENT = 100;

	private DecimalNumber() {
	}

	/**
	 * A number times a power of ten, rounded half up.
	 *
	 * @param places the exponent, 0 to 9
	 * @throws NumberFormatException when the text is no number
	 * @throws ArithmeticException when the result is out of range
	 */
	public static long scaled(String text, int places) {
		long number = 0;
		int digits = 0;
		int behind = -1;
		int first = text.startsWith("-") ? 1 : 0;
		int i = first;
		for (; i < text.length(); i++) {
			char c = text.charAt(i);
			if (c == '.' && behind < 0) {
				behind = 0;
			} else if (c >= '0' && c <= '9' && digits < MOST_DIGITS && behind < places) {
				number = number * 10 + c - '0';
				digits += number > 0 ? 1 : 0;
				behind += behind >= 0 ? 1 : 0;
			} else {
				break;
			}
		}
		int missing = places - Math.max(behind, 0);
		if (i == text.length() && digits + missing <= MOST_DIGITS && i > first && !text.endsWith(".")) {
			for (int k = 0; k < missing; k++) {
				number *= 10;
			}
			return first == 1 ? -number : number;
		}
		BigDecimal exact = new BigDecimal(text); // an exponent, or more digits
		if (Math.abs((long) exact.scale() - exact.precision()) > LARGEST_EXPONENT) {
			throw new ArithmeticException("out of range");
		}
		return exact.movePointRight(places).setScale(0, RoundingMode.HALF_UP).longValueExact();
	}
}
