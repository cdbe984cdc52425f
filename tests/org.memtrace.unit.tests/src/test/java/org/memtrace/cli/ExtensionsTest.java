// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.ToolProvider;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.findings.rules.Rule;
import org.memtrace.analysis.findings.rules.Rules;
import org.memtrace.cli.output.Console;
import org.memtrace.importer.InputReaders;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.model.ExtensionFiles;
import org.memtrace.model.MemtraceException;

/** Archives of others: the examples are compiled here and used by the commands. */
class ExtensionsTest {
	private static final Path EXAMPLES = Path.of(System.getProperty("memtrace.root", "../..")).resolve("examples/extensions");
	private static final String SERVICES = "META-INF/services/";

	@TempDir
	Path folder;
	private final ByteArrayOutputStream said = new ByteArrayOutputStream();

	@AfterEach
	void takeBack() {
		Rules.all().stream().filter(r -> !known(r)).forEach(Rules::remove);
		Dimensions.all().stream().filter(d -> !known(d)).forEach(Dimensions::remove);
		Arrays.stream(Metric.values()).filter(m -> m.kind() == Metric.Kind.WEIGHED).forEach(Metric::remove);
		InputReaders.all().stream().filter(r -> !known(r)).forEach(InputReaders::unregister);
	}

	private static boolean known(Object o) {
		return o.getClass().getClassLoader() == Rules.class.getClassLoader();
	}

