// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.TraceDirectoryBuilder;
import org.memtrace.importer.tree.MergeRule;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.store.AccessCoding;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.FrameSocRows;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.storage.Stores;

/** An import in parts, however lines and pages are divided and in whatever order the files are given, makes the database of one process. */
class ImportPartsTest {
	private static final long SEED = 20261127;

	@TempDir
	Path temporary;
	private int made;

	private static final AccessCoding CODING = Stores.coding();

	/** Each leaf of the tree can be in another part. */
	private static final AccessCoding FINE = new AccessCoding() {
		@Override
		public int[] borders(int[] accesses) {
			int[] all = new int[Math.max(1, accesses.length)];
			Arrays.setAll(all, i -> i);
			return all;
		}

		@Override
		public Coder coder(int[] leafOfCell, int leaves, Path scratch) {
			return CODING.coder(leafOfCell, leaves, scratch);
		}
	};

	private static String mask(Random random) {
		return switch (random.nextInt(6)) {
		case 0 -> "0";
		case 1 -> Integer.toHexString(1 + random.nextInt(9)) + "0000000000000000" + Integer.toHexString(random.nextInt(16)); // 68 CPUs
		default -> Integer.toHexString(1 << random.nextInt(4));
		};
	}

	/** Blocks that share pages, memory that is used again, stacks, and much that no structure has. */
	private static void context(TraceDirectoryBuilder to, String image, int index, Random random, String segment) {
		to.file(image + "/image.json", "{\"index\":%d,\"pid\":%d,\"executable\":\"/bin/app\",\"start_ns\":1000}".formatted(index,
				100 + index));
		List<String> lines = new ArrayList<>(List.of("Id,Kind,Name,Start,End,Birth,Death,TaskId,Stack,Site,Type,Members,Segment"));
		for (int s = 0; s < 12; s++) {
			int start = 0x10000 + random.nextInt(12) * 0x600;
			int birth = random.nextInt(3) == 0 ? -1 : 1000 + random.nextInt(3000);
			lines.add("%d,%s,s%d,%x,%x,%d,%d,100,-1,a.c:%d,,,".formatted(s, List.of("heap", "heap", "static", "mmap",
					"brk").get(random.nextInt(5)),
					s % 7, start, start + 1 + random.nextInt(0x3000), birth,
							birth < 0 || random.nextBoolean() ? -1 : birth + 1 + random.nextInt(2000),
					s % 3));
		}
		lines.add("12,stack,stack of worker,7f0000,7f4000,1500,4000,101,-1,,,,");
		if (segment != null) {
			lines.add("13,mmap,grid,%x,%x,1000,-1,100,-1,b.c:3,,,%s".formatted(0x900000 + index * 0x10000,
					0x904000 + index * 0x10000, segment));
		}
		if (random.nextInt(5) == 0) {
			lines.add("14,unknown kind,x,1,2,-1,-1,1,-1,,,,");
		}
		to.file(image + "/structures.csv", lines.toArray(String[]::new));
		to.file(image + "/threads.csv", "TaskId,Name,Birth,Death,StackStart,StackEnd,Start", "100,app,1000,-1,0,0,",
				"101,worker,1200,3000,7f0000,7f4000,work", "101,worker again,3000,-1,7f0000,7f4000,work");
		to.file(image + "/intervals.csv", "Interval,Start,End,TargetNs", "0,1000,2000,1000");
	}

