// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.cli.Main;
import org.memtrace.cli.output.Console;
import org.memtrace.importer.ImportOperation;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

import com.github.luben.zstd.ZstdOutputStream;

/** The whole headless chain inside OSGi: class loaders, native libraries of SQLite and zstd, resources of the CLI. */
class ChainTest {
	private static final Path TRACE = Path.of(System.getProperty("memtrace.root"), "testdata/traces/matmul-naive");

	@TempDir
	Path temp;

	private TraceInfo load(Path directory, TraceCatalogue catalogue) throws Exception {
		return new ImportOperation(directory, catalogue::create).call(Progress.NONE).trace();
	}

	/** The trace with every chunk of accesses compressed, as {@code memtrace record --compress} leaves it. */
	private Path compressed() throws IOException {
		Path copy = temp.resolve("compressed");
		try (Stream<Path> walk = Files.walk(TRACE)) {
			for (Path from : walk.toList()) {
				Path to = copy.resolve(TRACE.relativize(from).toString());
				if (Files.isDirectory(from)) {
					Files.createDirectories(to);
				} else if (from.getFileName().toString().matches("accesses-\\d+\\.csv")) {
					try (OutputStream out = new ZstdOutputStream(Files.newOutputStream(Path.of(to + ".zst")))) {
						Files.copy(from, out);
					}
				} else {
					Files.copy(from, to);
				}
			}
		}
		return copy;
	}

	@Test
	void importAndRead() throws Exception {
		try (TraceCatalogue catalogue = Stores.openCatalogue(temp.resolve("catalogue"), notice -> {
		})) {
			TraceInfo plain = load(TRACE, catalogue);
			TraceInfo packed = load(compressed(), catalogue);
			assertEquals(List.of(plain.id(), packed.id()), catalogue.list().stream().map(TraceInfo::id).toList());
			try (TraceStore a = catalogue.open(plain.id()); TraceStore b = catalogue.open(packed.id())) {
				assertTrue(a.accessCount() > 500, a.accessCount() + " accesses");
				assertEquals(a.accessCount(), b.accessCount());
				assertTrue(a.structures().stream().anyMatch(s -> s.name().equals("B")), "no structure B");
			}
		}
	}

	@Test
	void commandsRun() {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		ByteArrayOutputStream err = new ByteArrayOutputStream();
		Path picture = temp.resolve("picture.png");
		for (String[] command : new String[][] { { "summary", TRACE.toString() },
				{ "render", "-o", picture.toString(), TRACE.toString() }, { "aggregate", "--help" } }) {
			Console console = new Console(new PrintStream(out, true, StandardCharsets.UTF_8),
					new PrintStream(err, true, StandardCharsets.UTF_8), false, false, true);
			assertEquals(0, Main.run(command, console), () -> err.toString(StandardCharsets.UTF_8));
		}
		assertFalse(out.toString(StandardCharsets.UTF_8).isBlank());
		assertTrue(Files.exists(picture));
	}
}
