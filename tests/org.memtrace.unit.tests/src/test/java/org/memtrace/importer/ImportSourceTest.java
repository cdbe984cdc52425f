// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPOutputStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.TraceFolders;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.DatabaseKind;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.storage.Stores;

/** What an import says before it is done, and the settings of a form. */
class ImportSourceTest {
	private static final Path EXAMPLE = Path.of(System.getProperty("memtrace.root"), "testdata", "format-example");
	private static final String FULL_TRACE = """
			@Virt, @Phy, Nreads, Nwrites, CPUMask, Start, End, TaskId
			0000000000601010, 0000000012345010, 3, 1, 001, 10, 20, 0
			""";

	@TempDir
	private Path directory;

	private Path file(String name, String content) throws IOException {
		return Files.writeString(directory.resolve(name), content);
	}

	@Test
	void traceDirectory() throws Exception {
		ImportSource source = InputReaders.detect(List.of(EXAMPLE));
		assertEquals("trace directory of memtrace", source.kind());
		assertEquals("example", source.name());
		assertEquals("trace directory of memtrace, 2 process images", source.description());
		assertEquals(List.of("p0000: process image, app", "p0001: process image, app"),
				source.files().stream().map(f -> f.name() + ": " + f.what()).toList());
		assertTrue(source.dataBytes() > 500);
		assertEquals("ns", source.timeUnit());
	}

	@Test
	void filesOfMoca() throws Exception {
		ByteArrayOutputStream zipped = new ByteArrayOutputStream();
		try (OutputStream out = new GZIPOutputStream(zipped)) {
			out.write(FULL_TRACE.getBytes(StandardCharsets.US_ASCII));
		}
		Path trace = Files.write(directory.resolve("any.gz"), zipped.toByteArray());
		Path structs = file("any.txt", "addr,size,name\n601000,4096,A\n");
		ImportSource source = InputReaders.detect(List.of(trace, structs));
		assertEquals("full trace of Moca", source.kind());
		assertEquals("full trace of Moca, structures", source.description());
		assertEquals("tick", source.timeUnit());
		assertEquals("any", source.name());
		assertEquals(zipped.size(), source.dataBytes());
		assertEquals(List.of(trace, structs), source.files().stream().map(ImportSource.File::path).toList());
		// as a folder, with something beside them
		file("more.csv", "a,b\n1,2\n");
		source = InputReaders.detect(List.of(directory));
		assertEquals(2, source.files().size());
		assertEquals(List.of(directory + "/more.csv is of no known format and was not read"), source.notes());
	}

	@Test
	void whatCannotBeImportedIsSaid() throws Exception {
		Path notes = file("notes.txt", "hello\n");
		assertEquals(notes + ": is of no format that can be imported; see 'memtrace import --help'",
				assertThrows(MemtraceException.class, () -> InputReaders.detect(List.of(notes))).getMessage());
		Path structs = file("structs.csv", "addr,size,name\n601000,4096,A\n");
		assertTrue(assertThrows(MemtraceException.class, () -> InputReaders.detect(List.of(structs))).getMessage()
				.contains("has no accesses"));
		assertThrows(MemtraceException.class, () -> InputReaders.detect(List.of(directory.resolve("none"))));
	}

	/** A folder of one process has files that could be read alone, without names, threads and the time of the recording. */
	@Test
	void aProcessFolderIsAPartOfItsTraceDirectory() throws Exception {
		Path process = EXAMPLE.resolve("p0001");
		assertEquals(process + ": is one process of the trace directory " + EXAMPLE.toAbsolutePath().normalize() + "; import that",
				assertThrows(MemtraceException.class, () -> InputReaders.detect(List.of(process))).getMessage());
		assertEquals(EXAMPLE.toAbsolutePath().normalize(), TraceFolders.traceDirectoryOf(process));
		assertNull(TraceFolders.traceDirectoryOf(EXAMPLE), "it is one itself");
		assertNull(TraceFolders.traceDirectoryOf(process.resolve("accesses-000000.csv")), "a file can be read alone");
		assertNull(TraceFolders.traceDirectoryOf(Path.of("/")));
		Path other = Files.createDirectory(directory.resolve("p0000"));
		assertNull(TraceFolders.traceDirectoryOf(other), "there is no manifest beside it");
		file("manifest.json", "{}");
		assertEquals(directory.toAbsolutePath().normalize(), TraceFolders.traceDirectoryOf(other));
		assertNull(TraceFolders.traceDirectoryOf(Files.createDirectory(directory.resolve("plots"))), "not the name of a process folder");
		assertNull(TraceFolders.traceDirectoryOf(directory.resolve("p0001")), "it does not exist");
	}

	@Test
	void settings() throws Exception {
		Path trace = file("full trace.csv", FULL_TRACE);
		ImportSettings s = ImportSettings.of(trace);
		assertEquals("memtrace import '" + trace + "'", s.shellText());
		assertNull(s.problem());
		assertEquals("Choose what to import.", ImportSettings.of().problem());
		s = new ImportSettings(List.of(Path.of("a"), Path.of("b")), "my trace", true, 4, DatabaseKind.H2, List.of("stack+size"), true,
				Path.of("m.csv"), Path.of("x.mv.db"));
		assertEquals("memtrace import -o x.mv.db --name 'my trace' --strict --fanout 4 --dbms h2 --merge stack+size --projections"
				+ " --moca-framesoc m.csv a b", s.shellText());
		assertNull(s.problem());
		s = new ImportSettings(List.of(trace), "", false, 2, DatabaseKind.SQLITE, List.of("nonsense"), false, null, null);
		assertTrue(s.problem().startsWith("the merging rule 'nonsense'"), s.problem());
		s = new ImportSettings(List.of(trace), "", false, 2, DatabaseKind.SQLITE, List.of(), false, null, trace);
		assertEquals(trace + " exists; a database is never overwritten.", s.problem());
		s = new ImportSettings(List.of(trace), "", false, 2, DatabaseKind.H2, List.of(), false, null, directory.resolve("x.db"));
		assertEquals("The file of an H2 database must be called *.mv.db.", s.problem());
		try (TraceCatalogue catalogue = Stores.inMemory()) {
			assertEquals("named", ImportSettings.of(trace).withName("named").operation(catalogue::create).call(Progress.NONE).trace()
					.alias());
		}
	}
}
