// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.colour;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.ModelType.Role;

/** The colours are those in testdata/vectors/palette.csv, which the tests of the packages for Python and R read, too. */
class PaletteTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root", "../..")).toAbsolutePath().normalize();
	private static final Palette P = Palette.LIGHT;

	@Test
	void theFileOfColoursIsCurrent() throws Exception {
		List<String> lines = new ArrayList<>(List.of("what,name,colour"));
		lines.add(line("type", "Private_Read", P.color(new ModelType("Private_Read", Role.PRIVATE_READ, 0))));
		lines.add(line("type", "Private_Write", P.color(new ModelType("Private_Write", Role.PRIVATE_WRITE, 0))));
		lines.add(line("type", "Shared_Read", P.color(new ModelType("Shared_Read", Role.SHARED_READ, 0))));
		lines.add(line("type", "Shared_Write", P.color(new ModelType("Shared_Write", Role.SHARED_WRITE, 0))));
		lines.add(line("rw", "reads", P.color(new ModelType("Read", Role.READ, 0))));
		lines.add(line("rw", "writes", P.color(new ModelType("Write", Role.WRITE, 0))));
		lines.add(line("page", "behind", P.plotBackground()));
		lines.add(line("page", "muted", P.mutedText()));
		lines.add(line("page", "line", P.separator()));
		lines.add(line("thread", "-1", P.unknown()));
		for (int i = 0; i < 100; i++) {
			lines.add(line("thread", Integer.toString(i), P.color(new ModelType("t", Role.THREAD, i))));
		}
		List<String> names = new ArrayList<>(List.of("A", "B", "C", "key_buff1", "stack of thread 2 (matmul)",
				"\u00e4\u00df", "\ud83d\ude80 x", "\u6570"));
		IntStream.range(0, 300).forEach(i -> names.add(Integer.toString(i * i * 7919, 36)));
		assertEquals(Palette.STRUCTURES, names.stream().map(Palette::structurePlace).collect(Collectors.toSet()).size(), "each is there");
		names.forEach(n -> lines.add(line("structure", n, P.structure(n))));
		Path actual = ROOT.resolve("build/golden/palette.csv");
		Files.createDirectories(actual.getParent());
		Files.writeString(actual, String.join("\n", lines) + "\n");
		Path wanted = ROOT.resolve("testdata/vectors/palette.csv");
		assertEquals(Files.exists(wanted) ? Files.readString(wanted) : "", Files.readString(actual),
				"accept with: cp " + ROOT.relativize(actual) + " " + ROOT.relativize(wanted));
	}

	private static String line(String what, String name, int argb) {
		return what + "," + name + "," + "#%06x".formatted(argb & 0xffffff);
	}
}
