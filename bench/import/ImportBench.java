// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Random;

import org.memtrace.aggregation.build.Preparation;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/**
 * Speed of the import, on generated traces (docs/measured/import.md, "Speed"); bench/import/run.sh makes the whole table. Arguments: DIR
 * ACCESSES [PAGES [THREADS [distinct]]]. DIR is made when it is not there and kept for the next run; the database beside it is
 * replaced.
 *
 * <p>The trace is as a collector would record a program that works on three arrays for some hundred intervals of 50 ms (200 to 2,000
 * of them, at most 50,000 rows in each): of the first array each thread uses its own part, at random pages; the second is swept by all
 * threads, each a bit behind the other, as with a stencil; of the third all threads use random pages. So about a third of the rows is
 * private, a third is shared by neighbours in time, and a third by chance, with up to as many threads on a page as there are. One
 * in twelve reads and writes. With "distinct" each row has a start of its own, spread evenly over its interval, and lasts less than a
 * microsecond, as with a logical clock. Addresses within a page, code addresses (2,000) and counts (0 to 3) are random; the seed is fixed.
 */
public final class ImportBench {
	private static final int PAGE = 4096;
	private static final long SEED = 20240607;

	private ImportBench() {
	}

	public static void main(String[] args) throws Exception {
		Path directory = Path.of(args[0]);
		long accesses = Long.parseLong(args[1]);
		int pages = args.length > 2 ? Integer.parseInt(args[2]) : 100_000;
		int threads = args.length > 3 ? Integer.parseInt(args[3]) : 8;
		if (!Files.exists(directory)) {
			long start = System.nanoTime();
			generate(directory, accesses, pages, threads, args.length > 4 && args[4].equals("distinct"));
			System.out.printf(Locale.ROOT, "generated %s in %.1f s (seed %d)%n", directory,
					(System.nanoTime() - start) / 1e9, SEED);
		}
		Path database = Path.of(directory + ".db");
		Files.deleteIfExists(database);
		String[] step = { "" };
		long[] since = { System.nanoTime() };
		Progress progress = new Progress() {
			@Override
			public void begin(String name, long total) {
				long now = System.nanoTime();
				if (!step[0].isEmpty()) {
					System.out.printf(Locale.ROOT, "  %-36s %8.2f s%n", step[0], (now - since[0]) / 1e9);
				}
				step[0] = name;
				since[0] = now;
			}

			@Override
			public void worked(long units) {
				// only steps are timed
			}

			@Override
			public boolean isCancelled() {
				return false;
			}
		};
		long cpu = cpuNs();
		long start = System.nanoTime();
		ImportReport report = new ImportOperation(directory, name -> Stores.createFile(database, System.out::println))
				.setScratchDirectory(directory.toAbsolutePath().getParent()).call(progress);
		progress.begin("", 0);
		double seconds = (System.nanoTime() - start) / 1e9;
		long rows = size(report, "imported");
		long bytes = Files.size(database);
		double cpuSeconds = (cpuNs() - cpu) / 1e9;
		System.out.printf(Locale.ROOT, "imported %,d accesses in %.2f s: %,.0f accesses/s (CPU %.2f s: %,.0f/s); %,d bytes,"
				+ " %.1f per access%n", rows, seconds, rows / seconds, cpuSeconds, rows / cpuSeconds, bytes, (double) bytes / rows);
		long heap = ManagementFactory.getMemoryPoolMXBeans().stream().filter(p -> p.getType().name().equals("HEAP"))
				.mapToLong(p -> p.getPeakUsage().getUsed()).sum();
		System.out.printf(Locale.ROOT, "| %,d | %,d | %d | %.1f s | %,.0f | %.1f s | %.1f | %,d MB | %.1f |%n", rows, pages, threads,
				seconds, rows / seconds, cpuSeconds, (double) bytes / rows, heap >> 20,
				ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
		ManagementFactory.getMemoryPoolMXBeans().stream().filter(p -> p.getType().name().equals("HEAP"))
				.forEach(p -> System.out.printf(Locale.ROOT, "  peak %-20s %,d MB%n", p.getName(),
						p.getPeakUsage().getUsed() >> 20));
		try (TraceStore store = Stores.openFile(database)) {
			long from = cpuNs();
			Preparation.save(store, Dimensions.firstPictures(), Progress.NONE);
			System.out.printf(Locale.ROOT, "saved sums and first picture: CPU %.2f s, %,d bytes%n", (cpuNs() - from) / 1e9,
					Files.size(database) - bytes);
		}
		try (TraceStore store = Stores.openFile(database)) {
			for (int i = 0; i < (accesses > 20_000_000 ? 1 : 2); i++) { // the second time from the file cache
				long[] sum = new long[2];
				long t = System.nanoTime();
				store.visitAccesses(AccessQuery.ALL, b -> {
					sum[0] += b.count;
					for (int k = 0; k < b.count; k++) {
						sum[1] += b.reads[k] + b.writes[k];
					}
				}, Progress.NONE);
				double s = (System.nanoTime() - t) / 1e9;
				System.out.printf(Locale.ROOT, "read all %,d accesses (%,d) in %.2f s: %,.0f accesses/s%n", sum[0], sum[1], s,
						sum[0] / s);
			}
			long t = System.nanoTime();
			int size = store.producers().size();
			System.out.printf(Locale.ROOT, "tree of %,d producers in %.2f s%n", size, (System.nanoTime() - t) / 1e9);
			int middle = size / 2;
			long[] n = new long[1];
			t = System.nanoTime();
			store.visitAccesses(new AccessQuery(Long.MIN_VALUE, Long.MAX_VALUE, middle, middle + size / 100),
					b -> n[0] += b.count, Progress.NONE);
			System.out.printf(Locale.ROOT, "1 %% of the producers: %,d accesses in %.3f s%n", n[0],
					(System.nanoTime() - t) / 1e9);
		}
	}

	private static long cpuNs() {
		return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
	}

	private static long size(ImportReport report, String key) {
		var matcher = java.util.regex.Pattern.compile("\"" + key + "\": (\\d+)").matcher(report.toJson());
		return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
	}

	/** Intervals of 50 ms; in each the threads touch parts of three arrays: one private, one shared, one at random. */
	private static void generate(Path directory, long accesses, int pages, int threads, boolean distinct) throws IOException {
		Random random = new Random(SEED);
		Path image = directory.resolve("p0000");
		Files.createDirectories(image);
		long base = 0x7f0000000000L;
		long perArray = pages / 3;
		Files.writeString(directory.resolve("manifest.json"), """
				{"format":"memtrace","format_version":1,"name":"bench","command":["bench"],"executable":"/bench",
				"host":{"name":"h","os":"Linux","cpus_online":%d,"page_size_bytes":4096},
				"clock":{"start_ns":1000000000,"start_realtime":"2024-06-07T00:00:00Z"},
				"status":{"state":"complete","exit_code":0},"losses":{"total":0,"by_reason":{}}}
				""".formatted(threads));
		StringBuilder structures = new StringBuilder("Id,Kind,Name,Start,End,Birth,Death,TaskId,Stack,Site\n");
		for (int a = 0; a < 3; a++) {
			long start = base + a * (perArray + 16) * PAGE;
			structures.append(a).append(",heap,").append("ABC".charAt(a)).append(',').append(Long.toHexString(start))
					.append(',').append(Long.toHexString(start + perArray * PAGE)).append(",1000000000,-1,100,-1,b.c:")
					.append(a + 1).append('\n');
		}
		Files.writeString(image.resolve("structures.csv"), structures);
		StringBuilder threadRows = new StringBuilder("TaskId,Name,Birth,Death,StackStart,StackEnd,Start\n");
		for (int t = 0; t < threads; t++) {
			threadRows.append(100 + t).append(",worker ").append(t).append(",1000000000,-1,0,0,work\n");
		}
		Files.writeString(image.resolve("threads.csv"), threadRows);
		long perInterval = Math.max(threads, Math.min(50_000, accesses / 100));
		long written = 0;
		long time = 1_000_000_000L;
		int chunk = 0;
		OutputStream out = null;
		long chunkBytes = 0;
		long[] code = new long[2000];
		for (int i = 0; i < code.length; i++) {
			code[i] = 0x401000 + random.nextInt(1 << 20);
		}
		while (written < accesses) {
			long end = time + 50_000_000L + random.nextInt(1000);
			StringBuilder text = new StringBuilder();
			for (long i = 0; i < perInterval && written < accesses; i++, written++) {
				int thread = (int) (i * threads / perInterval);
				int array = random.nextInt(3);
				long page = switch (array) {
				case 0 -> thread * perArray / threads + random.nextLong(Math.max(1, perArray / threads));
				case 1 -> (written / perInterval * 97 + i % (perInterval / threads)) % perArray;
				default -> random.nextLong(perArray);
				};
				long address = base + (array * (perArray + 16) + page) * PAGE + random.nextInt(512) * 8;
				long reads = array == 2 ? random.nextInt(4) : random.nextInt(10) < 6 ? 1 : 0;
				long writes = reads == 0 || random.nextInt(8) == 0 ? 1 : 0;
				long start = distinct ? time + i * 50_000_000L / perInterval : time;
				text.append(Long.toHexString(address)).append(",0,").append(reads).append(',').append(writes).append(',')
						.append(Long.toHexString(1L << (thread % 64))).append(',').append(start).append(',')
						.append(distinct ? start + 1 + random.nextInt(999) : end)
						.append(',').append(100 + thread).append(',').append(Long.toHexString(code[random.nextInt(code.length)]))
						.append(",0,0\n");
			}
			if (out == null || chunkBytes > 64 << 20) {
				if (out != null) {
					out.close();
				}
				chunkBytes = 0;
				out = new BufferedOutputStream(
						Files.newOutputStream(image.resolve(String.format("accesses-%06d.csv", chunk++))), 1 << 16);
				out.write("@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags\n"
						.getBytes(StandardCharsets.US_ASCII));
			}
			byte[] bytes = text.toString().getBytes(StandardCharsets.US_ASCII);
			out.write(bytes);
			chunkBytes += bytes.length;
			time = end;
		}
		out.close();
	}
}
