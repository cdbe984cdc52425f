// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.cli.Ran;
import org.memtrace.cli.args.ExitCode;

/** {@code memtrace diff --picture}. */
class DiffPictureCommandTest {
	private static final String EXAMPLE = Path.of(System.getProperty("memtrace.root", "../.."), "testdata", "format-example").toString();

	@TempDir
	Path temporary;
	private String db;

	@BeforeEach
	void imports() {
		db = temporary.resolve("example.db").toString();
		Ran.ok("import", "-q", "-o", db, EXAMPLE);
	}

	private Ran diff(String... more) {
		String[] args = new String[more.length + 3];
		args[0] = "diff";
		System.arraycopy(more, 0, args, 1, more.length);
		args[more.length + 1] = db;
		args[more.length + 2] = db;
		return Ran.of(args);
	}

	@Test
	void thePictureIsDrawnBesideTheText() throws Exception {
		Path svg = temporary.resolve("d.svg");
		Ran plain = diff();
		Ran drawn = diff("--picture", svg.toString());
		assertEquals(0, drawn.code(), drawn.err());
		assertEquals(plain.out(), drawn.out());
		assertTrue(drawn.err().contains("d.svg: ") && drawn.err().contains(", accesses"), drawn.err());
		String text = Files.readString(svg);
		assertTrue(text.contains("share of all accesses") && text.contains("nothing differs") && text.contains("100 %"), text);
	}

	@Test
	void whatIsDrawnCanBeChosen() throws Exception {
		Path svg = temporary.resolve("d.svg");
		Ran thread = diff("--picture", svg.toString(), "--thread", "worker 1", "--align", "start", "--window", "whole", "--theme", "dark");
		assertEquals(0, thread.code(), thread.err());
		String text = Files.readString(svg);
		assertTrue(text.contains("that worker 1 has touched first until then") && text.contains(" ms"), text);
		assertEquals(0, diff("--picture", svg.toString(), "--picture-of", "writes").code());
		assertTrue(Files.readString(svg).contains("share of all writes"));
		Path png = temporary.resolve("d.png");
		assertEquals(0, diff("--picture", png.toString(), "--width", "400", "--height", "300").code());
		assertEquals(0x89, Files.readAllBytes(png)[0] & 0xff);
	}

	@Test
	void mistakesAreToldBeforeAnythingIsWritten() {
		Path file = temporary.resolve("d.gif");
		Ran ending = diff("--picture", file.toString());
		assertEquals(ExitCode.USAGE, ending.code());
		assertTrue(ending.err().contains("must end in .svg, .png or .pdf"), ending.err());
		Path svg = temporary.resolve("d.svg");
		Ran nobody = diff("--picture", svg.toString(), "--thread", "nobody");
		assertEquals(ExitCode.USAGE, nobody.code());
		assertTrue(nobody.err().contains("no thread is called nobody: there are main, worker 1"), nobody.err());
		assertEquals(ExitCode.USAGE, diff("--picture", svg.toString(), "--thread", "main", "--picture-of", "reads").code());
		assertFalse(Files.exists(file) || Files.exists(svg));
	}
}
