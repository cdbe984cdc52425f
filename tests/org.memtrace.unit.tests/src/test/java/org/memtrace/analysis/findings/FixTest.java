// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.analysis.findings.facts.ProgramCommand;
import org.memtrace.analysis.findings.rules.Fix;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.StructureKind;

/** When a fix has code and a command, and what its words say; releng/check-fixes.sh tries the code itself. */
class FixTest {
	private static final int INTERVALS = 20;
	private static final String MEMBERS = "24;0 8 hits long;8 8 misses long;16 8 limit long";

	/** 80 short blocks of a thread, of {@code pages} or up to {@code more} pages more; the first {@code touched} of each are written. */
	private static PlantedTrace frames(int pages, int more, int touched, int threads) {
		PlantedTrace t = new PlantedTrace(threads, INTERVALS);
		for (int b = 0; b < 80; b++) {
			int size = pages + (more == 0 ? 0 : b % (more + 1));
			long birth = b * 200L;
			int s = t.structure("frame #" + b, StructureKind.HEAP, 0x30000000L, (long) size * PlantedTrace.PAGE, birth, birth + 150, 0);
			for (int p = 0; p < (touched == 0 ? size : touched); p++) {
				t.write(s, p, (int) (birth / PlantedTrace.INTERVAL), 0);
			}
			t.site(s, "/src/work.c:7");
		}
		t.start("worker");
		return t;
	}

	private static Fix fix(PlantedTrace t) throws MemtraceException {
		List<Finding> found = t.advise().findings();
		assertEquals(1, found.size());
		return found.get(0).fix();
	}

	private static void sites(PlantedTrace t, String site) {
		for (int s = 0; s < 80; s++) {
			t.site(s, site);
		}
	}

	/** Threads that each write a member of one structure. */
	private static PlantedTrace members(StructureKind kind, String type, String members) {
		PlantedTrace t = new PlantedTrace(2, INTERVALS);
		int s = t.structure("counters", kind, 1);
		for (int i = 0; i < INTERVALS; i++) {
			t.access(s, 0, i, 0, 1, 1, 0, 0);
			t.access(s, 0, i, 1, 1, 1, 8, 8);
		}
		t.site(s, "/src/work.c:7");
		t.type(s, type, members);
		t.start("worker");
		return t;
	}

	/** Pages that one thread writes first and others use. */
	private static PlantedTrace field(StructureKind kind, String site, boolean written) {
		PlantedTrace t = new PlantedTrace(4, INTERVALS);
		int s = t.structure("field", kind, 64);
		for (int p = 0; p < 64; p++) {
			for (int i = 0; i < INTERVALS; i++) {
				int thread = i == 0 ? 0 : t.owner(p, 64);
				if (written) {
					t.write(s, p, i, thread);
				} else {
					t.read(s, p, i, thread);
				}
			}
		}
		t.site(s, site);
		t.start("OpenMP worker");
		return t;
	}

	@Test
	void aCaseThatWasTriedHasCode() throws MemtraceException {
		Fix f = fix(frames(64, 0, 0, 2));
		assertEquals("// at the top of the file that has main:\n#include <malloc.h>\n// as the first statements of main:\nmallopt(M_MMAP_MAX, 0);\n"
				+ "mallopt(M_TRIM_THRESHOLD, 67108864);\n", f.code());
		assertEquals("keep,c,posix,heap,equal", f.tested());
		assertEquals("GLIBC_TUNABLES=glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=67108864 ./work", f.command());
		assertTrue(f.words().startsWith("All 80 blocks of frame (work.c:7) have 256 KiB: keep one buffer of 256 KiB for each thread. In this recording no"
				+ " thread had two of them at a time;"), f.words());
		assertEquals("keep,c,none,heap,equal", fix(frames(64, 0, 0, 1)).tested());
	}

	@Test
	void allSizesOfThePlaceAreTold() throws MemtraceException {
		Fix f = fix(frames(64, 8, 0, 2));
		assertTrue(f.words().startsWith("The 80 blocks of frame (work.c:7) have 256 KiB to 288 KiB: keep one buffer of the largest size, 288 KiB, for each"
				+ " thread, or let it grow when a larger one is needed."), f.words());
		assertEquals("keep,c,posix,heap,several", f.tested());
		assertFalse(f.text().matches("(?s).*\\bmalloc\\(.*"), f.text());
		assertTrue(fix(frames(64, 0, 0, 1)).words().startsWith("All 80 blocks of frame (work.c:7) have 256 KiB: keep one buffer of 256 KiB. "));
	}

	@Test
	void blocksThatAThreadHasTogetherAreTold() throws MemtraceException {
		PlantedTrace t = frames(64, 0, 0, 2);
		t.structure("frame #80", StructureKind.HEAP, 0x38000000L, 64L * PlantedTrace.PAGE, 10, 500, 0);
		t.site(80, "/src/work.c:7");
		assertTrue(fix(t).words().contains("A thread had up to 2 of them at a time: it needs as many."), fix(t).words());
	}

