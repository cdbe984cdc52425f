// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.build;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Rooms and not halls: methods, files and packages have a size that a person can take in. */
class HouseTest {
	private static final int METHOD_LINES = 60;
	private static final int FILE_LINES = 700;
	private static final int PACKAGE_TYPES = 30;
	/** The package of a bundle's name is its door. */
	private static final int ROOT_TYPES = 20;

	static List<String> bundles() {
		return LayeringRules.MAY_USE.keySet().stream().sorted().toList();
	}

	@ParameterizedTest
	@MethodSource("bundles")
	void sizes(String bundle) throws IOException {
		SourceScan scan = new SourceScan(LayeringTest.ROOT.resolve("org.memtrace." + bundle + "/src"));
		KnownFaults known = KnownFaults.read();
		List<String> wrong = new ArrayList<>(known.check("method", bundle, over(scan.methods, METHOD_LINES)));
		wrong.addAll(known.check("file", bundle, over(scan.files, FILE_LINES)));
		wrong.addAll(known.check("types", bundle, tooMany(bundle, scan)));
		assertEquals(List.of(), wrong);
	}

	private static Map<String, Integer> over(Map<String, Integer> sizes, int limit) {
		Map<String, Integer> over = new TreeMap<>(sizes);
		over.values().removeIf(n -> n <= limit);
		return over;
	}

	private static Map<String, Integer> tooMany(String bundle, SourceScan scan) {
		Map<String, Integer> over = new TreeMap<>(scan.types);
		over.entrySet().removeIf(e -> e.getValue() <= (e.getKey().equals("org.memtrace." + bundle) ? ROOT_TYPES : PACKAGE_TYPES));
		return over;
	}

	@Test
	void lengthsAreThoseOfTheSource(@TempDir Path folder) throws IOException {
		Files.writeString(folder.resolve("A.java"), """
				package x.a;
				class A {
					void one() { }
					/** Not counted. */
					@Override
					public String toString() {
						return new Object() {
							void inner() {
							}
						}.toString();
					}
				}
				class Second {
				}
				""");
		Files.writeString(folder.resolve("package-info.java"), "package x.a;\n");
		SourceScan scan = new SourceScan(folder);
		assertEquals(Map.of("A.one", 1, "A.toString", 7, "A.inner", 2), scan.methods);
		assertEquals(Map.of("A", 14, "package-info", 1), scan.files);
		assertEquals(Map.of("x.a", 2), scan.types);
		assertEquals(Map.of("A.toString", 7), over(scan.methods, 6));
		scan.types.put("org.memtrace.model", 21);
		scan.types.put("org.memtrace.model.x", 30);
		scan.types.put("org.memtrace.model.y", 31);
		assertEquals(Map.of("org.memtrace.model", 21, "org.memtrace.model.y", 31), tooMany("model", scan));
	}

	@Test
	void knownFaultsMayOnlyShrink() {
		KnownFaults known = new KnownFaults(List.of("# a comment", "", "method model A.run 70", "method model B.run 80",
				"method views C.run 90"));
		assertEquals(List.of(), known.check("method", "model", Map.of("A.run", 70, "B.run", 80)));
		assertEquals(List.of("longer: method model A.run 71, 70 was known"),
				known.check("method", "model", Map.of("A.run", 71, "B.run", 80)));
		assertEquals(List.of("shorter, write it into " + KnownFaults.FILE + ": method model A.run 69, 70 was known"),
				known.check("method", "model", Map.of("A.run", 69, "B.run", 80)));
		assertEquals(List.of("good now, take it out of " + KnownFaults.FILE + ": method model A.run 70"),
				known.check("method", "model", Map.of("B.run", 80)));
		assertEquals(List.of("new: method model D.run 61"),
				known.check("method", "model", Map.of("A.run", 70, "B.run", 80, "D.run", 61)));
		assertEquals(List.of(), known.check("file", "model", Map.of()));
	}

	@Test
	void pathsInTextsExist() throws IOException {
		NamedPaths paths = new NamedPaths(LayeringTest.ROOT);
		List<String> wrong = new ArrayList<>();
		for (Path text : paths.texts()) {
			for (String path : paths.missing(Files.readString(text))) {
				wrong.add(LayeringTest.ROOT.relativize(text) + " names " + path);
			}
		}
		assertEquals(List.of(), wrong);
	}

	@Test
	void missingPathsAreFound() throws IOException {
		NamedPaths paths = new NamedPaths(LayeringTest.ROOT);
		assertEquals(List.of(), paths.missing("""
				The test LayeringTest in tests/org.memtrace.unit.tests: `releng/compiler.prefs`, releng/, releng/*.sh and
				org.memtrace.model/…/{ExtensionFiles,
				Regions}.java; org.memtrace.model/…/store/, [there](https://x.org/docs/y.md),
				releng/org.memtrace.product/target/products/, collector/cli/backend_NAME.c.
				"""));
		assertEquals(List.of("releng/compiler.pref", "org.memtrace.model/…/Regionen.java"), paths.missing("""
				releng/compiler.pref, org.memtrace.model/…/{ExtensionFiles,Regionen}.java
				"""));
	}
}
