// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.github.luben.zstd.ZstdOutputStream;

/** Makes small trace directories. */
public final class TraceDirectoryBuilder {
	public static final String HEADER = "@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags";

	private final Path directory;
	private final Map<String, StringBuilder> files = new LinkedHashMap<>();
	private String manifest = """
			{"format":"memtrace","format_version":1,"name":"sample","command":["./app","-n","two words"],
			"executable":"/bin/app","working_directory":"/tmp","purpose":"a test",
			"tool":{"name":"memtrace","version":"0.1.0","commit":"x"},
			"host":{"name":"machine","os":"Linux","kernel":"6.1","cpus_online":4,"page_size_bytes":4096},
			"clock":{"id":"CLOCK_MONOTONIC","unit":"ns","start_ns":1000,"end_ns":9000,"start_realtime":"2024-06-07T08:09:10.5Z"},
			"backend":{"name":"zap","guarantee":{"pages":"complete","granularity_bytes":4096}},
			"parameters":{"interval_ns":50000000,"physical":false},
			"status":{"state":"complete","exit_code":0,"signal":null},
			"losses":{"total":3,"by_reason":{"ring_overflow":3}},
			"windows":{"asked":"10%","windows":3,"seen_ns":10,"of_ns":100,"text":"counted for 10 % of the time"},
			"unseen":{"shared_bytes":134217728,"file_bytes":0,"text":"128 MiB of shared memory not seen"},
			"unlisted":{"blocks":5,"bytes":81920,"text":"5 blocks that lived shortly"},
			"late":{"intervals":2,"of":9,"text":"2 of 9 intervals took longer"},
			"unrecorded":{"processes":3,"left_out":0,"cpu_ns":4000000,"text":"3 processes not recorded"}}
			""";

	public TraceDirectoryBuilder(Path directory) {
		this.directory = directory;
	}

	public TraceDirectoryBuilder manifest(String json) {
		manifest = json;
		return this;
	}

	/** Appends lines to a file of an image; the first call for a file begins it. */
	public TraceDirectoryBuilder file(String path, String... lines) {
		StringBuilder text = files.computeIfAbsent(path, key -> new StringBuilder());
		for (String line : lines) {
			text.append(line).append('\n');
		}
		return this;
	}

	/** Appends text as it is. */
	public TraceDirectoryBuilder raw(String path, String text) {
		files.computeIfAbsent(path, key -> new StringBuilder()).append(text);
		return this;
	}

	/** Adds rows to the first chunk of image 0: address, reads, writes, CPUs, start, end, thread. */
	public TraceDirectoryBuilder access(long address, long reads, long writes, long start, long end, long task) {
		String file = "p0000/accesses-000000.csv";
		if (!files.containsKey(file)) {
			file(file, HEADER);
		}
		return file(file, String.format("%x,0,%d,%d,3,%d,%d,%d,401000,0,0", address, reads, writes, start, end, task));
	}

	/** Two structures at one address one after the other, a stack, a static object, two threads. */
	public TraceDirectoryBuilder sampleContext() {
		file("p0000/image.json", "{\"index\":0,\"pid\":100,\"parent\":-1,\"how\":\"root\",\"executable\":\"/bin/app\",\"start_ns\":1000}");
		file("p0000/structures.csv", "Id,Kind,Name,Start,End,Birth,Death,TaskId,Stack,Site",
				"0,heap,A,10000,14000,1100,2000,100,5,main.c:10", "1,heap,\"B, \"\"quoted\"\"\",10000,14000,2000,-1,100,-1,main.c:11",
				"2,stack,stack of worker,7f0000,7f4000,1000,-1,101,-1,", "3,static,table,20010,20020,-1,-1,-1,-1,main.c:3");
		file("p0000/stacks.csv", "Stack,Depth,Ip,Object,Offset,Function,File,Line", "5,0,401136,/bin/app,1136,main,main.c,10",
				"5,1,7f0123,,,,,");
		file("p0000/threads.csv", "TaskId,Name,Birth,Death,StackStart,StackEnd,Start", "100,app,1000,-1,0,0,",
				"101,worker,1200,3000,7f0000,7f4000,work");
		file("p0000/intervals.csv", "Interval,Start,End,Subphases,TargetNs,Faults,Records,Unattributed,LostRing,LostTable,Resident,ScanNs,ZapNs,MonitorCpuNs,ProgramCpuNs,Event,LostRegion,LostWrite,Closed,UnseenShared,UnseenFile,Accesses",
				"0,1000,1500,1,500,4,3,0,0,0,10,1,1,1,1,,0,0,0,0,0,0",
				"1,1500,2000,2,500,4,3,1,2,1,8192,3,4,5,6,governor:lengthened,0,0,2010,9,10,11");
		return this;
	}

	public Path write() throws IOException {
		Files.createDirectories(directory);
		Files.writeString(directory.resolve("manifest.json"), manifest);
		for (Map.Entry<String, StringBuilder> file : files.entrySet()) {
			Path path = directory.resolve(file.getKey());
			Files.createDirectories(path.getParent());
			Files.write(path, file.getValue().toString().getBytes(StandardCharsets.UTF_8));
		}
		return directory;
	}

	/** Replaces a file by its compressed form, in several frames. */
	public static void compress(Path file) throws IOException {
		byte[] content = Files.readAllBytes(file);
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		List<Integer> cuts = new ArrayList<>(List.of(0, content.length / 3, content.length));
		for (int i = 1; i < cuts.size(); i++) {
			try (ZstdOutputStream out = new ZstdOutputStream(bytes)) {
				out.write(content, cuts.get(i - 1), cuts.get(i) - cuts.get(i - 1));
			}
		}
		Files.write(Path.of(file + ".zst"), bytes.toByteArray());
		Files.delete(file);
	}
}
