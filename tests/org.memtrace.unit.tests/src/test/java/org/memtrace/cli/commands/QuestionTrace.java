// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import org.memtrace.cli.Ran;

/** A trace with known answers to the questions of docs/howto/questions.md: the rows that it is made of. */
final class QuestionTrace {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root"));
	static final long START = 999_000_000L;
	static final long FIRST = 1_000_000_000L;
	static final long INTERVAL = 10_000_000L;
	static final int INTERVALS = 120;
	static final int THREADS = 8;
	static final long PAGE = 4096;
	static final long BASE = 0x10000000000L;
	/** Name, pages; one after the other in memory. */
	static final Map<String, Integer> STRUCTURES = new TreeMap<>(Map.of("grid", 48, "halo", 12, "once", 40, "own_7", 9, "table", 20));

	private QuestionTrace() {
	}

	/** A row of the access file; the interval counts from 0. */
	record Row(String structure, long page, int interval, int thread, long offset, int reads, int writes, int line) {
		long startNs() {
			return FIRST + interval * INTERVAL;
		}

		/** Iterations have ten intervals, from the eleventh on; the last ten intervals are in none. */
		String iteration() {
			int k = interval / 10;
			return k >= 1 && k <= 10 ? "iteration " + k : "";
		}

		int accesses() {
			return reads + writes;
		}
	}

	static List<Row> rows(long seed, boolean withHalo) {
		Random random = new Random(seed);
		List<Row> made = new ArrayList<>();
		long page = BASE / PAGE;
		for (Map.Entry<String, Integer> s : STRUCTURES.entrySet()) {
			for (int p = 0; p < s.getValue(); p++, page++) {
				for (int i = 0; i < INTERVALS; i++) {
					for (int t = 0; t < THREADS; t++) {
						int dice = random.nextInt(1000);
						Row row = row(s.getKey(), page, p, i, t, dice, random);
						if (row != null && (withHalo || !s.getKey().equals("halo") || row.writes() == 0)) {
							made.add(row);
						}
					}
				}
			}
		}
		return made;
	}

	private static Row row(String structure, long page, int p, int i, int t, int dice, Random random) {
		boolean solve = i >= 10 && i < 110;
		boolean use = switch (structure) {
		case "grid" -> i == 0 ? t == 0 : (t + i / 20) % THREADS == p % THREADS && dice < 700;
		case "halo" -> solve && dice < 120;
		case "once" -> i == p % 100 && t == p % 3;
		case "own_7" -> t == 7 && dice < 300;
		default -> i < 60 && dice < 60;
		};
		if (!use) {
			return null;
		}
		int writes = structure.equals("table") ? t < 2 && solve ? dice % 2 : 0 : dice % 3;
		return new Row(structure, page, i, t, 8L * random.nextInt(512), dice % 4 + (writes == 0 ? 1 : 0), writes, 31 + (i + t) % 3);
	}

	static void write(Path temporary, String name, List<Row> of) throws IOException {
		Path trace = temporary.resolve(name + ".memtrace");
		Path image = trace.resolve("p0000");
		Files.createDirectories(image);
		Path example = ROOT.resolve("testdata/format-example");
		long end = FIRST + INTERVALS * INTERVAL;
		Files.writeString(trace.resolve("manifest.json"),
				Files.readString(example.resolve("manifest.json")).replace("\"end_ns\": 1201000000", "\"end_ns\": " + end));
		Files.copy(example.resolve("p0000/image.json"), image.resolve("image.json"));
		StringBuilder b = new StringBuilder("@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags\n");
		of.stream().sorted(Comparator.comparingInt(Row::interval)).forEach(r -> b.append(Long.toHexString(r.page() * PAGE + r.offset()))
				.append(",0,").append(r.reads()).append(',').append(r.writes()).append(",1,").append(r.startNs()).append(',')
				.append(r.startNs() + INTERVAL).append(',').append(1000 + r.thread()).append(',').append(Long.toHexString(0x5000L + r.line()))
				.append(",0,0\n"));
		Files.writeString(image.resolve("accesses-000000.csv"), b);
		StringBuilder threads = new StringBuilder("TaskId,Name,Birth,Death,StackStart,StackEnd,Start,CpuNs\n");
		StringBuilder regions = new StringBuilder("Time,TaskId,Event,Name\n");
		for (int t = 0; t < THREADS; t++) {
			threads.append(1000 + t).append(",app,").append(FIRST).append(",-1,")
					.append(Long.toHexString(0x7f0000000000L + t * 0x100000L)).append(',')
					.append(Long.toHexString(0x7f0000010000L + t * 0x100000L)).append(",,\n");
			regions.append(FIRST + 10 * INTERVAL).append(',').append(1000 + t).append(",begin,solve\n");
			for (int k = 1; k <= 10; k++) {
				regions.append(FIRST + 10 * k * INTERVAL).append(',').append(1000 + t).append(",begin,iteration ").append(k).append('\n')
						.append(FIRST + (10 * k + 10) * INTERVAL).append(',').append(1000 + t).append(",end,\n");
			}
			regions.append(FIRST + 110 * INTERVAL).append(',').append(1000 + t).append(",end,\n");
		}
		Files.writeString(image.resolve("threads.csv"), threads);
		Files.writeString(image.resolve("regions.csv"), regions);
		StringBuilder structures = new StringBuilder("Id,Kind,Name,Start,End,Birth,Death,TaskId,Stack,Site,Type,Members\n");
		long at = BASE;
		int id = 0;
		for (Map.Entry<String, Integer> s : STRUCTURES.entrySet()) {
			structures.append(id++).append(",static,").append(s.getKey()).append(',').append(Long.toHexString(at)).append(',')
					.append(Long.toHexString(at += s.getValue() * PAGE)).append(',').append(FIRST).append(",-1,-1,,/home/user/app.c:").append(id)
					.append(",,\n");
		}
		Files.writeString(image.resolve("structures.csv"), structures);
		StringBuilder code = new StringBuilder("Ip,Object,Offset,Function,File,Line\n");
		for (int line = 31; line < 34; line++) {
			code.append(Long.toHexString(0x5000L + line)).append(",/home/user/app,0,work,/home/user/app.c,").append(line).append('\n');
		}
		Files.writeString(image.resolve("code.csv"), code);
		Files.writeString(image.resolve("intervals.csv"), Files.readAllLines(example.resolve("p0000/intervals.csv")).getFirst() + "\n");
		Ran.ok("import", "-o", temporary.resolve(name + ".db").toString(), trace.toString());
	}
}