	/** Accesses in some files, with rows that cannot be used and threads that nobody lists. */
	private static void accesses(TraceDirectoryBuilder to, String image, int files, int most, Random random) {
		boolean ordered = random.nextInt(3) > 0;
		boolean physical = random.nextInt(3) == 0;
		boolean offsets = random.nextBoolean();
		boolean distinct = random.nextBoolean();
		long time = 1000;
		int pages = 1 + random.nextInt(random.nextBoolean() ? 3 : 60);
		for (int f = 0; f < files; f++) {
			List<String> lines = new ArrayList<>(List.of(TraceDirectoryBuilder.HEADER + (offsets ? ",First,ReadOffset,WriteOffset" : "")));
			for (int n = random.nextInt(most + 1); n > 0; n--) {
				long page = switch (random.nextInt(8)) {
				case 0 -> 0x900 + random.nextInt(40);
				case 1 -> 0x7ee + random.nextInt(8);
				case 2 -> random.nextInt(3) == 0 ? 0xffffffffffff0L + random.nextInt(3) : 0x1_0000_0000L + random.nextInt(pages);
				default -> 0x10 + random.nextInt(pages);
				};
				long address = page << 12 | random.nextInt(512) * 8;
				long reads = random.nextInt(8) == 0 ? 1L << random.nextInt(45) : random.nextInt(2);
				long writes = reads == 0 ? 1 + random.nextInt(2) : random.nextInt(2);
				long start = ordered || random.nextInt(20) > 0 ? time : Math.max(0, time - random.nextInt(700));
				int task = random.nextInt(6) == 0 ? -1 : random.nextInt(5) == 0 ? 200 + random.nextInt(4) : 100 + random.nextInt(2);
				String line = "%x,%x,%d,%d,%s,%d,%d,%d,%x,%d,%x".formatted(address,
						physical && random.nextInt(3) > 0 ? (page & 0xff) << 12 : 0, reads,
						writes, mask(random), start, start + 1 + random.nextInt(600), task, 0x401000 + random.nextInt(9),
								random.nextInt(3) - 1,
						random.nextInt(10) == 0 ? random.nextInt(16) : 0);
				if (offsets) {
					line += "," + (random.nextBoolean() ? "" : random.nextInt(300)) + "," + Integer.toHexString(random.nextInt(4096)) + ",";
				}
				lines.add(switch (random.nextInt(60)) {
				case 0 -> "nonsense";
				case 1 -> line.replaceFirst(",[0-9]+", ",-5");
				case 2 -> line + ",1,2,3";
				default -> line;
				});
				if (random.nextInt(distinct ? 2 : 12) == 0) {
					time += random.nextInt(distinct ? 3 : 200);
				}
			}
			String file = image + "/accesses-%06d.csv".formatted(f);
			to.file(file, lines.toArray(String[]::new));
			if (random.nextInt(6) == 0) {
				to.raw(file, "10000,0,1");
			}
		}
	}

	private Path trace(Random random, int images, int files, int most) throws Exception {
		TraceDirectoryBuilder to = new TraceDirectoryBuilder(temporary.resolve("t" + made++ + ".memtrace"));
		for (int i = 0; i < images; i++) {
			context(to, "p000" + i, i, random, null);
			accesses(to, "p000" + i, files, most, random);
		}
		Path directory = to.write();
		if (files > 1 && random.nextBoolean()) {
			TraceDirectoryBuilder.compress(directory.resolve("p0000/accesses-000001.csv"));
		}
		return directory;
	}

	private Path job(Random random, int ranks, int most) throws Exception {
		Path folder = temporary.resolve("app.job-" + made++);
		for (int r = 0; r < ranks; r++) {
			TraceDirectoryBuilder to = new TraceDirectoryBuilder(folder.resolve("r000" + r + ".memtrace")).manifest("""
					{"format":"memtrace","format_version":1,"name":"app","command":["./app"],"executable":"/bin/app",
					"host":{"name":"%s","boot_id":"%s","page_size_bytes":4096,"cpus_online":2},
					"clock":{"start_ns":1000,"end_ns":9000,"realtime":{"offset_ns":%d,"read_error_ns":50,"max_error_ns":100}},
					"job":{"launcher":"slurm","id":"7.0","id_scope":"job","rank":%d,"size":%d,"local_rank":0,"node":"%s"},
					"status":{"state":"complete","exit_code":0},"losses":{"total":0,"by_reason":{}}}
					""".formatted("n" + r / 2, "b" + r / 2, r / 2 * 300, r, ranks, "n" + r / 2));
			context(to, "p0000", 0, random, "10:20:0");
			accesses(to, "p0000", 2, most, random);
			to.write();
		}
		return folder;
	}

