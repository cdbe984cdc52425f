// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.input;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Files that are not imported, told by their first bytes: what each is, and by which way its contents, or the same contents, get into
 * memtrace. docs/reference/input-others.md has the list.
 */
public enum OtherFormat {
	HEAPTRACK("v [0-9a-f]{4,6}( [0-9a-f]+)?\n[XxSI] .*", "a profile of heaptrack, which has sizes and call stacks, and no addresses",
			Door.RECORD),
	HEAPTRACK_RAW("v [0-9a-f]{4,6} [0-9a-f]+\r?\n.*", "a profile of heaptrack", Door.RECORD),
	MEMRAY("(\u0004\"M\u0018.{0,60})?memray\0.*", "a profile of memray, which has allocations and no accesses", Door.RECORD),
	JFR("FLR\0.*", "a recording of Java Flight Recorder, whose objects move and have no addresses", Door.EVENTS),
	GPERFTOOLS_HEAP("heap profile: .*", "a heap profile of gperftools, which has sums by call stack, and neither addresses nor times",
			Door.RECORD),
	JEMALLOC("heap_v2/.*", "a heap profile of jemalloc, which has sums by call stack, and neither addresses nor times", Door.RECORD),
	GPERFTOOLS_CPU("\0{8}\u0003\0{7}\0{8}.*", "a CPU profile of gperftools, which has sums by call stack, and no times", Door.CLOCK),
	MASSIF("desc: [^\n]*\ncmd: .*", "an output of Valgrind's massif, which has sizes of the heap, and no addresses", Door.RECORD),
	DHAT("\\s*\\{\\s*\"dhatFileVersion\".*", "an output of Valgrind's DHAT, which has sums by allocation site, and neither addresses nor times",
			Door.RECORD),
	CALLGRIND("# callgrind format.*|(version: \\d+\n)?creator: (callgrind|xdebug).*",
			"a profile of callgrind, which has sums by function, and neither addresses nor times", Door.CLOCK),
	CACHEGRIND("desc: I1 cache: .*", "an output of Valgrind's cachegrind, which has sums by line, and neither addresses nor times",
			Door.RECORD),
	LACKEY("(==\\d+== [^\n]*\n)*(I  | L | S | M )[0-9a-f]{6,16},\\d{1,3}\n.*",
			"a trace of Valgrind's lackey, which has addresses of one thread, and no times", Door.CSV + ": examples/accesses/lackey.py"),
	DRMEMTRACE_VIEW("Output format:\n<.{0,3}record#.*",
			"a text of DynamoRIO's drmemtrace (view)", Door.CSV + ": examples/accesses/drmemtrace.py"),
	GO_TRACE("go 1\\.\\d+ trace\0.*", "an execution trace of Go, whose heap moves between goroutines", Door.EVENTS),
	PPROF("\n[\u0004-\u0040]\b.\u0010.*", "a profile in pprof's format, which has sums by call stack, and neither addresses nor times",
			Door.RECORD),
	TAU("\\d+ templated_functions.*", "a profile of TAU, which has sums by function, and no times", Door.OTF2),
	CUBE("anchor\\.xml\0.*|\\s*<\\?xml[^>]*>\\s*<cube .*", "a profile of Cube (Score-P, Scalasca), which has sums, and no times", Door.OTF2),
	HPCRUN("HPCRUN-.*|HPCTOOLKITmeta.*|HPCPROF-.*", "a profile of HPCToolkit", Door.OTF2),
	SPEEDSCOPE("\\s*\\{.*\"\\$schema\"\\s*:\\s*\"https://www\\.speedscope\\.app.*",
			"a profile for speedscope, which has call stacks, and no addresses", Door.EVENTS),
	FIREFOX("\\s*\\{\\s*\"meta\"\\s*:\\s*\\{.*\"preprocessedProfileVersion\".*", "a profile of the Firefox Profiler", Door.EVENTS),
	NUMAPROF("\\s*\\{.*\"numaprof\".*", "a profile of numaprof, which has sums by site and thread, and neither addresses nor times",
			Door.RECORD),
	ETW("\\s*BeginHeader\r?\n.*|.{1,40}Trace Name.*xperf.*", "an event trace of Windows", Door.EVENTS),
	NSYS_REPORT("\\s*\\x00?.{0,16}QDSTRM.*|.{0,64}NVIDIA Nsight Systems.*", "a report of Nsight Systems",
			"make SQLite of it by 'nsys export --type sqlite'"),
	VTUNE("\\s*(Source (File|Function)|Function|Memory Object|Module)[^\n]*(CPU Time|Loads|Stores|LLC Miss Count)[^\n]*\n.*",
			"a report of VTune, which has sums, and neither addresses nor times", Door.PERF),
	PERF_REPORT("# (To display the perf.data header info|Total Lost Samples|Samples: ).*|={3,}\\s+Trace Event Information\\s+={3,}.*",
			"a report of perf, which has sums", "import perf.data itself"),
	FOLDED("([^\n;]{1,400};)+[^\n;]{1,400} \\d{1,18}\n.*", "a list of folded stacks, which has sums, and neither addresses nor times",
			Door.CLOCK),
	PARQUET("PAR1.*", "one table in Parquet", "open the folder that 'memtrace export --format parquet' wrote, or write accesses as CSV ("
			+ Door.PAGE + ")"),
	ARROW("ARROW1\0\0.*|\u00ff\u00ff\u00ff\u00ff.{3}\0.{4,8}\n.*", "a table in Arrow", Door.CSV),
	OTF1("OTF\\d.*|\\d+\\*.{0,20}DEFTIMERRESOLUTION.*|T[0-9a-f]+\nDTR[0-9a-f]+\n.*", "an archive of OTF 1", Door.OTF2),
	LTTNG_INDEX("\u00c1\u00f1\u00dc\u00c1.*", "an index, or a stream, of a CTF trace", "import its folder, the one with the file metadata"),
	CTF_STREAM("\u00c1\u001f\u00fc\u00c1.*|\u00c1\u00fc\u001f\u00c1.*", "a stream of a CTF trace",
			"import its folder, the one with the file metadata"),
	TRACE_DAT("\u0017\bDtracing.*", "a file of trace-cmd", "make text of it by 'trace-cmd report' if it has damon_aggregated, or record with perf"),
	PROGRAM("\u007fELF.*", "a program or a library", "record a run of it by 'memtrace record'"),
	XZ("\u00fd7zXZ\0.*", "compressed by xz", "unpack it by 'xz -d' (gzip and zstd need not be)"),
	BZIP2("BZh[1-9]1AY&SY.*", "compressed by bzip2", "unpack it by 'bzip2 -d' (gzip and zstd need not be)"),
	LZ4("\u0004\"M\u0018.*", "compressed by lz4", "unpack it by 'lz4 -d' (gzip and zstd need not be)"),
	ZIP("PK\u0003\u0004.*", "a zip archive", "unpack it and import what is in it"),
	TAR(".{257}ustar.*", "a tar archive", "unpack it and import what is in it"),
	CORE("!<arch>\n.*", "a static library", "record a program that has it by 'memtrace record'");