	/** The allocator has small blocks anyway, and clears what it keeps for calloc. */
	@Test
	void theAllocatorKeepsNotAllBlocks() throws MemtraceException {
		for (PlantedTrace t : List.of(frames(31, 0, 0, 2), frames(64, 0, 4, 2))) {
			Fix f = fix(t);
			assertEquals("", f.code() + f.command(), f.words());
			assertTrue(f.words().contains("keep one buffer"), f.words());
		}
		assertFalse(fix(frames(32, 0, 0, 2)).code().isEmpty());
		assertFalse(fix(frames(64, 0, 8, 2)).code().isEmpty());
	}

	/** A language that nobody tried, an unknown one, and two that contradict each other: words. */
	@ParameterizedTest
	@ValueSource(strings = {"/src/main.rs:9", "/src/main.go:9",
		"/src/job.py:9", "/src/Job.java:9", "/src/job.js:9", "/src/job.f90:9", "/src/job.h:9",
		"/src/job.zig:9", "job", ""})
	void otherLanguagesHaveWords(String site) throws MemtraceException {
		PlantedTrace t = frames(64, 0, 0, 2);
		sites(t, site);
		Fix f = fix(t);
		assertEquals("", f.code() + f.tested());
		assertTrue(f.words().contains("keep one buffer of 256 KiB for each thread"), f.words());
		assertFalse(f.words().contains("the code"), f.words());
		t = field(StructureKind.HEAP, site, true);
		f = fix(t);
		assertEquals("", f.code());
		assertEquals(site.endsWith("f90:9"), f.words().contains("!$omp"), f.words());
		assertFalse(f.words().contains("#pragma"), f.words());
	}

