// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.model.CallFrame;
import org.memtrace.model.CodePlaces;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;

/** Which line of which file it is, where that file is here, and what edits it. */
class SourcePlacesTest {
	@TempDir
	private Path directory;

	private static CodePlaces code(CallFrame... frames) {
		CodePlaces.Builder b = new CodePlaces.Builder();
		for (CallFrame f : frames) {
			b.add(0, f);
		}
		return b.build();
	}

	private static Structure structure(String site, int stack) {
		return new Structure(0, 0, StructureKind.HEAP, "A", 0, 4096, 0, 1, 1, stack, site);
	}

	@Test
	void theSiteIsTheFirstPlaceAndHasAWholePath() {
		CallFrame inner = new CallFrame(1, "libc", "malloc", "", 0);
		CallFrame make = new CallFrame(2, "app", "make", "/b/src/work.c", 4);
		CallFrame main = new CallFrame(3, "app", "main", "/b/src/main.c", 40);
		assertEquals(List.of(new SourcePlace("A", "/b/src/work.c", 4), new SourcePlace("main", "/b/src/main.c", 40)),
				SourcePlace.of(structure("work.c:4", 0), List.of(inner, make, main), CodePlaces.NONE));
		// a static structure has no stack: code of the same file tells the path
		assertEquals(List.of(new SourcePlace("A", "/b/src/work.c", 9)),
				SourcePlace.of(structure("work.c:9", -1), List.of(), code(new CallFrame(7, "app", "f", "/b/src/work.c", 12))));
		assertEquals(List.of(new SourcePlace("A", "work.c", 9)), SourcePlace.of(structure("work.c:9", -1), List.of(), CodePlaces.NONE));
		assertEquals(List.of(), SourcePlace.of(structure("", -1), List.of(inner), CodePlaces.NONE));
		assertEquals("work.c:4", new SourcePlace("", "/b/src/work.c", 4).at());
		assertEquals("work.c", new SourcePlace("", "/b/src/work.c", 0).at());
	}

	@Test
	void filesAreFoundByRulesPathsAndNames() throws Exception {
		Path here = Files.writeString(Files.createDirectories(directory.resolve("src/deep")).resolve("work.c"), "int x;");
		assertEquals(here, new SourceFiles(List.of(), List.of()).find(here.toString()), "as it was recorded");
		assertNull(new SourceFiles(List.of(), List.of()).find("/build/app/deep/work.c"));
		List<SourceFiles.Rule> rules = SourceFiles.rules(" /build/app=" + directory.resolve("src") + " ;\n/other = /nowhere;");
		assertEquals(2, rules.size());
		assertEquals(here, new SourceFiles(rules, List.of()).find("/build/app/deep/work.c"));
		assertNull(new SourceFiles(rules, List.of()).find("/build/application/deep/work.c"), "whole names of folders");
		assertEquals(here, SourceFiles.of(List.of(), code(new CallFrame(1, "", "f", here.toString(), 3))).find("work.c"), "beside other code");
		assertNull(SourceFiles.of(List.of(), CodePlaces.NONE).find("work.c"));
		assertNull(new SourceFiles(rules, List.of()).find("/build/app/\0"));
		for (String bad : List.of("x", "=b", "a=", "a=b;c")) {
			assertTrue(assertThrows(IllegalArgumentException.class, () -> SourceFiles.rules(bad)).getMessage().contains("is no rule"), bad);
		}
		// somebody shows one file: others of the tree are found, too
		SourceFiles.Rule rule = SourceFiles.rule("/build/app/deep/work.c", here);
		assertEquals(new SourceFiles.Rule("/build/app", directory.resolve("src").toString()), rule);
		assertEquals(List.of(rule), SourceFiles.rules(SourceFiles.text(List.of(rule))));
		assertEquals(new SourceFiles.Rule("work.c", here.toString()), SourceFiles.rule("work.c", here));
		assertEquals(here, new SourceFiles(List.of(SourceFiles.rule("old.c", here)), List.of()).find("old.c"), "under another name");
	}

	@Test
	void theEditorOfTheUserIsFound() {
		Path file = Path.of("/a b/work.c");
		Map<String, String> both = Map.of("VISUAL", "vim", "EDITOR", "ed");
		assertEquals(List.of("code", "-g", "/a b/work.c:7"), EditorCommand.of("", both::get, Set.of("code")::contains, file, 7));
		assertEquals(List.of("x-terminal-emulator", "-e", "vim", "+7", "/a b/work.c"),
				EditorCommand.of(" ", both::get, Set.of("x-terminal-emulator")::contains, file, 7));
		assertEquals("ed", EditorCommand.of("", Map.of("EDITOR", "ed")::get, Set.of("x-terminal-emulator")::contains, file, 7).get(2));
		assertEquals(List.of("my editor", "--at", "1", "/a b/work.c"), EditorCommand.of("'my editor' --at {line}", both::get,
				p -> false, file, 0));
		assertEquals(List.of("kate", "/a b/work.c", "-l 3"), EditorCommand.of("kate {file} \"-l {line}\"", both::get, p -> false, file, 3));
		for (Map<String, String> environment : List.of(both, Map.<String, String>of())) {
			assertTrue(assertThrows(IllegalArgumentException.class, () -> EditorCommand.of("", environment::get, p -> false, file, 1)).getMessage()
					.contains("Preferences"));
		}
	}
}
