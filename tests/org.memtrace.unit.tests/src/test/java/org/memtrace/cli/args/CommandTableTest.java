// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.args;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

/** Rules that every entry of the command table keeps, so that all help looks alike. */
class CommandTableTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root"));

	@Test
	void indexAndFilesAgree() throws IOException {
		Set<String> files = new TreeSet<>();
		try (Stream<Path> list = Files.list(ROOT.resolve("org.memtrace.cli/commands"))) {
			list.map(p -> p.getFileName().toString()).filter(n -> n.endsWith(".txt"))
					.map(n -> n.substring(0, n.length() - 4)).forEach(files::add);
		}
		files.removeAll(Set.of("index", "common", "README"));
		assertEquals(files, new TreeSet<>(CommandTable.index().keySet()));
	}

	@Test
	void entriesKeepTheStyle() {
		List<String> wrong = new ArrayList<>();
		for (String name : CommandTable.index().keySet()) {
			CommandSpec c = CommandTable.find(name);
			assertEquals(name, c.name());
			check(wrong, name, "summary begins small and has no full stop",
					Character.isLowerCase(c.summary().charAt(0)) && !c.summary().endsWith("."));
			check(wrong, name, "summary fits into the overview", c.summary().length() <= 64);
			check(wrong, name, "there is a usage line", !c.usage().isEmpty());
			check(wrong, name, "description ends with a full stop", c.text().endsWith("."));
			check(wrong, name, "arguments are explained", c.arguments().isEmpty() == (c.maxArguments() == 0));
			Set<String> seen = new HashSet<>();
			for (OptionSpec o : Stream.concat(c.options().stream(), CommandTable.common().options().stream()).toList()) {
				check(wrong, name, "--" + o.name() + " is there once", seen.add(o.name()));
				check(wrong, name, "-" + o.letter() + " is there once", o.letter() == 0 || seen.add("-" + o.letter()));
				check(wrong, name, "--" + o.name() + " is explained", o.text().endsWith(".") || o.text().endsWith(")"));
				check(wrong, name, "default of --" + o.name() + " is valid", valid(o));
			}
		}
		assertEquals(List.of(), wrong);
	}

	private static boolean valid(OptionSpec o) {
		try {
			if (o.defaultValue() != null) {
				o.check(o.defaultValue());
			}
			return true;
		} catch (UsageException e) {
			return false;
		}
	}

	private static void check(List<String> wrong, String command, String rule, boolean kept) {
		if (!kept) {
			wrong.add(command + ": not kept: " + rule);
		}
	}

	@Test
	void helpFitsIntoEightyColumns() {
		for (String name : CommandTable.index().keySet()) {
			HelpText.of(CommandTable.find(name)).lines()
					.forEach(line -> assertTrue(line.length() <= 80 || !line.contains("  "), line));
		}
		assertFalse(HelpText.overview().lines().anyMatch(line -> line.length() > 80));
	}

	@Test
	void referenceIsComplete() throws IOException {
		String reference = Files.readString(ROOT.resolve("docs/reference/cli.md"));
		for (String name : CommandTable.index().keySet()) {
			assertTrue(reference.contains("\n## memtrace " + name + "\n"),
					"docs/reference/cli.md lacks " + name + ": build/collector/memtrace help --markdown > docs/reference/cli.md");
			for (OptionSpec o : CommandTable.find(name).options()) {
				assertTrue(reference.contains("`" + o.form() + "`"), "docs/reference/cli.md lacks " + o.form());
			}
		}
	}

	@Test
	void unknownNamesAreNull() {
		assertNotNull(CommandTable.find("record"));
		assertEquals(null, CommandTable.find("common"));
		assertEquals(null, CommandTable.find("../x"));
	}
}
