// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.csv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.memtrace.importer.EventLines;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.ImportTest;
import org.memtrace.importer.InputReaders;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.Input;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.importer.tree.MergeRule;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.TraceStore;

/** The reader of events as CSV, and through it the seam for readers. */
class EventCsvReaderTest extends ImportTest {
	private static final String EXAMPLE = """
			type,category,producer,start_us,end_us,value,cpu,parameters,tag
			compute,state,node/rank 10/thread 0,1.5,20,0,3,,
			wait,state,node/rank 10/thread 0,2,4,1,3,file=a.c;line=42,
			message,link,node/rank 10/thread 0,3,5,node/rank 9/thread 0,,,7
			mark,event,node/rank 9,4,,,,,
			load,variable,node,0,10,-2.5,,,
			""";

	/** Each event in a line. */
	private List<String> events(ImportReport report) throws MemtraceException {
		return EventLines.of(catalogue, report, (store, type, b, i) -> type.name() + " " + type.category() + " "
				+ store.producers().name(b.producer[i]) + " " + b.startNs[i] + " " + b.endNs[i] + " "
				+ (type.category() == EventCategory.LINK ? "#" + (int) b.value[i] : b.value[i]) + " " + b.cpu[i]);
	}

	@Test
	void everyCategory() throws Exception {
		ImportReport report = read(file("any.txt", EXAMPLE));
		assertEquals(List.of("load VARIABLE node 0 10000 -2.5 0", "compute STATE thread 0 1500 20000 0.0 3",
				"wait STATE thread 0 2000 4000 1.0 3 file=a.c, line=42", "message LINK thread 0 3000 5000 #2 0 tag=7",
				"mark PUNCTUAL rank 9 4000 4000 0.0 0"), events(report));
		assertEquals("events", report.trace().type());
		assertEquals("any.txt", report.trace().alias());
		assertEquals(5, report.trace().events());
		assertEquals("events-csv", report.trace().properties().get("reader"));
		assertTrue(report.toText().contains("2 states"), report.toText());
		assertTrue(report.toJson().contains("\"link\": 1"), report.toJson());
		assertEquals(List.of(), report.warnings());
		try (TraceStore store = catalogue.open(report.trace().id())) {
			// 9 before 10, and what a link goes to is there though it has no event of its own
			assertEquals(List.of("node", "rank 9", "thread 0", "rank 10", "thread 0"),
					java.util.stream.IntStream.range(0, 5).mapToObj(store.producers()::name).toList());
			assertEquals(report.toJson(), store.importReport().orElseThrow());
		}
	}

	@Test
	void whatCannotBeUsedIsCountedWithItsReason() throws Exception {
		Path file = file("bad.csv", """
				type,category,producer,start_ns,end_ns,value
				a,state,p,10,20,
				a,stat,p,10,20,
				a,link,p,10,20,q
				a,state,p,20,10,
				a,state,,1,2,
				a,state,p//q,1,2,
				,state,p,1,2,
				a,state,p,x,2,
				a,state,p,99999999999999999999,2,
				v,variable,p,1,2,Infinity
				l,link,p,1,2,
				a,state,p,1
				a,state,p,30,40,2
				cut,st""");
		ImportReport report = read(file);
		assertEquals(List.of("a STATE p 10 20 0.0 0", "a STATE p 30 40 2.0 0"), events(report));
		String text = report.toText();
		for (String reason : List.of("1: unknown category", "1: type that had another category", "1: ends before it starts", "2: no producer",
				"1: no type", "2: not a number", "1: value that is not finite", "1: link without", "1: wrong number of columns",
				"1: incomplete last line")) {
			assertTrue(text.contains(reason), reason + " is not in\n" + text);
		}
		assertTrue(text.contains("bad.csv, line 3)"), text);
		String strict = assertThrows(MemtraceException.class,
				() -> new ImportOperation(file, catalogue::create).setStrict(true).call(Progress.NONE)).getMessage();
		assertTrue(strict.startsWith(file + ", line 3: unknown category"), strict);
		assertThrows(MemtraceException.class, () -> read(file("none.csv", "type,category,producer,start_ns\na,stat,p,1\n")));
		assertEquals(1, catalogue.list().size());
	}

