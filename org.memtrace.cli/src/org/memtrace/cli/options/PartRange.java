// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.options;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.UsageException;

/**
 * What {@code --range K/N} asks for.
 *
 * @param number of the part, from 0
 * @param count of all parts
 */
public record PartRange(int number, int count) {
	private static final Pattern RANGE = Pattern.compile("([0-9]{1,9})/([0-9]{1,9})");

	public static PartRange of(CommandLine args) throws UsageException {
		Matcher range = RANGE.matcher(args.get("range") == null ? "" : args.get("range"));
		int number = range.matches() ? Integer.parseInt(range.group(1)) : 0;
		int count = range.matches() ? Integer.parseInt(range.group(2)) : 0;
		if (number < 1 || number > count) {
			throw new UsageException((args.has("range") ? "--range is '" + args.get("range") + "'" : "--range is missing")
					+ "; it needs a number and how many parts there are, such as 3/16");
		}
		return new PartRange(number - 1, count);
	}
}