	/** All rows of all tables. */
	private static Map<String, List<String>> tables(Path db, boolean chunks) throws Exception {
		Map<String, List<String>> tables = new TreeMap<>();
		try (Connection c = DriverManager.getConnection("jdbc:sqlite:" + db);
				Statement s = c.createStatement();
				Statement t = c.createStatement();
				ResultSet names = t.executeQuery("SELECT NAME FROM SQLITE_MASTER WHERE TYPE = 'table'")) {
			while (names.next()) {
				String name = names.getString(1);
				if (!chunks && (name.matches("MT_CHUNK|MT_COLUMN|MT_EVENT|MT_RUN") || name.contains("CHECKSUM"))) {
					continue;
				}
				List<String> lines = new ArrayList<>();
				try (ResultSet rows = s.executeQuery("SELECT * FROM " + name)) {
					int columns = rows.getMetaData().getColumnCount();
					while (rows.next()) {
						StringBuilder line = new StringBuilder();
						for (int i = 1; i <= columns; i++) {
							Object v = rows.getObject(i);
							line.append(v instanceof byte[] b ? HexFormat.of().formatHex(b) : v).append('|');
						}
						if (chunks || !line.toString().contains("crc32c")) {
							lines.add(line.toString());
						}
					}
				}
				tables.put(name, lines);
			}
		}
		return tables;
	}

	/** All accesses, without their numbers. */
	private static List<String> accesses(Path db) throws MemtraceException {
		List<String> lines = new ArrayList<>();
		try (TraceStore store = Stores.openFile(db)) {
			store.visitAccesses(AccessQuery.ALL, b -> {
				for (int i = 0; i < b.count; i++) {
					lines.add(Arrays.toString(new long[] {b.startNs[i], b.endNs[i], b.producer[i], b.thread[i], b.cpuSet[i],
							b.reads[i], b.writes[i],
							b.sharing[i], b.node[i], b.flags[i], b.ip[i], b.readOffset[i], b.writeOffset[i]}));
				}
			}, Progress.NONE);
		}
		Collections.sort(lines);
		return lines;
	}

	private static TraceWriter writer(Path db, FrameSocRows rows) throws MemtraceException {
		TraceWriter writer = Stores.createFile(db, System.err::println);
		writer.frameSocRows(rows);
		return writer;
	}

	private static List<MergeRule> rules(Random random) throws MemtraceException {
		return random.nextInt(3) == 0 ? MergeRule.parseAll(List.of("name")) : List.of();
	}

	private List<Path> rows(Path trace, int count) throws MemtraceException {
		List<Path> files = new ArrayList<>();
		for (int k = 0; k < count; k++) {
			files.add(temporary.resolve(made++ + ".rows"));
			ImportParts.rows(List.of(trace), k, count, files.getLast(), temporary, Progress.NONE);
		}
		return files;
	}

	private List<Path> ranges(List<Path> rows, List<MergeRule> rules, int fanout, AccessCoding coding, int count) throws MemtraceException {
		List<Path> files = new ArrayList<>();
		for (int k = 0; k < count; k++) {
			files.add(temporary.resolve(made++ + ".part"));
			ImportParts.range(rows, List.of(), rules, fanout, coding, k, count, files.getLast(), temporary, Progress.NONE);
		}
		return files;
	}

	/** Compares one import with one in parts. */
	private void same(Path trace, Random random, int rowParts, int parts, AccessCoding coding, FrameSocRows events) throws Exception {
		List<MergeRule> rules = rules(random);
		int fanout = 2 + random.nextInt(3);
		Path one = temporary.resolve(made++ + "/trace.db");
		Path other = temporary.resolve(made++ + "/trace.db");
		Files.createDirectories(one.getParent());
		Files.createDirectories(other.getParent());
		String report = new ImportOperation(List.of(trace), InputStream.nullInputStream(), name -> writer(one, events)).setMergeRules(rules)
				.setFanout(fanout).call(Progress.NONE).toJson();
		List<Path> rows = rows(trace, rowParts);
		Collections.shuffle(rows, random);
		List<Path> files = ranges(rows, rules, fanout, coding, parts);
		Collections.shuffle(files, random);
		String joined = ImportParts.join(files, List.of(), name -> writer(other, events), "", false, temporary, Progress.NONE).toJson();
		assertEquals(report, joined);
		assertEquals(tables(one, coding == CODING), tables(other, coding == CODING));
		assertEquals(accesses(one), accesses(other));
		for (Path file : rows) {
			Files.delete(file);
		}
		for (Path file : files) {
			Files.delete(file);
		}
	}

