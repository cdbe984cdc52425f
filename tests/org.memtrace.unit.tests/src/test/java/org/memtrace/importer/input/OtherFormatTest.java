// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

import org.junit.jupiter.api.Test;
import org.memtrace.importer.ImportTest;
import org.memtrace.model.MemtraceException;

/** What is not imported is told apart by its first bytes, and the sentence names a way. */
class OtherFormatTest extends ImportTest {
	/** First bytes as the tools wrote them. */
	private static final Map<String, String> HEADS = Map.ofEntries(Map.entry("v 10400 3\nX ./t\nI 1000 5e2990\n", "heaptrack"),
			Map.entry("\u0004\"M\u0018d@\u00a7\u00d6\u0000\u0000\u0080\u00f5\rmemray\0\u000b\0", "memray"),
			Map.entry("FLR\0\0\2\0\1\0\0", "Java Flight Recorder"),
			Map.entry("heap profile:     19:   123456 [    19:   123456] @ heapprofile\n", "gperftools"),
			Map.entry("heap_v2/524288\n  t*: 0: 0 [0: 0]\n", "jemalloc"),
			Map.entry("desc: --massif-out-file=massif.out\ncmd: ./t\ntime_unit: i\n", "massif"),
			Map.entry("desc: I1 cache:         32768 B, 64 B, 8-way associative\ndesc: D1\n", "cachegrind"),
			Map.entry("{\"dhatFileVersion\":2\n,\"mode\":\"heap\"", "DHAT"),
			Map.entry("# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\n", "callgrind"),
			Map.entry("==1== Lackey, an example Valgrind tool\n==1== \nI  0401ab70,3\nI  0401ab73,5\n S 1fff000758,8\n", "lackey.py"),
			Map.entry("Output format:\n<--record#-> <--instr#->: <---tid---> <record details>\n", "drmemtrace.py"),
			Map.entry("go 1.19 trace\0\0\0Q\3\0", "Go"), Map.entry("12 templated_functions_MULTI_TIME\n# Name Calls\n", "TAU"),
			Map.entry("{\"exporter\":\"a\",\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"", "speedscope"),
			Map.entry("main;work;malloc 512\nmain;work 1\n", "folded stacks"), Map.entry("PAR1\u0015\0\u0015", "one table in Parquet"),
			Map.entry("\u007fELF\2\1\1\0", "memtrace record"), Map.entry("\u00fd7zXZ\0\0\4", "xz -d"), Map.entry("BZh91AY&SY\0", "bzip2 -d"),
			Map.entry("PK\3\4\24\0", "unpack it"), Map.entry("\u00c1\u001f\u00fc\u00c1\0", "metadata"),
			Map.entry("# To display the perf.data header info, please use --header/--header-only options.\n#\n", "perf.data itself"));

	private String refused(String name, byte[] bytes) throws Exception {
		Path file = Files.write(directory.resolve(name), bytes);
		String message = assertThrows(MemtraceException.class, () -> read(file)).getMessage();
		assertTrue(message.startsWith(file + ": "), message);
		assertFalse(message.contains("is of no format"), message);
		return message;
	}

	@Test
	void eachIsToldByItsFirstBytes() throws Exception {
		int n = 0;
		for (Map.Entry<String, String> head : HEADS.entrySet()) {
			String message = refused("f" + n++, head.getKey().getBytes(StandardCharsets.ISO_8859_1));
			assertTrue(message.contains(head.getValue()) && message.contains("it is not imported: "), message);
		}
	}

	@Test
	void alsoPacked() throws Exception {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (OutputStream gzip = new GZIPOutputStream(bytes)) {
			gzip.write(new byte[] { '\n', 4, 8, 1, 16, 2, '\n', 4, 8, 3, 16, 4 });
		}
		assertTrue(refused("a.pb.gz", bytes.toByteArray()).contains("is a profile in pprof's format"));
	}

	@Test
	void foldersAreToldByTheirFiles() throws Exception {
		Files.createDirectories(directory.resolve("hpc"));
		Files.write(directory.resolve("hpc/meta.db"), new byte[9]);
		Files.write(directory.resolve("hpc/profile.db"), new byte[9]);
		String message = assertThrows(MemtraceException.class, () -> read(directory.resolve("hpc"))).getMessage();
		assertTrue(message.contains("is a database of HPCToolkit; it is not imported: let the tool write a trace as OTF2"), message);
	}

	@Test
	void whatNobodyKnowsIsNothingElse() throws Exception {
		for (String text : List.of("hello world\n", "{\"a\": 1}", "1,2,3\n4,5,6\n")) {
			Path file = Files.writeString(directory.resolve("a"), text);
			String message = assertThrows(MemtraceException.class, () -> read(file)).getMessage();
			assertEquals(file + ": is of no format that can be imported; see 'memtrace import --help'", message);
		}
	}

	/** What Valgrind writes here and now. */
	@Test
	void outputsOfValgrind() throws Exception {
		assumeTrue(Files.isExecutable(Path.of("/usr/bin/valgrind")), "no Valgrind");
		for (String[] tool : new String[][] { { "massif", "--massif-out-file", "massif" }, { "callgrind", "--callgrind-out-file", "callgrind" },
				{ "dhat", "--dhat-out-file", "DHAT" }, { "cachegrind", "--cachegrind-out-file", "cachegrind" } }) {
			Path out = directory.resolve(tool[0] + ".out");
			Process process = new ProcessBuilder("/usr/bin/valgrind", "-q", "--tool=" + tool[0], tool[1] + "=" + out, "/bin/true")
					.redirectErrorStream(true).redirectOutput(directory.resolve("said").toFile()).start();
			assumeTrue(process.waitFor() == 0, () -> "Valgrind does not run: " + tool[0]);
			String message = assertThrows(MemtraceException.class, () -> read(out)).getMessage();
			assertTrue(message.contains(tool[2]), message);
		}
	}
}
