// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.build;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.Manifest;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The arrows of ARCHITECTURE.md hold in all manifests and class files, and the checker finds what breaks them. */
class LayeringTest {
	static final Path ROOT = Path.of(System.getProperty("memtrace.root"));

	@Test
	void manifests() throws IOException {
		List<String> wrong = new ArrayList<>();
		for (String bundle : new TreeSet<>(LayeringRules.MAY_USE.keySet())) {
			try (InputStream in = Files.newInputStream(ROOT.resolve("org.memtrace." + bundle + "/META-INF/MANIFEST.MF"))) {
				wrong.addAll(LayeringRules.checkManifest(bundle, new Manifest(in)));
			}
		}
		assertEquals(List.of(), wrong);
	}

	@Test
	void everyBundleHasRules() throws IOException {
		Set<String> found = new TreeSet<>();
		try (Stream<Path> list = Files.list(ROOT)) {
			list.filter(p -> Files.exists(p.resolve("META-INF/MANIFEST.MF")))
					.map(p -> p.getFileName().toString().replace("org.memtrace.", "")).forEach(found::add);
		}
		assertEquals(new TreeSet<>(LayeringRules.MAY_USE.keySet()), found);
	}

	@ParameterizedTest
	@ValueSource(strings = { "model", "storage", "importer", "aggregation", "analysis", "topology", "sql", "serve", "cli" })
	void classesOfHeadlessBundles(String bundle) throws IOException {
		Map<String, byte[]> classes = onClassPath(bundle);
		assumeTrue(!classes.isEmpty(), "no class in org.memtrace." + bundle);
		check(bundle, classes);
	}

	@ParameterizedTest
	@ValueSource(strings = { "views", "rcp" })
	void classesOfTheWorkbench(String bundle) throws IOException {
		check(bundle, ofTheWorkbench(bundle));
	}

	@ParameterizedTest
	@ValueSource(strings = { "model", "storage", "importer", "aggregation", "analysis", "topology", "sql", "serve", "cli" })
	void packagesOfHeadlessBundlesHaveNoCircles(String bundle) throws IOException {
		assertEquals(List.of(), new PackageCycles(references(onClassPath(bundle))).find());
	}

	@ParameterizedTest
	@ValueSource(strings = { "model", "storage", "importer", "aggregation", "analysis", "topology", "sql", "serve", "cli" })
	void classesOfHeadlessBundlesHaveNoNewCircles(String bundle) throws IOException {
		assertEquals(List.of(), KnownFaults.read().checkCircles(bundle, new ClassCircles(references(onClassPath(bundle))).find()));
	}

	@ParameterizedTest
	@ValueSource(strings = { "views", "rcp" })
	void circlesOfTheWorkbench(String bundle) throws IOException {
		Map<String, Set<String>> references = references(ofTheWorkbench(bundle));
		assertEquals(List.of(), new PackageCycles(references).find());
		assertEquals(List.of(), KnownFaults.read().checkCircles(bundle, new ClassCircles(references).find()));
	}

	/** The classes that Maven made of the sources of today. */
	private static Map<String, byte[]> ofTheWorkbench(String bundle) throws IOException {
		Path project = ROOT.resolve("org.memtrace." + bundle);
		assumeTrue(Files.isDirectory(project.resolve("target/classes")), "org.memtrace." + bundle + " is compiled by Maven only");
		Map<String, byte[]> classes = new TreeMap<>();
		collect(project.resolve("target/classes"), classes);
		classes.keySet().removeIf(name -> !Files.exists(
				project.resolve("src/" + name.replaceFirst("\\$.*", "").replace('.', '/') + ".java")));
		assertFalse(classes.isEmpty());
		return classes;
	}

	@Test
	void packagesOfAnalysisAreSeen() throws IOException {
		Map<String, Map<String, String>> uses = new PackageCycles(references(onClassPath("analysis"))).uses();
		assertTrue(uses.get("org.memtrace.analysis.gantt").containsKey("org.memtrace.analysis.scene"), uses::toString);
	}