	/** Sentences that several formats share. */
	private static final class Door {
		private static final String PAGE = "docs/reference/accesses-csv.md";
		private static final String RECORD = "'memtrace record' tells what is allocated and who uses it";
		private static final String EVENTS = "write its events as CSV (docs/reference/input-events.md), or as JSON of Chrome's trace viewer";
		private static final String CSV = "make CSV of it (" + PAGE + ")";
		private static final String CLOCK = "import a perf.data, which has the time of each sample";
		private static final String PERF = "'perf mem record' tells the same samples with address and time, or make CSV of them (" + PAGE + ")";
		private static final String OTF2 = "let the tool write a trace as OTF2, and import that";
	}

	private static final int FEW = 4096;
	private final Pattern beginning;
	private final String what;
	private final String door;

	OtherFormat(String beginning, String what, String door) {
		this.beginning = Pattern.compile(beginning, Pattern.DOTALL);
		this.what = what;
		this.door = door;
	}

	/** Rest of a sentence about a file: what it is, and what to do; empty when it is none of these. */
	public static Optional<String> sentence(String head) {
		String first = head.length() > FEW ? head.substring(0, FEW) : head;
		return Arrays.stream(values()).filter(f -> f.beginning.matcher(first).matches()).findFirst()
				.map(f -> "is " + f.what + "; it is not imported: " + f.door);
	}

	/** The same of a folder, by the names in it. */
	public static Optional<String> sentence(Path folder) {
		if (has(folder, "profile.db") && has(folder, "meta.db") || has(folder, "experiment.xml")) {
			return Optional.of("is a database of HPCToolkit; it is not imported: " + Door.OTF2);
		}
		if (has(folder, "profile.cubex")) {
			return Optional.of("has a profile of Score-P, and no trace; run the program with SCOREP_ENABLE_TRACING=true, and import that");
		}
		if (has(folder, "profile.0.0.0")) {
			return Optional.of("has a profile of TAU; it is not imported: " + Door.OTF2);
		}
		for (String raw : List.of("raw/modules.log", "trace/cpu_schedule.bin.zip", "trace/serial_schedule.bin.gz")) {
			if (has(folder, raw)) {
				return Optional.of("is a trace of DynamoRIO's drmemtrace; make text of it by 'drrun -t drmemtrace -tool view', and then CSV: "
						+ "examples/accesses/drmemtrace.py");
			}
		}
		return Optional.empty();
	}

	private static boolean has(Path folder, String name) {
		return Files.isRegularFile(folder.resolve(name));
	}
}