	@Test
	void foundByContentAlsoInStandardInputAndSeveralFiles() throws Exception {
		Path file = file("data", EXAMPLE);
		Path more = file("more", "producer,type,category,start_ns\nnode,mark,event,-5\n");
		ImportSource source = InputReaders.detect(List.of(file, more));
		assertEquals("events-csv", source.reader());
		assertEquals("ns", source.timeUnit());
		assertEquals(2, source.files().size());
		assertEquals(6, read(file, more).trace().events());
		ImportReport stream = new ImportOperation(List.of(Path.of("-")),
				new ByteArrayInputStream(EXAMPLE.getBytes(StandardCharsets.UTF_8)), catalogue::create).call(Progress.NONE);
		assertEquals(5, stream.trace().events());
		Path ticks = file("ticks", "producer,type,category,start_tick\nnode,mark,event,5\n");
		assertTrue(read(ticks).trace().isInTicks());
		assertThrows(MemtraceException.class, () -> read(file, ticks), "two clocks");
		assertThrows(MemtraceException.class,
				() -> new ImportOperation(file, catalogue::create).setMergeRules(MergeRule.parseAll(List.of("size"))).call(Progress.NONE),
				"has no structures");
	}

	@Test
	void cancelledLeavesNothing() throws Exception {
		Path file = file("data", EXAMPLE + "mark,event,node,4,,,,,\n".repeat(5000));
		assertThrows(CancelledException.class,
				() -> new ImportOperation(file, catalogue::create).call(Progress.cancelledWhen(() -> true)));
		assertEquals(List.of(), catalogue.list());
	}

	/** Any bytes give a trace or one sentence. */
	@Test
	void mutations() throws Exception {
		long seed = 20261122;
		System.out.println("seed " + seed);
		Random random = new Random(seed);
		int imported = 0;
		for (int round = 0; round < 1500; round++) {
			byte[] bytes = EXAMPLE.getBytes(StandardCharsets.UTF_8);
			for (int n = random.nextInt(6); n >= 0; n--) {
				int at = random.nextInt(4) == 0 ? random.nextInt(bytes.length) : 64 + random.nextInt(bytes.length - 64);
				bytes[at] = random.nextBoolean() ? (byte) random.nextInt(256) : (byte) ",\"/\n;=-.0e\r".charAt(random.nextInt(11));
			}
			int length = random.nextInt(5) == 0 ? random.nextInt(bytes.length) : bytes.length;
			Path file = Files.write(directory.resolve("m"), java.util.Arrays.copyOf(bytes, length));
			try {
				ImportReport report = read(file);
				imported++;
				assertEquals(report.trace().events(), events(report).size());
				catalogue.delete(report.trace().id());
			} catch (MemtraceException e) {
				assertTrue(e.getMessage().contains(file.toString()), e.getMessage());
			}
		}
		assertTrue(imported > 700, imported + " were imported");
	}

	/** A reader from outside is one class and one call. */
	@Test
	void aReaderFromOutside() throws Exception {
		InputReader reader = new InputReader() {
			@Override
			public String id() {
				return "lines";
			}

			@Override
			public String description() {
				return "lines";
			}

			@Override
			public Optional<ImportSource> look(Input input) throws MemtraceException, java.io.IOException {
				return input.files().get(0).head().startsWith("LINES") ? Optional
						.of(new ImportSource(id(), "lines", input.name(), "lines", List.of(), 0, "ns", List.of(), Set.of())) : Optional.empty();
			}

			@Override
			public ImportReport read(Input input, ImportRequest request, Progress progress) throws MemtraceException {
				try (EventSink sink = new EventSink(input, request, progress)) {
					sink.row();
					sink.event(sink.type(EventCategory.PUNCTUAL, "line"), sink.producer(List.of("file")), 1, 1, 0, 0, java.util.Map.of());
					sink.row();
					sink.event(sink.type(EventCategory.STATE, "line"), sink.producer(List.of("file")), 1, 2, 0, 0, java.util.Map.of());
					sink.row();
					sink.event(sink.type(EventCategory.STATE, "state"), sink.producer(List.of("file")), 5, 4, 0, 0, java.util.Map.of());
					sink.lost(3);
					return sink.commit("lines", id());
				}
			}
		};
		Path file = file("x", "LINES\n");
		assertThrows(MemtraceException.class, () -> read(file));
		InputReaders.register(reader);
		try {
			assertThrows(IllegalArgumentException.class, () -> InputReaders.register(reader));
			ImportReport report = read(file);
			assertEquals("lines", report.trace().type());
			assertEquals("3", report.trace().properties().get("losses"));
			// what a reader does not look after itself never stops an import, and never vanishes
			assertTrue(report.toText().contains("1: type that had another category (first: " + file + ", row 2)"), report.toText());
			assertTrue(report.toText().contains("1: ends before it starts (first: " + file + ", row 3)"), report.toText());
		} finally {
			InputReaders.unregister(reader);
		}
		assertThrows(MemtraceException.class, () -> read(file));
	}
}
