// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.args;

import java.util.List;

/**
 * One command of the command table.
 *
 * @param usage one form per entry, without the name
 * @param maxArguments -1: any number
 * @param rest the first positional argument ends the options
 */
public record CommandSpec(String name, String section, boolean java, String summary, List<String> usage, String text,
		int minArguments, int maxArguments, boolean rest, List<OptionSpec> options, List<Item> arguments,
		List<Item> examples, List<Item> exits, List<Item> variables) {

	/** Anything with a label and a text. */
	record Item(String label, String text) {
	}
}
