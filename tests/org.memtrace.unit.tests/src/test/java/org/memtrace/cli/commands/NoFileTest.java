// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.cli.Ran;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.InputReaders;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.RegularFile;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.storage.Stores;

/** What is no file, where a command wants one: said in a sentence at once, or waited for until somebody cancels. The limits end a hang. */
@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
class NoFileTest {
	private static final String EVENTS = "type,category,producer,start_ns,end_ns,value\na,state,p,1,2,0\n";
	private static final List<String> COMMANDS = List.of("info F", "query F", "summary F", "aggregate F", "render -o O/x.svg F", "verify F",
			"list F", "delete F", "copy --to O/cat F", "rename F n", "merge F", "join F F", "io F", "profile F", "advise F", "diff F F",
			"report -o O/r.html F", "machine F", "place F", "bind F", "unpack F", "pack F", "experiment F", "export -o O/e.csv F",
			"import-part --range 1/2 -o O/p F", "model-part --range 1/2 -o O/p F", "debug aggregate F", "live F", "sql F x");

	@TempDir
	Path folder;

	private Path pipe(String name) throws Exception {
		Path pipe = folder.resolve(name);
		assumeTrue(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() == 0, "no mkfifo");
		return pipe;
	}

	/** What is no file, and what is said of it. */
	private Map<Path, String> others() throws Exception {
		Map<Path, String> all = new LinkedHashMap<>();
		all.put(pipe("fifo"), "is a named pipe");
		all.put(Files.createSymbolicLink(folder.resolve("fifo.link"), folder.resolve("fifo")), "is a named pipe");
		all.put(Files.createSymbolicLink(folder.resolve("zero"), Path.of("/dev/zero")), "is a device");
		all.put(Files.createSymbolicLink(folder.resolve("loop"), Path.of("loop")), "is a link that leads to nothing");
		Path socket = folder.resolve("socket");
		try (ServerSocketChannel made = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
			made.bind(UnixDomainSocketAddress.of(socket));
		}
		all.put(socket, "is a socket");
		return all;
	}

	@Test
	void kindsAreTold() throws Exception {
		for (Map.Entry<Path, String> other : others().entrySet()) {
			assertEquals(other.getValue(), RegularFile.otherKind(other.getKey()));
			String message = assertThrows(IOException.class, () -> RegularFile.bytes(other.getKey())).getMessage();
			assertEquals("it " + other.getValue() + ", no file", message);
		}
		for (Path none : List.of(folder, Files.writeString(folder.resolve("a"), "x"), folder.resolve("nothing"), Path.of("/proc/self/stat"))) {
			assertEquals(null, RegularFile.otherKind(none));
		}
	}

	@Test
	void noCommandWaitsForWhatIsNoFile() throws Exception {
		Path out = Files.createDirectory(folder.resolve("out"));
		for (Path other : others().keySet()) {
			for (String command : COMMANDS) {
				Ran ran = Ran.of(Arrays.stream(command.split(" ")).map(w -> w.equals("F") ? other.toString() : w.replace("O/", out + "/"))
						.toArray(String[]::new));
				assertFalse(ran.code() == 0 || ran.code() == 70, command + " of " + other + ": " + ran);
				assertEquals(1, ran.err().lines().count(), command + ": " + ran.err());
				assertFalse(ran.err().contains("unexpected error"), ran.err());
			}
		}
		Path fifo = folder.resolve("fifo");
		assertEquals("memtrace info: " + fifo + " is a named pipe, no database\n", Ran.of("info", fifo.toString()).err());
	}

	@Test
	void aPipeIsImportedOrWaitedForUntilSomebodyCancels() throws Exception {
		Path fifo = pipe("fifo");
		try (TraceCatalogue catalogue = Stores.inMemory()) {
			Thread writer = new Thread(() -> {
				try {
					Files.writeString(fifo, EVENTS);
				} catch (IOException e) {
					throw new IllegalStateException(e);
				}
			});
			writer.start();
			ImportReport report = new ImportOperation(List.of(fifo), InputStream.nullInputStream(), catalogue::create).call(Progress.NONE);
			assertEquals(1, report.trace().events());
			writer.join();
			String message = assertThrows(MemtraceException.class, () -> InputReaders.detect(List.of(fifo))).getMessage();
			assertTrue(message.contains("is a named pipe, which can be read only once"), message);

			// nobody writes
			AtomicBoolean asked = new AtomicBoolean();
			assertThrows(CancelledException.class, () -> new ImportOperation(List.of(fifo), InputStream.nullInputStream(), catalogue::create)
					.call(Progress.cancelledWhen(() -> asked.getAndSet(true))));
			// somebody writes the beginning, and then nothing
			InputStream silent = new InputStream() {
				private int at;

				@Override
				public int read() throws IOException {
					return at < EVENTS.length() ? EVENTS.charAt(at++) : silence();
				}

				@Override
				public int read(byte[] buffer, int offset, int length) throws IOException {
					buffer[offset] = (byte) read();
					return 1;
				}

				private int silence() throws IOException {
					try {
						Thread.sleep(Long.MAX_VALUE);
						return -1;
					} catch (InterruptedException e) {
						throw new IOException(e);
					}
				}
			};
			int[] times = { 0 };
			assertThrows(CancelledException.class, () -> new ImportOperation(List.of(Path.of("-")), silent, catalogue::create)
					.call(Progress.cancelledWhen(() -> ++times[0] > EVENTS.length() + 20)));
			assertEquals(1, catalogue.list().size());
		}
	}

	@Test
	void aTraceDirectoryHasNoLinkToNothing() throws Exception {
		Path trace = Files.createDirectories(folder.resolve("t/p0000")).getParent();
		Files.writeString(trace.resolve("manifest.json"), "{\"format\":\"memtrace\",\"format_version\":1}");
		Files.createSymbolicLink(trace.resolve("p0000/structures.csv"), Path.of("nowhere"));
		Ran ran = Ran.of("import", "-o", folder.resolve("a.db").toString(), trace.toString());
		assertEquals(3, ran.code());
		assertEquals("memtrace import: " + trace + "/p0000/structures.csv: is a link that leads to nothing, and a trace directory has only files\n",
				ran.err());
	}

	/** Nothing that a person or a folder names is opened otherwise than by {@link RegularFile}: only what is made here, and /proc. */
	@Test
	void filesOfOthersAreOpenedInOnePlace() throws Exception {
		Pattern opens = Pattern.compile("\\bFiles\\.(newInputStream|newBufferedReader|readString|readAllBytes|readAllLines|lines)\\((.*)");
		Pattern own = Pattern.compile("RegularFile\\.check\\(.*|.*\"/proc/.*");
		Path root = Path.of(System.getProperty("memtrace.root"));
		List<String> found = new ArrayList<>();
		for (String bundle : List.of("model", "storage", "importer", "aggregation", "analysis", "sql", "topology", "cli")) {
			try (Stream<Path> sources = Files.walk(root.resolve("org.memtrace." + bundle + "/src"))) {
				for (Path source : sources.filter(p -> p.toString().endsWith(".java") && !p.endsWith("RegularFile.java")).toList()) {
					for (String line : Files.readAllLines(source)) {
						Matcher m = opens.matcher(line);
						if (m.find() && !own.matcher(m.group(2)).matches()) {
							found.add(root.relativize(source) + ": " + line.strip());
						}
					}
				}
			}
		}
		assertEquals(List.of(), found);
	}
}
