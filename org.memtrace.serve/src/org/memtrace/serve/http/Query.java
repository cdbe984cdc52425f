// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What stands behind the question mark of an address: each value has a kind and limits. Immutable. */
public final class Query {
	private static final int MOST_VALUES = 40;
	private static final int MOST_LENGTH = 16_384;

	private final Map<String, String> values;

	private Query(Map<String, String> values) {
		this.values = values;
	}

	/** Reads {@code a=1&b=%20}; null is nothing. */
	public static Query parse(String raw) throws Refused {
		Map<String, String> values = new TreeMap<>();
		for (String part : raw == null || raw.isEmpty() ? new String[0] : raw.split("&", MOST_VALUES + 1)) {
			int at = part.indexOf('=');
			try {
				String key = URLDecoder.decode(at < 0 ? part : part.substring(0, at), StandardCharsets.UTF_8);
				if (values.put(key, at < 0 ? "" : URLDecoder.decode(part.substring(at + 1), StandardCharsets.UTF_8)) != null) {
					throw Refused.bad("a value is given twice");
				}
			} catch (IllegalArgumentException e) {
				throw Refused.bad("the address is not encoded as it should be");
			}
		}
		if (values.size() > MOST_VALUES) {
			throw Refused.bad("more than " + MOST_VALUES + " values");
		}
		return new Query(values);
	}

	public boolean has(String name) {
		return !values.getOrDefault(name, "").isEmpty();
	}

	/** A text; empty when it is not there. */
	public String text(String name) throws Refused {
		String text = values.getOrDefault(name, "");
		if (text.length() > MOST_LENGTH) {
			throw Refused.bad(name + " is longer than " + MOST_LENGTH + " characters");
		}
		return text;
	}

	/** One of some words. */
	public String word(String name, String otherwise, Collection<String> possible) throws Refused {
		String text = has(name) ? text(name) : otherwise;
		if (!possible.contains(text)) {
			throw Refused.bad(name + " is none of " + possible.stream().sorted().collect(Collectors.joining(", ")));
		}
		return text;
	}

	/** A whole number within limits. */
	public int number(String name, int otherwise, int least, int most) throws Refused {
		return (int) number(name, (long) otherwise, least, most);
	}

	/** A whole number within limits. */
	public long number(String name, long otherwise, long least, long most) throws Refused {
		if (!has(name)) {
			return otherwise;
		}
		long n;
		try {
			n = Long.parseLong(text(name));
		} catch (NumberFormatException e) {
			throw Refused.bad(name + " is no whole number");
		}
		if (n < least || n > most) {
			throw Refused.bad(name + " is not from " + least + " to " + most);
		}
		return n;
	}

	/** A number within limits. */
	public double real(String name, double otherwise, double least, double most) throws Refused {
		if (!has(name)) {
			return otherwise;
		}
		double n;
		try {
			n = Double.parseDouble(text(name));
		} catch (NumberFormatException e) {
			throw Refused.bad(name + " is no number");
		}
		if (!(n >= least && n <= most)) {
			throw Refused.bad(name + " is not from " + least + " to " + most);
		}
		return n;
	}
}