	@Test
	void anyDivisionMakesTheSameDatabase() throws Exception {
		System.out.println("seed " + SEED);
		int[] counts = {1, 2, 3, 64};
		for (int t = 0; t < 24; t++) {
			Random random = new Random(SEED + t);
			Path trace = trace(random, 1 + random.nextInt(3), 1 + random.nextInt(4), List.of(3, 40, 400).get(random.nextInt(3)));
			try {
				same(trace, random, counts[random.nextInt(3)], counts[t % 4], t % 3 == 0 ? CODING : FINE, FrameSocRows.AUTO);
			} catch (TraceFormatException e) { // a trace without accesses: then nobody imports it
				assertTrue(e.getMessage().contains("has no accesses to import"), e.getMessage());
			}
		}
	}

	@Test
	void ranksThatShareMemoryToo() throws Exception {
		System.out.println("seed " + SEED);
		for (int t = 0; t < 6; t++) {
			Random random = new Random(SEED + t);
			same(job(random, 2 + random.nextInt(3), 200), random, 1 + random.nextInt(4), List.of(2, 7).get(t % 2),
					t % 3 == 0 ? CODING : FINE,
					FrameSocRows.NO);
		}
	}

	/** Chunks end where they end in one import; one page has too many rows for a chunk. */
	@Test
	void manyChunks() throws Exception {
		System.out.println("seed " + SEED);
		Random random = new Random(SEED);
		TraceDirectoryBuilder to = new TraceDirectoryBuilder(temporary.resolve("large.memtrace"));
		context(to, "p0000", 0, random, null);
		for (int f = 0; f < 3; f++) {
			StringBuilder text = new StringBuilder(TraceDirectoryBuilder.HEADER + "\n");
			for (int i = 0; i < 100_000; i++) {
				long page = i % 2 == 0 ? 0x20 : 0x1_0000_0000L + random.nextInt(900);
				text.append(Long.toHexString(page << 12 | random.nextInt(64) * 64)).append(",0,1,").append(random.nextInt(2)).append(",1,")
						.append(1000 + f * 1000 + i / 150).append(',').append(1100 + f * 1000 + i / 150).append(',')
						.append(100 + random.nextInt(3)).append(",401000,0,0\n");
			}
			to.raw("p0000/accesses-%06d.csv".formatted(f), text.toString());
		}
		Path trace = to.write();
		same(trace, random, 2, 3, CODING, FrameSocRows.NO);
		same(trace, random, 3, 16, CODING, FrameSocRows.NO);
	}

	private static String refused(org.junit.jupiter.api.function.Executable what) {
		return assertThrows(MemtraceException.class, what).getMessage();
	}

	private String joined(List<Path> files) {
		return refused(() -> ImportParts.join(files, List.of(), name -> writer(temporary.resolve("no.db"), FrameSocRows.NO), "",
				false, temporary,
				Progress.NONE));
	}

