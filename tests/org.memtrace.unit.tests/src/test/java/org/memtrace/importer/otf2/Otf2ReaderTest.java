// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.otf2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.importer.EventLines;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.ImportTest;
import org.memtrace.importer.InputReaders;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.record.Installation;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceStore;

/** Archives of OTF2: what becomes of each record, and archives of EZTrace through libotf2. */
class Otf2ReaderTest extends ImportTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root", "../.."));
	private static final Path ARCHIVES = ROOT.resolve("testdata/otf2");
	/** The files of an archive, from the text of it. */
	private Path archive(String name) throws IOException {
		Path folder = directory.resolve("archives").resolve(name);
		for (String line : Files.readAllLines(ARCHIVES.resolve(name + ".base64"))) {
			String[] file = line.split(" ", 2);
			Path path = folder.resolve(file[0]);
			Files.createDirectories(path.getParent());
			Files.write(path, Base64.getDecoder().decode(file[1]));
		}
		return folder;
	}

	private ImportReport read(byte[] records, boolean strict, Progress progress, Otf2Reader.Ending ending) throws Exception {
		Path anchor = directory.resolve("a.otf2");
		Files.writeString(anchor, "");
		ImportRequest request = new ImportRequest(catalogue::create, "", strict, directory, List.of(), 2, null, null);
		return new Otf2Reader().read(new ByteArrayInputStream(records), new Input(List.of(anchor), InputStream.nullInputStream()), anchor,
				request, progress, ending);
	}

	private ImportReport read(byte[] records) throws Exception {
		return read(records, false, Progress.NONE, () -> "");
	}

	/** Each event in a line: type, category, process, start, end, value, parameters. */
	private List<String> events(ImportReport report) throws MemtraceException {
		return EventLines.of(catalogue, report, (store, type, b, i) -> type.name() + " " + type.category() + " "
				+ process(store, b.producer[i]) + " " + b.startNs[i] + " " + b.endNs[i] + " "
				+ (type.category() == EventCategory.LINK ? process(store, (int) b.value[i]) : b.value[i]));
	}

	private static String process(TraceStore store, int producer) throws MemtraceException {
		return store.producers().name(store.producers().parent(producer));
	}

	@Test
	void statesNestAndHaveTheirAttributes() throws Exception {
		ImportReport report = read(new Records().program().defined().begin(100).enter(150, 0) //
				.put(Otf2Stream.EVENT_ATTRIBUTE, 4, 5, -1, 0).enter(151, 1).put(Otf2Stream.EVENT_ATTRIBUTE, 8, 5, -1, 0).leave(153, 1) //
				.put(Otf2Stream.COLLECTIVE_BEGIN, 154, 0, 0, 0).put(Otf2Stream.COLLECTIVE_END, 155, 0, 8, 16).leave(160, 0).end() //
				.begin(200).end().complete());
		assertEquals(List.of("main STATE rank 0 100000 110000 0.0 communicator=world, bytes sent=8, bytes received=16",
				"work STATE rank 0 101000 103000 1.0 note=18446744073709551615, note at the end=-1"), events(report));
		assertEquals("OTF2", report.trace().type());
		assertEquals("a", report.trace().alias());
		assertEquals("2023-11-14T22:13:20Z", report.trace().recordedAt().toString());
		assertEquals(List.of("attribute note has values of type UINT64, it is defined as INT64; the type of the values counts"),
				report.warnings());
		try (TraceStore store = catalogue.open(report.trace().id())) {
			assertEquals(5, store.producers().size()); // also the location without events
		}
	}

	@Test
	void messagesAreMatchedInTheirOrderWhicheverSideIsReadFirst() throws Exception {
		ImportReport report = read(new Records().program().defined().begin(100).send(150, 1, 7, 64).send(151, 1, 7, 65).send(152, 1, 8, 66)
				.receive(160, 1, 7, 9).end().begin(200).receive(153, 0, 8, 66).receive(154, 0, 7, 64).receive(155, 0, 7, 65)
				.send(158, 0, 7, 9).send(159, 0, 7, 10).end().complete());
		assertEquals(List.of("MPI message LINK rank 0 100000 104000 rank 1 bytes=64, tag=7, communicator=world",
				"MPI message LINK rank 0 101000 105000 rank 1 bytes=65, tag=7, communicator=world",
				"MPI message LINK rank 0 102000 103000 rank 1 bytes=66, tag=8, communicator=world",
				"MPI message LINK rank 1 108000 110000 rank 0 bytes=9, tag=7, communicator=world"), events(report));
		assertTrue(report.toText().contains("1: message that no location receives"), report.toText());
	}

	@Test
	void threadsMetricsFilesAndTheRest() throws Exception {
		ImportReport report = read(new Records().program().ints(Otf2Stream.METRIC_CLASS, 0, 4, 0).defined().begin(100).enter(150, 0)
				.put(Otf2Stream.THREAD_CREATE, 150, 1, 3, 0).put(Otf2Stream.IO_BEGIN, 151, 2, 1, 77).put(Otf2Stream.IO_COMPLETE, 153, 2, 4096, 77)
				.longs(Otf2Stream.METRIC, 154, 4, 1, 4, 10).longs(Otf2Stream.METRIC, 156, 4, 1, 4, 25)
				.put(Otf2Stream.PARAMETER_INT, 157, 7, -4, 0).leave(160, 0).end().begin(200).put(Otf2Stream.FLUSH, 150, 0, 155, 0)
				.put(Otf2Stream.IO_COMPLETE, 156, 2, 1, 5).end().complete());
		assertEquals(List.of("thread create PUNCTUAL rank 0 100000 100000 0.0", "flops VARIABLE rank 0 100000 104000 10.0",
				"main STATE rank 0 100000 110000 0.0 file=data.bin, bytes=4096", "flush of the trace buffer STATE rank 1 100000 105000 0.0",
				"bytes written VARIABLE rank 0 101000 103000 4096.0 file=data.bin", "flops VARIABLE rank 0 104000 106000 15.0",
				"note PUNCTUAL rank 0 107000 107000 -4.0 value=-4"), events(report));
		assertTrue(report.toText().contains("1: end of an I/O operation that did not begin"), report.toText());
	}

	@Test
	void aThreadBeginsWhereItWasCreated() throws Exception {
		Records records = new Records().program().put(Otf2Stream.LOCATION, 101, 0, 9, 1).defined();
		ImportReport report = read(records.begin(100).put(Otf2Stream.THREAD_CREATE, 150, 1, 3, 0).end().begin(101)
				.put(Otf2Stream.THREAD_BEGIN, 152, 1, 3, 0).put(Otf2Stream.THREAD_BEGIN, 153, 1, 4, 0).end().complete());
		assertEquals(List.of("thread create PUNCTUAL rank 0 100000 100000 0.0", "thread start LINK rank 0 100000 102000 rank 0",
				"thread begin PUNCTUAL rank 0 102000 102000 0.0", "thread begin PUNCTUAL rank 0 103000 103000 0.0"),
				events(report).stream().sorted(java.util.Comparator.comparing(l -> l.replaceAll(".* (\\d+) \\d+ .*", "$1"))).toList());
	}

	@Test
	void whatIsWrongIsTold() throws Exception {
		byte[] records = new Records().program().defined().begin(100).leave(149, 1).enter(150, 0).enter(151, 1).leave(149, 0).enter(160, 1)
				.damaged("no chunk header").begin(200).send(10, 5, 0, 1).payload(Otf2Stream.LOCATION_END, 9, 0, 2, new byte[0]).complete();
		ImportReport report = read(records);
		assertEquals(List.of("main STATE rank 0 100000 101000 0.0", "work STATE rank 0 101000 101000 1.0", "work STATE rank 0 110000 110000 0.0"),
				events(report));
		String text = report.toText();
		for (String told : List.of("1: leave of a region that was not entered (first: a.otf2, thread, event 1)",
				"1: message whose other side is not known", "7: event of a kind that is not imported", "2 states were never left",
				"1 events are earlier", "location thread: 5 events were read, then: no chunk header")) {
			assertTrue(text.contains(told), told + " is not in\n" + text);
		}
		MemtraceException strict = assertThrows(MemtraceException.class, () -> read(records, true, Progress.NONE, () -> ""));
		assertEquals("a.otf2, thread, event 1: leave of a region that was not entered", strict.getMessage());
		assertEquals(1, catalogue.list().size());
	}

	@Test
	void aLibraryThatDiesLeavesWhatCameBefore() throws Exception {
		byte[] records = new Records().program().defined().begin(100).enter(150, 0).enter(155, 1).bytes();
		ImportReport report = read(Arrays.copyOf(records, records.length - 5), false, Progress.NONE, () -> "libotf2 failed with exit code 139");
		assertEquals(List.of("main STATE rank 0 100000 100000 0.0"), events(report));
		assertTrue(report.toText().contains("the rest is not: libotf2 failed with exit code 139"), report.toText());
		MemtraceException none = assertThrows(MemtraceException.class,
				() -> read(new byte[0], false, Progress.NONE, () -> "libotf2 is not here"));
		assertEquals(directory.resolve("a.otf2") + ": libotf2 is not here", none.getMessage());
		assertThrows(CancelledException.class, () -> read(records, false, Progress.cancelledWhen(() -> true), () -> ""));
		assertEquals(1, catalogue.list().size());
	}

	@Test
	void anyBytesEndWell() throws Exception {
		byte[] seed = new Records().program().ints(Otf2Stream.METRIC_CLASS, 0, 4, 0).defined().begin(100).enter(150, 0)
				.put(Otf2Stream.EVENT_ATTRIBUTE, 11, 5, 3, 0).enter(151, 1).send(151, 1, 7, 64).put(Otf2Stream.IO_BEGIN, 151, 2, 1, 77)
				.put(Otf2Stream.IO_COMPLETE, 153, 2, 4096, 77).longs(Otf2Stream.METRIC, 154, 4, 1, 4, 10).leave(156, 1).leave(157, 0).end()
				.begin(200).receive(160, 0, 7, 64).enter(161, 1).leave(170, 1).end().complete();
		int imported = 0;
		for (int n = 0; n < 300; n++) {
			Random random = new Random(n);
			byte[] bytes = seed.clone();
			for (int m = random.nextInt(4); m >= 0; m--) {
				int at = Otf2Stream.MAGIC.length() + random.nextInt(bytes.length - Otf2Stream.MAGIC.length());
				bytes[at] = random.nextBoolean() ? (byte) random.nextInt(80) : (byte) (1 << random.nextInt(8));
			}
			bytes = Arrays.copyOf(bytes, random.nextInt(5) == 0 ? random.nextInt(bytes.length) : bytes.length);
			try {
				catalogue.delete(read(bytes).trace().id());
				imported++;
			} catch (MemtraceException e) {
				assertTrue(e.getMessage().contains("a.otf2"), n + ": " + e);
			} catch (RuntimeException | OutOfMemoryError e) {
				throw new AssertionError("mutation " + n, e);
			}
		}
		assertTrue(imported > 90, imported + " imported");
	}

	@Test
	void foundByContent() throws Exception {
		Path anchor = Files.copy(archive("io").resolve("eztrace_log.otf2"), directory.resolve("what.ever"));
		ImportSource source = InputReaders.detect(List.of(anchor));
		assertEquals("otf2", source.reader());
		assertEquals("io", InputReaders.detect(List.of(archive("io"))).name());
		Path above = Files.createDirectories(directory.resolve("out/app_trace"));
		Files.copy(anchor, above.resolve("eztrace_log.otf2"));
		assertEquals("app_trace", InputReaders.detect(List.of(directory.resolve("out"))).name());
		Files.copy(anchor, above.resolve("another.otf2"));
		assertThrows(MemtraceException.class, () -> InputReaders.detect(List.of(above)));
		Path text = Files.writeString(directory.resolve("traces.otf2"), "OTF2");
		assertThrows(MemtraceException.class, () -> InputReaders.detect(List.of(text)));
	}

	/** Needs the native program and libotf2, which the tests' packages bring. */
	@ParameterizedTest
	@ValueSource(strings = { "io", "openmp", "mpi" })
	void archivesOfEztraceHaveTheCountsOfOtf2Print(String name) throws Exception {
		Path launcher = ROOT.resolve("build/collector/memtrace");
		assumeTrue(Files.isExecutable(launcher), "memtrace is not built");
		String before = System.getProperty(Installation.PROPERTY);
		System.setProperty(Installation.PROPERTY, launcher.toAbsolutePath().toString());
		ImportReport report;
		try {
			report = new ImportOperation(archive(name), catalogue::create).call(Progress.NONE);
		} catch (MemtraceException e) {
			assumeTrue(!e.getMessage().contains("libotf2 is not here"), e.getMessage());
			throw e;
		} finally {
			if (before == null) {
				System.clearProperty(Installation.PROPERTY);
			} else {
				System.setProperty(Installation.PROPERTY, before);
			}
		}
		Map<String, Integer> counts = new TreeMap<>();
		try (TraceStore store = catalogue.open(report.trace().id())) {
			List<EventType> types = store.eventTypes();
			store.visitEvents(AccessQuery.ALL, b -> {
				for (int i = 0; i < b.count; i++) {
					if (types.get(b.type[i]).category() == EventCategory.STATE) {
						counts.merge(store.producers().name(b.producer[i]) + "," + types.get(b.type[i]).name(), 1, Integer::sum);
					}
				}
			}, Progress.NONE);
		}
		Map<String, Integer> wanted = new TreeMap<>();
		for (String line : Files.readAllLines(ARCHIVES.resolve(name + ".regions"))) {
			String[] parts = line.split(",");
			// locations of EZTrace are called P#rank T#thread; those of rank r begin at r (2^29 - 1)
			long location = Long.parseLong(parts[0]);
			long rank = location / ((1 << 29) - 1);
			wanted.put("P#" + rank + "T#" + (location - rank * ((1 << 29) - 1)) + "," + parts[1], Integer.parseInt(parts[2]));
		}
		assertEquals(wanted, counts);
		assertEquals(name, report.trace().alias());
		if (name.equals("mpi")) {
			assertTrue(report.toText().contains("16 links"), report.toText());
		} else if (name.equals("io")) {
			assertTrue(events(report).stream().filter(l -> l.startsWith("bytes written VARIABLE")).count() == 9, events(report).toString());
		}
	}
}