	@Test
	void circlesAreFound() {
		Map<String, Set<String>> classes = new TreeMap<>(Map.of("x.a.A", Set.of("x.b.B", "java.lang.String", "x.c.Missing"), //
				"x.b.B", Set.of("x.c.C#make", "x.b.Other"), "x.b.Other", Set.of("x.b.B"), "x.c.C", Set.of("x.c.C$In"), //
				"x.c.C$In", Set.of()));
		assertEquals(List.of(), new PackageCycles(classes).find());
		classes.put("x.c.C$In", Set.of("x.a.A#run"));
		assertEquals(List.of("x.a.A uses x.b.B; x.b.B uses x.c.C; x.c.C$In uses x.a.A",
				"x.b.B uses x.c.C; x.c.C$In uses x.a.A; x.a.A uses x.b.B",
				"x.c.C$In uses x.a.A; x.a.A uses x.b.B; x.b.B uses x.c.C"), new PackageCycles(classes).find());
	}

	@Test
	void circlesOfClassesAreFound() {
		Map<String, Set<String>> classes = Map.of("x.a.A", Set.of("x.b.B$In", "x.c.Missing"), "x.b.B", Set.of("x.b.D#run"), //
				"x.b.B$In", Set.of("x.a.A#run"), "x.b.D", Set.of("x.b.E"), "x.b.E", Set.of("x.b.D", "x.b.E"), "x.F", Set.of("x.a.A", "x.F"));
		assertEquals(Set.of("A B", "D E"), new ClassCircles(classes).find());
		KnownFaults known = new KnownFaults(List.of("circle model A B", "circle model D E", "circle views F G"));
		assertEquals(List.of(), known.checkCircles("model", List.of("A B", "D E")));
		assertEquals(List.of("new: circle model D E F", "no more, take it out of " + KnownFaults.FILE + ": circle model D E"),
				known.checkCircles("model", List.of("A B", "D E F")));
	}

	private static Map<String, Set<String>> references(Map<String, byte[]> classes) throws IOException {
		assertFalse(classes.isEmpty());
		Map<String, Set<String>> references = new TreeMap<>();
		for (Map.Entry<String, byte[]> e : classes.entrySet()) {
			references.put(e.getKey(), ClassReferences.of(e.getValue()));
		}
		return references;
	}

	private static void check(String bundle, Map<String, byte[]> classes) throws IOException {
		List<String> wrong = new ArrayList<>();
		for (Map.Entry<String, byte[]> e : classes.entrySet()) {
			wrong.addAll(LayeringRules.checkClass(bundle, e.getKey(), ClassReferences.of(e.getValue())));
		}
		assertEquals(List.of(), wrong);
	}

	/** All classes of a bundle on the class path, without its tests. */
	private static Map<String, byte[]> onClassPath(String bundle) throws IOException {
		Map<String, byte[]> classes = new TreeMap<>();
		String tests = LayeringTest.class.getProtectionDomain().getCodeSource().getLocation().toString();
		String folder = "org/memtrace/" + bundle;
		for (URL url : Collections.list(LayeringTest.class.getClassLoader().getResources(folder))) {
			if (url.toString().startsWith(tests)) {
				continue;
			}
			if (url.getProtocol().equals("jar")) {
				String jar = url.toString().replaceFirst("!.*", "");
				try (FileSystem fs = FileSystems.newFileSystem(URI.create(jar), Map.of())) {
					collect(fs.getPath("/" + folder), classes);
				}
			} else {
				collect(Path.of(URI.create(url.toString())), classes);
			}
		}
		return classes;
	}

	private static void collect(Path folder, Map<String, byte[]> classes) throws IOException {
		try (Stream<Path> walk = Files.walk(folder)) {
			for (Path p : walk.filter(f -> f.toString().endsWith(".class")).toList()) {
				String name = p.toString().replaceFirst(".*?(org/memtrace/)", "$1").replace(".class", "");
				classes.put(name.replaceFirst(".*/(org/memtrace/)", "$1").replace('/', '.'), Files.readAllBytes(p));
			}
		}
	}

