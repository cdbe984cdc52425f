// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.model.CallFrame;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.MemoryArea;
import org.memtrace.model.memory.StructureKind;

/** What programs without a fault do, and no rule may tell. */
class QuietTest {
	private static final int INTERVALS = 20;

	private static List<String> said(PlantedTrace t) throws MemtraceException {
		return t.advise().findings().stream().map(f -> f.rule() + " " + f.name()).toList();
	}

	private static CallFrame frame(String text) {
		String[] f = text.strip().split(" ", -1);
		return new CallFrame(0x1000, f[0], f.length > 1 ? f[1] : "", f.length > 2 ? f[2] : "", f.length > 2 ? 9 : 0);
	}

	/** One thread touches it first, and others use it: told when somebody could change that. Frames from the allocation on. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			MMAP | told | /home/me/work main work.c
			HEAP | told | /home/me/work
			HEAP | told | /lib/x86_64-linux-gnu/libc.so.6 sysmalloc; /home/me/work fill
			HEAP | told | /home/me/libsolver.so grid grid.c; /usr/bin/python3.11
			HEAP | told | /opt/app/bin/work; /usr/lib/libc.so.6
			HEAP | told | /usr/local/bin/work
			HEAP | not  | /home/me/libsolver.so grid; /usr/bin/python3.11
			HEAP | not  | /usr/bin/xz
			HEAP | not  | /root/.pyenv/versions/3.11.7/lib/libpython3.11.so.1.0 list_resize listobject.c; /root/.pyenv/versions/3.11.7/bin/python3.11
			HEAP | not  | /home/me/venv/lib/python3.11/site-packages/_duckdb.cpython-311-x86_64-linux-gnu.so
			HEAP | not  | /opt/node/bin/node
			HEAP | not  | /opt/openmpi/lib/libopen-rte.so.40.30.2 f rte.c; /opt/openmpi/bin/mpirun
			MMAP | not  | /opt/jdk/lib/server/libjvm.so os::pd_reserve_memory(char*) os.cpp; /opt/jdk/bin/java
			MMAP | not  | /home/me/work runtime.sysReserve malloc.go; /home/me/work runtime.mallocinit
			MMAP | not  | /home/me/work x_cgo_mmap
			MMAP | not  | /home/me/work os_pages_map pages.c; /home/me/work _rjem_je_pages_map pages.c; /home/me/work work::main main.rs
			MMAP | not  | /home/me/work mi_os_alloc os.c; /home/me/work main work.c
			HEAP | told | /home/me/work pages_map work.c
			HEAP | not  | /lib/x86_64-linux-gnu/libmpi.so.40 ompi_coll_base_allreduce; /lib/x86_64-linux-gnu/libmpi.so.40 PMPI_Allreduce; /home/me/work main work.c
			HEAP | not  | /lib/libc.so.6 opendir; /opt/openmpi/lib/openmpi3/mca_pml_ob1.so add; /opt/lib/libmpi.so.40 PMPI_Init; /home/me/work main
			HEAP | told | /lib/x86_64-linux-gnu/libmpi.so.40 mca_mpool_base_alloc; /lib/x86_64-linux-gnu/libmpi.so.40 PMPI_Alloc_mem; /home/me/work main
			HEAP | told | /home/me/work main._omp_fn.0 work.c; /lib/x86_64-linux-gnu/libgomp.so.1 gomp_thread_start
			HEAP | told | /lib/x86_64-linux-gnu/libstdc++.so.6 operator_new; /home/me/work main
			""")
	void onlyWhatItsUserCanChangeIsTold(StructureKind kind, String told, String frames) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(4, INTERVALS);
		int s = t.structure("field", kind, 64);
		t.stack(s, Arrays.stream(frames.split(";")).map(QuietTest::frame).toList());
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 64; p++) {
				t.write(s, p, i, i == 0 ? 0 : t.owner(p, 64));
			}
		}
		Advisor advisor = t.advise();
		assertEquals(told.equals("told") ? List.of("first-touch field") : List.of(), said(t));
		assertEquals(told.equals("told") ? 0 : 1, advisor.notJudged());
		assertEquals(!told.equals("told"), AdviceText.text(advisor).contains("100 % of its records are to memory of installed programs"));
	}

	/** Arenas: each thread maps one for itself, or one thread maps one for all and they use what they get; the work is uneven. */
	@ParameterizedTest
	@ValueSource(strings = {"arena of each", "items that are handed on", "rows", "one array"})
	void unevenWorkIsToldOfDividedMemoryOnly(String kind) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(4, INTERVALS);
		int blocks = kind.equals("one array") ? 1 : kind.startsWith("items") ? 40 : 8;
		int pages = 320 / blocks;
		for (int b = 0; b < blocks; b++) {
			boolean brief = kind.startsWith("items");
			int user = b * 4 / blocks;
			long birth = brief ? b % 4 * 5 * PlantedTrace.INTERVAL : 0;
			int s = t.structure("data" + (b == 0 ? "" : " #" + (b + 1)), StructureKind.HEAP, 0x30000000L + b * 0x1000000L,
					(long) pages * PlantedTrace.PAGE, birth, brief ? birth + 5 * PlantedTrace.INTERVAL : Long.MAX_VALUE,
					kind.startsWith("arena") ? user : 0);
			for (int i = (int) (birth / PlantedTrace.INTERVAL); i < (brief ? birth / PlantedTrace.INTERVAL + 5 : INTERVALS); i++) {
				for (int p = 0; p < pages; p++) {
					int k = blocks == 1 ? t.owner(p, pages) : user;
					t.access(s, p, i, k, k == 2 ? 20 : 1, 1, 0, 0);
				}
			}
		}
		assertEquals(kind.equals("rows") || blocks == 1 ? List.of("imbalance data") : List.of(), said(t));
	}

	/** A table that is visited at random: each page is seen once or twice, and whoever comes then is alone. */
	@ParameterizedTest
	@ValueSource(booleans = {false, true})
	void randomVisitsAreNoOtherDistribution(boolean oneToucher) throws MemtraceException {
		for (long seed = 1; seed <= 20; seed++) {
			Random random = new Random(seed);
			PlantedTrace t = new PlantedTrace(4, INTERVALS);
			int s = t.structure("hash", StructureKind.HEAP, 512);
			for (int p = 0; p < 512; p++) {
				t.write(s, p, 0, oneToucher ? 0 : random.nextInt(4));
				for (int n = 1 + random.nextInt(2); n > 0; n--) {
					t.write(s, p, 1 + random.nextInt(INTERVALS - 1), random.nextInt(4));
				}
			}
			assertEquals(List.of(), said(t), "seed " + seed);
		}
	}

	/** As few visits, but each thread has a part: that is a distribution. */
	@Test
	void aPartOfEachThreadIsSeenInOneVisit() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(4, INTERVALS);
		int s = t.structure("grid", StructureKind.HEAP, 512);
		for (int p = 0; p < 512; p++) {
			t.write(s, p, 0, (t.owner(p, 512) + 1) % 4);
			t.write(s, p, 1 + p % 19, t.owner(p, 512));
		}
		assertEquals(List.of("remote-mapping grid"), said(t));
	}

	/** A pipeline: one thread fills a buffer again and again, or a new block for each, and others read what is in it. */
	@ParameterizedTest
	@ValueSource(booleans = {false, true})
	void handingOnIsNoFirstTouch(boolean blocks) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(4, INTERVALS);
		List<Integer> all = new ArrayList<>();
		for (int b = 0; b < (blocks ? 60 : 1); b++) {
			long birth = blocks ? b / 15 * 5 * PlantedTrace.INTERVAL : 0;
			all.add(t.structure("input" + (b == 0 ? "" : " #" + (b + 1)), StructureKind.HEAP, 0x30000000L + b * 0x100000L, 60L / (blocks ? 15 : 1)
					* PlantedTrace.PAGE, birth, blocks ? birth + 5 * PlantedTrace.INTERVAL : Long.MAX_VALUE, 0));
		}
		for (int b = 0; b < all.size(); b++) {
			int from = blocks ? b / 15 * 5 : 0;
			for (int i = from; i < (blocks ? from + 5 : INTERVALS); i++) {
				for (int p = 0; p < (blocks ? 4 : 60); p++) {
					int reader = 1 + (blocks ? b % 3 : p / 20);
					if (i == from || !blocks && i % 2 == 0) {
						t.access(all.get(b), p, i, 0, 0, 1, -1, 0);
					}
					if (i > from) {
						t.access(all.get(b), p, i, reader, 3, 0, 0, -1);
					}
				}
			}
		}
		assertTrue(said(t).stream().noneMatch(f -> f.startsWith("first-touch") || f.startsWith("remote")), said(t).toString());
	}

	/**
	 * An array that two threads divide: the line in which the part of one ends and that of the other begins has two writers, and is worth
	 * nothing. Elements of each thread in turn that lie across lines are falsely shared, and so is a counter at the end of a part.
	 *
	 * @param bytes of a part; the parts are of the threads in turn
	 * @param hot whether a thread writes the last word of its part in each interval
	 */
	@ParameterizedTest
	@CsvSource({"16008, false, false", "2032, false, false", "528, false, false", "144, false, true", "8, false, true", "24, false, true",
			"16008, true, true", "2032, true, true"})
	void theBorderOfTwoPartsIsNotFalselyShared(int bytes, boolean hot, boolean told) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(2, 200);
		int s = t.structure("m_q", StructureKind.HEAP, 8);
		Random random = new Random(7);
		int parts = 8 * PlantedTrace.PAGE / bytes;
		for (int i = 0; i < 200; i++) {
			for (int part = 0; part < parts; part++) {
				for (int p = part * bytes / PlantedTrace.PAGE; p <= ((part + 1) * bytes - 1) / PlantedTrace.PAGE && p < 8; p++) {
					int from = Math.max(0, part * bytes - p * PlantedTrace.PAGE);
					int to = Math.min(PlantedTrace.PAGE, (part + 1) * bytes - p * PlantedTrace.PAGE);
					// a thread is seen anywhere in its part, and often where it begins; the last word is the hot one
					int offset = hot ? to - 8 : random.nextInt(3) == 0 ? from : from + random.nextInt((to - from) / 8) * 8;
					t.access(s, p, i, part % 2, 1, 1, offset, offset);
					if (hot) {
						t.access(s, p, i, part % 2, 1, 1, from, from);
					}
				}
			}
		}
		assertEquals(told, said(t).stream().anyMatch(f -> f.startsWith("false-sharing")), said(t).toString());
	}

	/**
	 * Lists of elements, each divided between two threads: who comes to a page at the border is not seen in it again, and at the begin of the
	 * next page both are seen. Of an array that is a border; of anything else it is not known, and their samples are elsewhere.
	 */
	@ParameterizedTest
	@ValueSource(strings = {"double[8000]", "struct server", ""})
	void whoEntersAPageAtTheBorderIsNotSeenInItAgain(String type) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(2, 200);
		int s = t.structure("m_q", StructureKind.HEAP, 16);
		t.type(s, type);
		for (int i = 0; i < 200; i++) {
			for (int p = 0; p < 16; p++) {
				if (p != 7 || i % 4 != 0) {
					int offset = p != 7 ? 0 : List.of(0xe10, 0xd78, 0xdd0, 0).get(i / 4 % 4);
					t.access(s, p, i, 0, 1, 1, offset, offset);
				}
				if (p != 7 || i % 2 == 0) {
					int offset = p == 7 ? 0xe20 : 0;
					t.access(s, p, i, 1, 1, 1, offset, offset);
				}
			}
		}
		assertEquals(false, said(t).stream().anyMatch(f -> f.startsWith("false-sharing")), said(t).toString());
	}

	/** Blocks of a function without lines: its own, and those that MPI makes when it is called. */
	@Test
	void blocksOfOneNameAreJudgedByWhoseTheyAre() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(2, INTERVALS);
		int own = t.structure("main", StructureKind.HEAP, 64);
		t.stack(own, List.of(frame("/home/me/work main")));
		for (int b = 2; b < 12; b++) {
			int s = t.structure("main #" + b, StructureKind.HEAP, 600);
			t.stack(s, List.of(frame("/lib/libmpi.so.40 ompi_coll_allreduce"), frame("/home/me/work main")));
		}
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 64; p++) {
				t.write(own, p, i, 0);
			}
		}
		assertEquals(List.of(), said(t));
	}

	/** The main threads of other processes are no team for the memory of one. */
	@ParameterizedTest
	@ValueSource(booleans = {false, true})
	void processesAreNoTeam(boolean oneProcess) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(4, INTERVALS);
		for (int k = 0; k < 4; k++) {
			int image = oneProcess ? 0 : k;
			t.imageOfThread.put(k, image);
			int s = t.structure("rows #" + (k + 1), StructureKind.HEAP, 64);
			t.image(s, image);
			for (int i = 0; i < INTERVALS; i++) {
				for (int p = 0; p < 64; p++) {
					t.access(s, p, i, k, k == 2 ? 20 : 1, 1, 0, 0);
				}
			}
		}
		// read once by all of one process: each of the three others stays alone
		int all = t.structure("table", StructureKind.HEAP, 64);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 64; p++) {
				int k = oneProcess ? t.owner(p, 64) : 0;
				t.access(all, p, i, k, k == 2 ? 20 : 1, 1, 0, 0);
			}
		}
		Advisor advisor = t.advise();
		GroupFacts table = advisor.facts().groups().stream().filter(g -> g.name.equals("table")).findAny().orElseThrow();
		assertEquals(oneProcess ? 4 : 1, table.team.length);
		assertEquals(oneProcess, said(t).stream().anyMatch(f -> f.startsWith("imbalance")), said(t).toString());
	}

	/**
	 * The small blocks of an installed program are not its user's, also where all accesses are made by libraries: its path is that of the
	 * recording, or that of an allocation.
	 */
	@ParameterizedTest
	@CsvSource({"/usr/bin/sqlite3, , 1", "/bin/sh, /usr/bin/sqlite3, 1", "/home/me/sqlite3, , 0", "/bin/sh, /home/me/sqlite3, 0"})
	void smallBlocksAreOfTheProgram(String application, String allocates, double notJudged) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(2, INTERVALS);
		t.application = application;
		int heap = t.structure("heap (small blocks)", StructureKind.BRK, 64);
		t.areas.add(new MemoryArea(0, t.address(heap) - 0x100000, t.address(heap) - 0x90000, "sqlite3 (constants)"));
		if (allocates != null) {
			t.stack(t.structure("block", StructureKind.HEAP, 4), List.of(frame("/lib/libsqlite3.so.0 malloc"), frame(allocates + " main")));
		}
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 64; p++) {
				t.write(heap, p, i, i == 0 ? 0 : t.owner(p, 64));
			}
		}
		assertEquals(notJudged, t.advise().notJudged());
	}

	/** Nobody sees the pages of constants; the tables of an allocator are not the user's. */
	@ParameterizedTest
	@CsvSource({"table, work (data), told", "table, work (constants), not", "_rjem_je_arena_emap_global, work (data), not",
			"arena_emap_global, work (data), not", "je_table, work (data), told", "runtime.mheap_, work (data), not",
			"internal/cpu.X86, work (data), not", "time.zoneSources, work (data), not", "main.grid, work (data), told",
			"core::num::POWERS, work (data), not", "core::num::POWERS, work (constants), not", "table.0, work (data), told"})
	void largeTablesAreToldWhenTheyAreSeen(String name, String area, String told) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(2, INTERVALS);
		t.application = "/home/me/work";
		int s = t.structure(name, StructureKind.STATIC, 600);
		t.areas.add(new MemoryArea(0, t.address(s) - 64, t.address(s) + 600L * PlantedTrace.PAGE, area));
		int other = t.structure("other", StructureKind.HEAP, 8);
		for (int i = 0; i < INTERVALS; i++) {
			t.write(other, i % 8, i, 1);
		}
		assertEquals(told.equals("told") ? List.of("unused " + name) : List.of(), said(t));
	}

	/** Of a library that was loaded later, the map of the start has nothing: whether its tables can be seen is not known. */
	@Test
	void tablesOfLaterLibrariesAreNotJudged() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(2, INTERVALS);
		t.application = "/home/me/work";
		int s = t.structure("icudt72_dat", StructureKind.STATIC, 600);
		int other = t.structure("other", StructureKind.HEAP, 8);
		t.areas.add(new MemoryArea(0, t.address(other), t.address(other) + 8L * PlantedTrace.PAGE, "work (data)"));
		for (int i = 0; i < INTERVALS; i++) {
			t.write(other, i % 8, i, 1);
		}
		assertEquals(List.of(), said(t), "" + s);
	}

	/** Blocks that a pool deals out to two workers change hands from round to round, and some pages in an interval: that is no ping-pong. */
	@ParameterizedTest
	@CsvSource({"1, 0", "4, 0", "64, 1"})
	void blocksOfAPoolAreNoPingPong(int together, int told) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(3, INTERVALS);
		int s = t.structure("blocks", StructureKind.HEAP, 256);
		for (int p = 0; p < 256; p++) {
			t.write(s, p, 0, 0);
		}
		for (int i = 1; i < INTERVALS; i++) {
			for (int p = 0; p < 256; p++) {
				int worker = 1 + (p / 16 * 7 + i * 5 + p / 64 * i) % 2;
				t.write(s, p, i, worker);
				if (p % 64 < together) {
					t.write(s, p, i, 3 - worker);
				}
			}
		}
		assertEquals(told, said(t).stream().filter(f -> f.startsWith("ping-pong")).count(), said(t).toString());
	}
}