	/** The bundles that an example may need, wherever the tests run. */
	private static String classPath() {
		return Stream.of(MemtraceException.class, AccessTable.class, InputReaders.class, Rules.class).map(c -> {
			try {
				return Path.of(c.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
			} catch (URISyntaxException e) {
				throw new IllegalStateException(e);
			}
		}).distinct().collect(Collectors.joining(File.pathSeparator));
	}

	/** Compiles the sources of an example into an archive. */
	private Path archive(String example) throws IOException {
		Path source = EXAMPLES.resolve(example).resolve("src");
		Path classes = Files.createDirectories(folder.resolve("classes-" + example));
		List<String> args = new ArrayList<>(List.of("-proc:none", "-cp", classPath(), "-d", classes.toString()));
		try (Stream<Path> all = Files.walk(source)) {
			all.filter(f -> f.toString().endsWith(".java")).forEach(f -> args.add(f.toString()));
		}
		assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, args.toArray(String[]::new)));
		Path archive = folder.resolve(example + ".jar");
		try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(archive))) {
			for (Path root : List.of(classes, source)) {
				try (Stream<Path> all = Files.walk(root)) {
					for (Path f : all.filter(f -> Files.isRegularFile(f) && !f.toString().endsWith(".java")).toList()) {
						add(jar, root.relativize(f).toString(), Files.readAllBytes(f));
					}
				}
			}
		}
		return archive;
	}

	private static void add(JarOutputStream jar, String name, byte[] content) throws IOException {
		jar.putNextEntry(new JarEntry(name));
		jar.write(content);
	}

	private void load(String variable) {
		Extensions.load(folder.resolve("home"), variable, new PrintStream(said, true, StandardCharsets.UTF_8));
	}

	private String said() {
		return said.toString(StandardCharsets.UTF_8);
	}

	private String run(String... args) {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		PrintStream both = new PrintStream(out, true, StandardCharsets.UTF_8);
		assertEquals(0, Main.run(args, new Console(both, both, false, false, true)), () -> out.toString(StandardCharsets.UTF_8));
		return out.toString(StandardCharsets.UTF_8);
	}

	@Test
	void readerOfAnotherArchiveImports() throws IOException {
		Path log = Files.writeString(folder.resolve("some.log"), "LINES\n10 a start\n20 b stop\nnonsense\n");
		load(archive("org.memtrace.example.reader").toString());
		assertEquals("", said());
		assertTrue(InputReaders.all().stream().map(InputReader::id).toList().contains("lines"));
		String text = run("import", "--catalogue", folder.resolve("traces").toString(), log.toString());
		assertTrue(text.contains("2 punctual events"), text);
		assertTrue(text.contains("not a time, a thread and a name"), text);
	}

	@Test
	void ruleOfAnotherArchiveIsAsked() throws IOException {
		Files.createDirectories(folder.resolve("home"));
		archive("org.memtrace.example.rule");
		Files.createDirectories(folder.resolve("home/extensions"));
		Files.move(folder.resolve("org.memtrace.example.rule.jar"), folder.resolve("home/extensions/rule.jar"));
		load(null);
		assertEquals("", said());
		List<String> ids = Rules.all().stream().map(Rule::id).toList();
		assertEquals("huge-pages", ids.get(ids.size() - 1));
		load(" ");
		assertTrue(said().contains("rule.jar: an extension of it cannot be used") && said().contains("there is a rule huge-pages already"),
				said());
	}

	@Test
	void metricAndDimensionOfOtherArchivesAreOffered() throws Exception {
		Path archives = Files.createDirectories(folder.resolve("archives"));
		for (String example : List.of("org.memtrace.example.metric", "org.memtrace.example.dimension")) {
			Files.move(archive(example), archives.resolve(example + ".jar"));
		}
		load(archives.toString());
		assertEquals("", said());
		String trace = folder.resolve("example.db").toString();
		run("import", "-o", trace, EXAMPLES.resolve("../../testdata/format-example").toString());
		String text = run("aggregate", "--view", "thread_role", "--metric", "read-and-write", "-p", "0", trace);
		assertTrue(text.contains("by thread role, accesses to what is read and written"), text);
		// the only records with reads and writes: 1 and 1 of the first thread on page 0, 1 and 2 of the worker on page 1
		assertTrue(text.matches("(?s).*A \\[page 1\\] .* 60\\.0 %  worker\n.*"), text);
		assertTrue(text.matches("(?s).*A \\[page 0\\] .* 40\\.0 %  app\n.*"), text);
		text = run("query", "--what", "groups", "--by", "thread_role", "--format", "csv", trace);
		assertTrue(text.contains("worker,"), text);
	}

	@Test
	void whatCannotBeUsedIsToldAndTheRestWorks() throws IOException {
		Path good = archive("org.memtrace.example.rule");
		Path missing = folder.resolve("missing-class.jar");
		try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(missing))) {
			add(jar, SERVICES + Rule.class.getName(), "org.nowhere.Nothing\norg.nowhere.NothingElse\n".getBytes(StandardCharsets.UTF_8));
		}
		Path wrong = folder.resolve("wrong-type.jar");
		try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(wrong))) {
			add(jar, SERVICES + InputReader.class.getName(), (Rules.all().get(0).getClass().getName() + "\n").getBytes(StandardCharsets.UTF_8));
		}
		Path broken = Files.writeString(folder.resolve("broken.jar"), "no archive");
		load(String.join(File.pathSeparator, missing.toString(), wrong.toString(), broken.toString(), "", good.toString()));
		String[] lines = said().split("\n");
		assertEquals(4, lines.length, said());
		assertTrue(lines[0].contains(missing + ": an extension of it cannot be used: ") && lines[0].contains("org.nowhere.Nothing"), said());
		assertTrue(lines[1].contains("org.nowhere.NothingElse"), said());
		assertTrue(lines[2].contains(wrong + ": an extension of it cannot be used: "), said());
		assertTrue(lines[3].contains(broken + ": the extension cannot be read: "), said());
		assertTrue(Rules.all().stream().anyMatch(r -> r.id().equals("huge-pages")));
	}

	@Test
	void variableReplacesTheFolder() throws Exception {
		Path home = folder.resolve("home");
		assertEquals(List.of(), ExtensionFiles.find(home, null));
		Path own = Files.createDirectories(home.resolve("extensions"));
		Path b = Files.createFile(own.resolve("b.jar"));
		Path a = Files.createFile(own.resolve("a.jar"));
		Files.createFile(own.resolve("notes.txt"));
		assertEquals(List.of(a, b), ExtensionFiles.find(home, null));
		Path other = Files.createFile(folder.resolve("other.jar"));
		assertEquals(List.of(other), ExtensionFiles.find(home, other.toString()));
		assertEquals(List.of(other, a, b), ExtensionFiles.find(home, other + File.pathSeparator + own));
		MemtraceException e = assertThrows(MemtraceException.class, () -> ExtensionFiles.find(home, "/nowhere/x.jar"));
		assertEquals("MEMTRACE_EXTENSIONS names /nowhere/x.jar, which is neither an archive nor a folder", e.getMessage());
		load("/nowhere/x.jar");
		assertEquals("memtrace: " + e.getMessage() + "\n", said());
	}
}