	// --- the checker can fail

	/** A class with much that is forbidden somewhere; its own class file is the bad sample. */
	static final class BadSample {
		private java.sql.Connection connection;

		Object everything() throws IOException {
			System.exit(connection == null ? 1 : 0);
			return Files.size(Path.of("x"));
		}
	}

	private static Set<String> badReferences() throws IOException {
		try (InputStream in = LayeringTest.class.getResourceAsStream("LayeringTest$BadSample.class")) {
			return ClassReferences.of(in.readAllBytes());
		}
	}

	@Test
	void badClassIsFound() throws IOException {
		Set<String> references = badReferences();
		references.removeIf(r -> r.startsWith("org.memtrace.build."));
		assertEquals(List.of("X calls java.lang.System.exit()"), LayeringRules.checkClass("storage", "X", references));
		assertEquals(List.of("X calls java.lang.System.exit()", "X uses java.sql.Connection"),
				LayeringRules.checkClass("importer", "X", references));
		List<String> inAggregation = LayeringRules.checkClass("aggregation", "X", references);
		assertTrue(inAggregation.contains("X uses java.nio.file.Files"), inAggregation::toString);
		assertEquals(List.of(), LayeringRules.checkClass("cli", "org.memtrace.cli.Main",
				new TreeSet<>(Set.of("java.lang.System#exit"))));
	}

	@Test
	void badReferencesAreFound() {
		assertEquals(List.of("X uses org.memtrace.views.OcelotlView"),
				LayeringRules.checkClass("analysis", "X", Set.of("org.memtrace.views.OcelotlView")));
		assertEquals(List.of("X uses org.memtrace.storage.trace.SqlTraceStore"),
				LayeringRules.checkClass("cli", "X", Set.of("org.memtrace.storage.trace.SqlTraceStore")));
		assertEquals(List.of(), LayeringRules.checkClass("cli", "X", Set.of("org.memtrace.storage.Stores")));
		assertEquals(List.of("X uses org.eclipse.swt.SWT"),
				LayeringRules.checkClass("analysis", "X", Set.of("org.eclipse.swt.SWT")));
		assertEquals(List.of(), LayeringRules.checkClass("views", "X", Set.of("org.eclipse.swt.SWT")));
		assertEquals(List.of("X uses sun.misc.Unsafe"),
				LayeringRules.checkClass("model", "X", Set.of("sun.misc.Unsafe")));
	}

	@Test
	void badManifestIsFound() throws IOException {
		String text = """
				Manifest-Version: 1.0
				Bundle-SymbolicName: org.memtrace.analysis;singleton:=true
				Require-Bundle: org.memtrace.aggregation;bundle-version="[0.1.0,1.0.0)",
				 org.memtrace.storage,
				 org.eclipse.core.runtime
				Import-Package: org.sqlite;version="[3.50.0,4.0.0)"
				""";
		Manifest m = new Manifest(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
		assertEquals(List.of("org.memtrace.analysis requires the bundle org.eclipse.core.runtime",
				"org.memtrace.analysis requires the bundle org.memtrace.storage",
				"org.memtrace.analysis imports the package org.sqlite"), LayeringRules.checkManifest("analysis", m));
		assertEquals(1, LayeringRules.checkManifest("model", new Manifest(new ByteArrayInputStream(
				"Manifest-Version: 1.0\nBundle-SymbolicName: org.memtrace.other\n".getBytes(StandardCharsets.UTF_8))))
				.size());
	}

	@Test
	void noClassFileIsAnError() {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		out.writeBytes(new byte[] { 1, 2, 3, 4 });
		org.junit.jupiter.api.Assertions.assertThrows(IOException.class, () -> ClassReferences.of(out.toByteArray()));
	}
}
