// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.answer;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.util.Locale;
import java.util.Set;

/**
 * A column of an answer. What all say of a value is here: the command line, the table of the workbench and files.
 *
 * @param name different from those of the other columns
 * @param type as SQL calls it, such as {@code BIGINT}
 * @param isAddress whether its numbers are addresses, which are shown in hexadecimal without a prefix
 */
public record AnswerColumn(String name, String type, boolean isAddress) {
	private static final Set<String> NUMBERS = Set.of("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT",
			"UINTEGER", "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE");

	/**
	 * A column of an answer.
	 *
	 * @param addresses names of columns that are addresses as long as they keep name and type
	 */
	public static AnswerColumn of(String name, String type, Set<String> addresses) {
		return new AnswerColumn(name, type, type.equals("UBIGINT") && addresses.contains(name));
	}

	/** Whether its values are numbers by their type; an answer without rows has a type, too. */
	public boolean isNumber() {
		return NUMBERS.contains(type) || type.startsWith("DECIMAL");
	}

	/**
	 * A value for a program: an address as hexadecimal text, null for a number that is not finite, all else as it is.
	 *
	 * @param value as a statement gives it: {@link Long}, {@link BigInteger}, {@link Double}, {@link Boolean}, {@link String}, null
	 */
	public Object exact(Object value) {
		if (isAddress && value instanceof Number n) {
			return n instanceof BigInteger i ? i.toString(16) : Long.toHexString(n.longValue());
		}
		return value instanceof Double d && !Double.isFinite(d) ? null : value;
	}

	/** A value for a person: as {@link #exact}, but numbers with a fraction have six digits. */
	public Object shown(Object value) {
		Object exact = exact(value);
		return exact instanceof Double d ? new Rounded(d) : exact;
	}

	/** A number that a person reads with six digits. */
	private static final class Rounded extends Number {
		private static final long serialVersionUID = 1L;
		private static final MathContext DIGITS = new MathContext(6);
		private final double value;

		Rounded(double value) {
			this.value = value;
		}

		@Override
		public String toString() {
			double size = Math.abs(value);
			return size != 0 && (size < 1e-6 || size >= 1e15) ? String.format(Locale.ROOT, "%.5e", value)
					: (size >= 1e6 ? BigDecimal.valueOf(Math.rint(value)) : new BigDecimal(value).round(DIGITS)).stripTrailingZeros()
							.toPlainString();
		}

		@Override
		public int intValue() {
			return (int) value;
		}

		@Override
		public long longValue() {
			return (long) value;
		}

		@Override
		public float floatValue() {
			return (float) value;
		}

		@Override
		public double doubleValue() {
			return value;
		}
	}
}