	@Test
	void filesOfTwoLanguagesHaveWords() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(2, INTERVALS);
		t.code(0x1000, "fill", "/src/work.rs", 3);
		t.start("worker");
		for (int b = 0; b < 80; b++) {
			int s = t.structure("frame #" + b, StructureKind.HEAP, 0x30000000L, 64L * PlantedTrace.PAGE, b * 200L, b * 200L + 150, 0);
			for (int p = 0; p < 64; p++) {
				t.write(s, p, b / 5, 0);
			}
		}
		sites(t, "/src/work.c:7");
		assertEquals("", fix(t).code());
		sites(t, "/src/work.rs:7");
		assertEquals("", fix(t).code());
	}

	/** The memory of a program that an interpreter runs is not told by the files that allocate it. */
	@ParameterizedTest
	@ValueSource(strings = {"/usr/bin/python3", "/usr/bin/python3.11", "/opt/node", "/usr/lib/jvm/bin/java",
		"/usr/bin/ruby3.1", "/usr/bin/julia"})
	void interpretersHaveWords(String executable) throws MemtraceException {
		PlantedTrace t = frames(64, 0, 0, 2);
		t.properties.put("executable", executable);
		assertEquals("", fix(t).code());
		t.properties.put("executable", "/home/u/pythonic");
		assertFalse(fix(t).code().isEmpty());
	}

	@ParameterizedTest
	@CsvSource({"worker, keep/c/posix/heap/equal", "OpenMP worker, keep/c/openmp/heap/equal", "'', ''",
		"std::execute_native_thread_routine, ''",
		"std::sys::thread_start, ''"})
	void threadsAreAsked(String start, String tested) throws MemtraceException {
		PlantedTrace t = frames(64, 0, 0, 2);
		t.start(start);
		assertEquals(tested.replace('/', ','), fix(t).tested());
	}

	/** What lies in a mapping may be a file; what is only read is not written for the sake of its place. */
	@Test
	void mappedFilesAndReadOnlyMemoryAreNotWritten() throws MemtraceException {
		Fix f = fix(field(StructureKind.MMAP, "/src/work.c:7", true));
		assertEquals("", f.code());
		assertTrue(f.words().startsWith("Let each thread read its own part of field")
				&& f.words().contains("If field is a mapped file, do not write to it"),
				f.words());
		assertEquals(List.of(), field(StructureKind.HEAP, "/src/work.c:7", false).advise().findings(), "placed before the recording");
	}

	/** A constructor, or a vector, writes all in one thread: what writes it once more is slower. */
	@Test
	void constructorsAreNamed() throws MemtraceException {
		PlantedTrace t = field(StructureKind.HEAP, "/src/work.cpp:7", true);
		t.type(0, "Field[8192]");
		Fix f = fix(t);
		assertEquals("", f.code());
		assertTrue(f.words().startsWith("If field (work.cpp:7) is a std::vector or comes from new, the constructor of Field writes all of it:")
				&& f.words().contains("To write it once more is slower. If not: divide the loop"), f.words());
		t = field(StructureKind.HEAP, "/src/work.cpp:7", true);
		t.type(0, "double[8192]");
		assertTrue(fix(t).words().startsWith("If field (work.cpp:7) is a std::vector, the thread that makes it, or resizes it,"), fix(t).words());
		assertTrue(fix(field(StructureKind.STATIC, "/src/work.cpp:7",
				true)).words().startsWith("Divide the loop that first writes field as the loop that"
				+ " uses field: put '#pragma omp parallel for schedule(static)' before it"));
		assertTrue(fix(field(StructureKind.HEAP, "/src/work.f90:7",
				true)).words().contains("put '!$omp parallel do schedule(static)' before it"));
	}

	@Test
	void membersAreMovedApart() throws MemtraceException {
		String room = "unsigned : 32" + ", : 32".repeat(15) + ";\n";
		Fix f = fix(members(StructureKind.STATIC, "struct counter", MEMBERS));
		assertEquals("// in the declaration of counter, before misses:\n" + room + "// in the declaration of counter, before limit:\n"
				+ room, f.code());
		assertEquals("apart,c,posix,static,one", f.tested());
		assertTrue(f.words().startsWith("Keep hits and misses of struct counter 64 bytes or more apart"), f.words());
		// what follows the members is moved, too; what lies before the first one stays away
		f = fix(members(StructureKind.STATIC, "struct counter", "16;0 8 hits long;8 8 misses long"));
		assertEquals("// in the declaration of counter, before misses:\n" + room, f.code());
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			HEAP   | struct counter   | 24;0 8 hits long;8 8 misses long;16 8 limit long
			MMAP   | struct counter   | 24;0 8 hits long;8 8 misses long;16 8 limit long
			STATIC | union counter    | 24;0 8 hits long;8 8 misses long;0 24 all long[3]
			STATIC | struct counter   | 24;0 8 hits long;8 8 misses long;16 8 in.limit long
			STATIC | struct counter   | 24;0 8 in.hits long;8 8 in.misses long;16 8 limit long
			STATIC | struct counter   | 24;0 8 hits long;8 8 misses
			STATIC | type counter     | 24;0 8 hits integer(kind=8);8 8 misses integer(kind=8)
			STATIC | struct pair[256] | 8;0 8 hits long
			""")
	void otherMembersHaveWords(String kind, String type, String members) throws MemtraceException {
		PlantedTrace t = members(StructureKind.valueOf(kind), type, members);
		if (type.startsWith("type")) {
			t.site(0, "/src/work.f90:7");
		}
		Fix f = fix(t);
		assertEquals("", f.code());
		assertTrue(f.words().contains("64 bytes"), f.words());
	}

	/** A command for nodes helps only where there are several. */
	@Test
	void commandsForNodesNeedNodes() throws MemtraceException {
		PlantedTrace t = exchange();
		assertEquals("", fix(t).command());
		t = exchange();
		t.properties.put("numa_nodes", "2");
		assertEquals("numactl --interleave=all ./work", fix(t).command());
		t.properties.put("command", "mpirun -n 2 ./work");
		assertEquals("", fix(t).command());
		assertTrue(fix(t).words().endsWith("put 'numactl --interleave=all' before the program in the command of mpirun."), fix(t).words());
	}

	/** All threads use and write all pages. */
	private static PlantedTrace exchange() {
		PlantedTrace t = new PlantedTrace(4, INTERVALS);
		int s = t.structure("exchange", StructureKind.HEAP, 32);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 32; p++) {
				for (int k = 0; k < 4; k++) {
					t.access(s, p, i, k, 1, 1, 8 * ((i + k) % 5), 8 * ((i + k) % 5));
				}
			}
		}
		return t;
	}

	@Test
	void commandsStartTheRecordedProgram() {
		assertEquals("A=1 ./app 'two words'", ProgramCommand.with("A=1", Map.of("command", "./app 'two words'")));
		assertEquals("A=1 PROGRAM", ProgramCommand.with("A=1", Map.of()));
		for (String starter : List.of("mpirun -n 4 ./app", "/usr/bin/srun ./app", "sudo ./app", "ssh node ./app")) {
			assertEquals("", ProgramCommand.with("A=1", Map.of("command", starter)), starter);
		}
		assertEquals("A=1 ./mpirun-not", ProgramCommand.with("A=1", Map.of("command", "./mpirun-not")));
		// of a rank, the launcher stood before the recorder
		assertEquals("mpirun -n 4 numactl -i all ./app", ProgramCommand.with("numactl -i all", Map.of("command", "./app",
				"job_launcher", "Open MPI",
				"job_size", "4")));
		assertEquals("srun env A=1 ./app", ProgramCommand.with("A=1", Map.of("command", "./app", "job_launcher", "Slurm")));
	}

	/** What the table promises, the suite can try: its programs are there, and each case has one line. */
	@Test
	void theTableNamesPrograms() throws Exception {
		Path root = Path.of(System.getProperty("memtrace.root"));
		List<String[]> lines = Files.readAllLines(root.resolve("org.memtrace.analysis/src/org/memtrace/analysis/findings/rules/fixes.csv")).stream()
				.filter(l -> !l.isBlank() && !l.startsWith("#")).map(l -> l.split(",", -1)).toList();
		for (String[] l : lines) {
			assertEquals(8, l.length, String.join(",", l));
			assertTrue(Files.exists(root.resolve("examples/fixes").resolve(l[5])), l[5]);
			assertTrue(List.of("-", "keep", "apart").contains(l[0]), l[0]);
		}
		assertEquals(lines.size(), lines.stream().map(l -> String.join(",", l)).distinct().count());
	}
}
