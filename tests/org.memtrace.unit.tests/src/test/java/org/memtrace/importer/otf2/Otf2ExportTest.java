// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.otf2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.export.Otf2Records;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.importer.EventLines;
import org.memtrace.importer.ImportTest;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.record.Installation;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.TraceStore;

/** Traces that are written as OTF2 by libotf2, and read again. Needs the native program and libotf2. */
class Otf2ExportTest extends ImportTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root", "../.."));
	private static final Path LAUNCHER = ROOT.resolve("build/collector/memtrace").toAbsolutePath();

	private static byte[] records(TraceStore store, Otf2Records.Result[] result) throws Exception {
		ByteArrayOutputStream records = new ByteArrayOutputStream();
		result[0] = Otf2Records.write(store, AccessFilter.of(AccessQuery.ALL), records, Progress.NONE);
		return records.toByteArray();
	}

	/** Exit code; what is said goes into the file {@code said}. */
	private int write(byte[] records, Path folder) throws Exception {
		assumeTrue(Files.isExecutable(LAUNCHER), "memtrace is not built");
		Path file = Files.write(directory.resolve("records"), records);
		int code = new ProcessBuilder(LAUNCHER.toString(), "otf2-write", folder.toString()).redirectInput(file.toFile())
				.redirectError(directory.resolve("said").toFile()).start().waitFor();
		assumeTrue(code != 4, "libotf2 is not here");
		return code;
	}

	/** An imported trace as OTF2, imported again. */
	private ImportReport again(ImportReport report, Otf2Records.Result[] result) throws Exception {
		Path folder = Files.createTempDirectory(directory, "archive").resolve("again");
		try (TraceStore store = catalogue.open(report.trace().id())) {
			assertEquals(0, write(records(store, result), folder), () -> said());
		}
		String before = System.getProperty(Installation.PROPERTY);
		System.setProperty(Installation.PROPERTY, LAUNCHER.toString());
		try {
			return read(folder);
		} finally {
			if (before == null) {
				System.clearProperty(Installation.PROPERTY);
			} else {
				System.setProperty(Installation.PROPERTY, before);
			}
		}
	}

	private String said() {
		try {
			return Files.readString(directory.resolve("said"));
		} catch (java.io.IOException e) {
			return e.toString();
		}
	}

	/** Each event with the times since the begin of the trace; the paths of the producers only with two names. */
	private List<String> lines(ImportReport report) throws Exception {
		return EventLines.of(catalogue, report, (store, type, b, i) -> {
			long start = store.info().startNs();
			String category = type.category() + " ";
			String where = place(store, b.producer[i]) + " " + (b.startNs[i] - start) + " ";
			return category + switch (type.category()) {
			case STATE -> type.name() + " " + where + (b.endNs[i] - start) + " level " + b.value[i];
			case PUNCTUAL -> type.name() + " " + where;
			case LINK -> where + (b.endNs[i] - start) + " to " + place(store, (int) b.value[i]);
			case VARIABLE -> type.name() + " " + where + b.value[i];
			};
		}).stream().map(l -> l.replaceAll(" (parameters|value)=", " ").replaceAll(" bytes=0, tag=.*", "").strip()).sorted().toList();
	}

	private static String place(TraceStore store, int producer) throws org.memtrace.model.MemtraceException {
		int above = store.producers().parent(producer);
		return (above < 0 ? "" : store.producers().name(above) + "/") + store.producers().name(producer);
	}

	private static void nested(Random random, StringBuilder csv, String producer, long from, long to, int level) {
		long at = from;
		while (at <= to && random.nextInt(8) > 0) {
			long begin = at + random.nextLong(to - at + 1);
			boolean instant = random.nextInt(5) == 0 && begin > from && begin < to; // at a border it could be in either state
			long end = instant || begin == to ? begin : begin + 1 + random.nextLong(to - begin);
			if (begin == end && !instant) {
				return;
			}
			csv.append("s" + random.nextInt(5) + ",state," + producer + "," + begin + "," + end + "," + level + ","
					+ (random.nextBoolean() ? "k=" + random.nextInt(9) : "") + "\n");
			if (level < 4 && end > begin) {
				nested(random, csv, producer, begin, end, level + 1);
			}
			at = end + 1;
		}
	}

	@Test
	void statesInstantsLinksAndVariablesComeBack() throws Exception {
		for (int seed = 0; seed < 12; seed++) {
			Random random = new Random(seed);
			StringBuilder csv = new StringBuilder("type,category,producer,start_ns,end_ns,value,parameters\nfirst,event,host/p0/t0,1000,,,\n");
			for (int p = 0; p < 4; p++) {
				String producer = "host/p" + p / 2 + "/t" + p;
				nested(random, csv, producer, 1000, 1000 + random.nextInt(4000), 0);
				for (int n = random.nextInt(5); n > 0; n--) {
					long at = 1000 + random.nextInt(3000);
					csv.append("mark" + n + ",event," + producer + "," + at + ",,,a=" + n + ";b=\n");
					csv.append("message,link," + producer + "," + at + "," + (at + random.nextInt(500)) + ",host/p" + random.nextInt(2)
							+ "/t0,\n");
				}
				csv.append("load,variable," + producer + ",1200,1300," + random.nextInt(100) / 4.0 + ",\n");
			}
			ImportReport first = read(file("events" + seed + ".csv", csv.toString()));
			Otf2Records.Result[] result = new Otf2Records.Result[1];
			ImportReport second = again(first, result);
			assertEquals(new Otf2Records.Result(0, 0), result[0], "seed " + seed);
			List<String> before = lines(first);
			List<String> after = lines(second);
			assertEquals(before.stream().filter(l -> !after.contains(l)).toList(), after.stream().filter(l -> !before.contains(l)).toList(),
					"seed " + seed);
			assertEquals(before, after, "seed " + seed);
			assertTrue(second.warnings().isEmpty(), seed + ": " + second.toText());
		}
	}

	/** A walk in and out of states in which the clock often stands still, so that many of them have no duration and share a border. */
	private static void walk(Random random, StringBuilder csv, String producer, List<String> names) {
		Deque<long[]> open = new ArrayDeque<>();
		long now = 1000;
		for (int step = 0; step < 60 || !open.isEmpty(); step++) {
			now += random.nextInt(4) == 0 ? 1 : 0;
			if (step < 60 && open.size() < 5 && random.nextBoolean()) {
				open.push(new long[] { now, random.nextInt(names.size()) });
			} else if (!open.isEmpty()) {
				long[] state = open.pop();
				csv.append(names.get((int) state[1]) + ",state," + producer + "," + state[0] + "," + now + "," + open.size() + "\n");
			}
		}
	}

	@Test
	void statesWithoutDurationKeepTheirLevels() throws Exception {
		// x ends with a and b, y begins when both are over; c begins then, too, so z is before it and w in it
		ImportReport first = read(file("events.csv", "type,category,producer,start_ns,end_ns,value\na,state,p/q,10,20,0\nb,state,p/q,12,20,1\n"
				+ "x,state,p/q,20,20,2\ny,state,p/q,20,20,0\nd,state,p/r,10,20,0\nc,state,p/r,20,30,0\nz,state,p/r,20,20,0\nw,state,p/r,20,20,1\n"
				+ "e,state,p/s,10,20,0\nv,state,p/s,20,20,1\nu,state,p/s,20,20,2\nt,state,p/s,20,20,0\n"));
		assertEquals(lines(first), lines(again(first, new Otf2Records.Result[1])));
		for (int seed = 0; seed < 20; seed++) {
			Random random = new Random(seed);
			StringBuilder csv = new StringBuilder("type,category,producer,start_ns,end_ns,value\n");
			for (int p = 0; p < 3; p++) {
				walk(random, csv, "p/t" + p, List.of("f", "g", "h"));
			}
			ImportReport made = read(file("walk" + seed + ".csv", csv.toString()));
			Otf2Records.Result[] result = new Otf2Records.Result[1];
			assertEquals(lines(made), lines(again(made, result)), "seed " + seed);
			assertEquals(new Otf2Records.Result(0, 0), result[0], "seed " + seed);
		}
	}

	@Test
	void statesThatDoNotNestGoBeside() throws Exception {
		ImportReport first = read(file("events.csv", "type,category,producer,start_ns,end_ns,value\na,state,p/q,10,20,0\nb,state,p/q,15,30,0\n"
				+ "c,state,p/q,16,19,0\nd,state,p/q,20,25,0\ne,state,r,40,50,0\n"));
		Otf2Records.Result[] result = new Otf2Records.Result[1];
		ImportReport second = again(first, result);
		assertEquals(1, result[0].beside());
		assertEquals(List.of("STATE a p/q 0 10 level 0.0", "STATE b p/q (2) 5 20 level 0.0", "STATE c p/q 6 9 level 1.0",
				"STATE d p/q 10 15 level 0.0"), lines(second).stream().filter(l -> !l.contains("/r ")).toList());
		assertEquals(5, lines(second).size());
	}

	@Test
	void accessesAreCountersOfStructuresAndThreads() throws Exception {
		ImportReport second = again(read(ROOT.resolve("testdata/format-example")), new Otf2Records.Result[1]);
		List<String> lines = lines(second);
		assertFalse(lines.isEmpty());
		assertTrue(lines.stream().allMatch(l -> l.matches("VARIABLE (Private|Shared|NotKnown)_.*")), lines.toString());
		assertTrue(lines.stream().anyMatch(l -> l.matches("VARIABLE Private_Write under way memory/.* [1-9].*")), lines.toString());
		assertTrue(lines.stream().anyMatch(l -> l.contains("threads/")), lines.toString());
		assertTrue(second.toText().contains("variables"), second.toText());
	}

	@Test
	void recordsThatAreCutAreOneSentence() throws Exception {
		ImportReport first = read(file("events.csv", "type,category,producer,start_ns,end_ns,value\na,state,p/q,10,20,0\n"));
		try (TraceStore store = catalogue.open(first.trace().id())) {
			byte[] records = records(store, new Otf2Records.Result[1]);
			assertEquals(3, write(Arrays.copyOf(records, records.length - 32), directory.resolve("cut")));
			assertTrue(said().contains("the records end too early"), said());
			records[records.length - 32 + 8] = 99;
			assertEquals(3, write(records, directory.resolve("unknown")));
			assertTrue(said().contains("of kind 99: is not as it should be"), said());
			assertEquals(3, write("nothing".getBytes(java.nio.charset.StandardCharsets.UTF_8), directory.resolve("nothing")));
			assertEquals(EventCategory.STATE, store.eventTypes().get(0).category());
		}
	}
}
