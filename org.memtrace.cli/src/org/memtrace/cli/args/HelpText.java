// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.args;

import java.util.List;
import java.util.Map;

import org.memtrace.cli.args.CommandSpec.Item;

/** The help of a command, 80 columns wide; prints the same as collector/cli/help.c. */
public final class HelpText {
	private static final int WIDTH = 80;
	private static final int TEXT_COLUMN = 26;
	private final StringBuilder out = new StringBuilder();

	private HelpText() {
	}

	public static String of(CommandSpec c) {
		HelpText h = new HelpText();
		h.out.append("memtrace ").append(c.name()).append(" - ").append(c.summary()).append("\n\n");
		h.usage(c);
		if (!c.text().isEmpty()) {
			h.out.append('\n');
			h.wrap(c.text(), 0, 0);
		}
		h.items("Arguments", c.arguments());
		h.out.append("\nOptions:\n");
		h.options(c.options());
		h.options(CommandTable.common().options());
		h.examples(c.examples());
		h.items("Exit codes", c.exits());
		h.items("Environment", c.variables());
		return h.out.toString();
	}

	/** The overview of all commands. */
	public static String overview() {
		CommandSpec c = CommandTable.common();
		HelpText h = new HelpText();
		h.out.append("memtrace - ").append(c.summary()).append("\n\n");
		h.usage(c);
		h.out.append('\n');
		h.wrap(c.text(), 0, 0);
		String section = "";
		for (Map.Entry<String, String> e : CommandTable.index().entrySet()) {
			if (!section.equals(e.getValue())) {
				section = e.getValue();
				h.out.append('\n').append(section).append(":\n");
			}
			String summary = CommandTable.find(e.getKey()).summary();
			h.out.append("  ").append(pad(e.getKey(), 12)).append("  ").append(summary).append('\n');
		}
		h.out.append("\nOptions of every command:\n");
		h.options(c.options());
		h.examples(c.examples());
		h.items("Exit codes", c.exits());
		h.items("Environment", c.variables());
		h.out.append("\n'memtrace help COMMAND' tells more about a command.\n");
		return h.out.toString();
	}

	private static String pad(String s, int width) {
		return s + " ".repeat(Math.max(0, width - s.length()));
	}

	private void usage(CommandSpec c) {
		String first = "Usage: ";
		for (String form : c.usage()) {
			out.append(first).append("memtrace").append(c.section().isEmpty() ? "" : " " + c.name());
			out.append(form.isEmpty() ? "" : " ").append(form).append('\n');
			first = "       ";
		}
	}

	private void entry(String name, String text, int left) {
		out.append("  ").append(name);
		int n = name.length() + 2;
		if (n > left - 2) {
			out.append('\n');
			n = 0;
		}
		wrap(text, left, n);
	}

	private void options(List<OptionSpec> options) {
		for (OptionSpec o : options) {
			String name = (o.letter() != 0 ? "-" + o.letter() + ", " : "    ") + o.form();
			entry(name, o.text() + defaultOf(o), TEXT_COLUMN);
		}
	}

	private static String defaultOf(OptionSpec o) {
		String limits = null;
		if (o.min() != null && o.max() != null) {
			limits = o.min() + " to " + o.max();
		} else if (o.min() != null) {
			limits = "at least " + o.min();
		} else if (o.max() != null) {
			limits = "at most " + o.max();
		}
		if (o.defaultValue() != null) {
			return " [default " + o.defaultValue() + (limits == null ? "" : "; " + limits) + "]";
		}
		return limits == null ? "" : " [" + limits + "]";
	}

	private void items(String title, List<Item> items) {
		if (items.isEmpty()) {
			return;
		}
		out.append('\n').append(title).append(":\n");
		int left = items.stream().mapToInt(i -> i.label().length() + 4).filter(n -> n <= TEXT_COLUMN).max()
				.orElse(TEXT_COLUMN);
		items.forEach(i -> entry(i.label(), i.text(), left));
	}

	private void examples(List<Item> examples) {
		if (examples.isEmpty()) {
			return;
		}
		out.append("\nExamples:\n");
		for (Item i : examples) {
			out.append("  ").append(i.label()).append('\n');
			wrap(i.text(), 6, 0);
		}
	}

	/** Reflows; the cursor stands at column {@code at}. Lines that begin with a space are kept. */
	private void wrap(String text, int left, int at) {
		out.append(" ".repeat(Math.max(0, left - at)));
		int column = left;
		boolean fresh = true;
		boolean first = true;
		for (String paragraph : text.split("\n\n")) {
			if (!first) {
				out.append("\n\n").append(" ".repeat(left));
				column = left;
				fresh = true;
			}
			for (String line : paragraph.split("\n")) {
				if (line.startsWith(" ")) {
					if (fresh) {
						out.setLength(out.length() - left);
					} else {
						out.append('\n');
					}
					out.append(" ".repeat(left)).append(line);
					column = WIDTH;
					fresh = false;
					continue;
				}
				for (String word : line.trim().split(" +")) {
					if (!fresh && column + 1 + word.length() > WIDTH) {
						out.append('\n').append(" ".repeat(left));
						column = left;
						fresh = true;
					}
					out.append(fresh ? "" : " ").append(word);
					column += word.length() + (fresh ? 0 : 1);
					fresh = false;
				}
			}
			first = false;
		}
		out.append('\n');
	}
}