	@Test
	void whatIsMissingDoubledOrDoesNotFitIsNamed() throws Exception {
		System.out.println("seed " + SEED);
		Path trace = trace(new Random(SEED), 2, 3, 300);
		List<Path> rows = rows(trace, 3);
		List<Path> parts = ranges(rows, List.of(), 2, FINE, 4);
		Path out = temporary.resolve("x.part");
		java.util.function.Function<List<Path>, String> range = files -> refused(
				() -> ImportParts.range(files, List.of(), List.of(), 2, FINE, 0, 2, out, temporary, Progress.NONE));
		assertTrue(range.apply(rows.subList(0, 2)).startsWith("files of rows are missing: of the 3 of "), range.apply(rows.subList(0, 2)));
		assertTrue(range.apply(rows.subList(0, 2)).endsWith("there is no 3"));
		assertTrue(range.apply(List.of(rows.get(0), rows.get(1), rows.get(0), rows.get(2))).endsWith("have the same rows: 1/3"));
		assertTrue(joined(parts.subList(1, 4)).startsWith("parts are missing: of the pieces of accesses, the "),
				joined(parts.subList(1, 4)));
		Path middle = Files.size(parts.get(1)) > Files.size(parts.get(2)) ? parts.get(1) : parts.get(2); // one may be empty
		List<Path> without = new ArrayList<>(parts);
		without.remove(middle);
		assertTrue(joined(without).startsWith("parts are missing: "), joined(without));
		List<Path> twice = new ArrayList<>(parts);
		twice.add(middle);
		assertTrue(joined(twice).endsWith(middle + " have the same pages"), joined(twice));
		assertTrue(joined(List.of(rows.get(0))).contains("is a file of rows of an import, version 1, not a part of an import"));
		List<Path> others = ranges(rows, List.of(), 3, FINE, 4);
		assertEquals(others.get(1) + " was made with --fanout 3, " + parts.get(0) + " with --fanout 2",
				joined(List.of(parts.get(0), others.get(1), parts.get(2), parts.get(3))));
		List<Path> coarse = ranges(rows, List.of(), 2, CODING, 4);
		assertTrue(joined(List.of(parts.get(0), coarse.get(0))).contains("have other pages"));
		Path trace2 = trace(new Random(SEED + 1), 2, 3, 300);
		List<Path> rows2 = rows(trace2, 3);
		assertTrue(range.apply(List.of(rows.get(0), rows2.get(1), rows.get(2))).startsWith(rows2.get(1) + " is of " + trace2));
		List<Path> parts2 = ranges(rows2, List.of(), 2, FINE, 4);
		assertTrue(joined(List.of(parts.get(0), parts2.get(1))).startsWith(parts2.get(1) + " is of " + trace2));
		assertTrue(refused(() -> ImportParts.join(parts, List.of(trace2), name -> writer(temporary.resolve("no.db"),
				FrameSocRows.NO), "", false,
				temporary, Progress.NONE)).startsWith("the parts are of another trace than " + trace2));
		Path moved = temporary.resolve("moved.memtrace");
		Files.move(trace, moved);
		assertTrue(joined(parts).contains("does not exist") || joined(parts).contains("is not a directory"), joined(parts));
		ImportParts.join(parts, List.of(moved), name -> writer(temporary.resolve("moved.db"), FrameSocRows.NO), "", false,
				temporary, Progress.NONE);
		Files.writeString(moved.resolve("p0000/threads.csv"), "TaskId,Name\n100,app\n");
		assertTrue(refused(() -> ImportParts.join(parts, List.of(moved), name -> writer(temporary.resolve("no.db"),
				FrameSocRows.NO), "", false,
				temporary, Progress.NONE)).contains("or of another state of it"));
		assertTrue(Files.notExists(temporary.resolve("no.db")));
		assertThrows(IllegalArgumentException.class, () -> ImportParts.rows(List.of(moved), 2, 2, out, temporary, Progress.NONE));
	}

	@Test
	void everyFlippedBitAndEveryCutIsNoticed() throws Exception {
		System.out.println("seed " + SEED);
		Random random = new Random(SEED);
		Path trace = trace(random, 1, 1, 40);
		List<Path> rows = rows(trace, 1);
		List<Path> parts = ranges(rows, List.of(), 2, CODING, 1);
		for (Path file : List.of(rows.get(0), parts.get(0))) {
			byte[] bytes = Files.readAllBytes(file);
			Path wrong = temporary.resolve("wrong");
			for (int i = 0; i < bytes.length + 200; i += 1 + i / 100) {
				byte[] changed = bytes.clone();
				if (i < bytes.length) {
					changed[i] ^= (byte) (1 << random.nextInt(8));
				} else {
					changed = Arrays.copyOf(bytes, random.nextInt(bytes.length));
				}
				Files.write(wrong, changed);
				String said = file == parts.get(0) ? joined(List.of(wrong))
						: refused(() -> ImportParts.range(List.of(wrong), List.of(), List.of(), 2, CODING, 0, 1,
								temporary.resolve("y.part"), temporary,
								Progress.NONE));
				assertTrue(said.startsWith(wrong + " is "), said);
			}
		}
	}

	@Test
	void strictIsAsInOneProcess() throws Exception {
		Path trace = new TraceDirectoryBuilder(temporary.resolve("bad.memtrace")).sampleContext().access(0x10000, 1, 0, 1000, 1500, 100)
				.file("p0000/accesses-000000.csv", "nonsense").write();
		String wanted = refused(() -> new ImportOperation(List.of(trace), InputStream.nullInputStream(),
				name -> writer(temporary.resolve("no.db"), FrameSocRows.NO)).setStrict(true).call(Progress.NONE));
		List<Path> parts = ranges(rows(trace, 2), List.of(), 2, CODING, 2);
		assertEquals(wanted, refused(() -> ImportParts.join(parts, List.of(), name -> writer(temporary.resolve("no.db"),
				FrameSocRows.NO), "", true,
				temporary, Progress.NONE)));
	}
}
