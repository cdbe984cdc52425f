// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.memtrace.importer.AccessLines;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.ImportTest;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/** Accesses as CSV; the scripts of examples/accesses, whose counts are those of the tool. */
class AccessCsvReaderTest extends ImportTest {
	private static final String HEAD = "time_us,thread,address,bytes,access,cpu,node,latency,level,structure,source,function\n";
	private static final String ROWS = HEAD + "1,7,0x601000,8,read,2,1,300,remote DRAM,grid,solve.c:12,solve\n"
			+ "2.5,7,0x601040,8,write,2,1,,,grid,solve.c:13,solve\n" + "3,8,0x601ffc,8,store,70,0,,L1,grid,,\n"
			+ "4,8,0x700000,,,,,,,halo,a.c:1,f\n" + "30000,8,0x700000,4,rw,,,,,halo,a.c:1,f\n";

	private List<String> accesses(ImportReport report) throws MemtraceException {
		return AccessLines.of(catalogue, report);
	}

	@Test
	void allColumns() throws Exception {
		ImportReport report = read(file("a.csv", ROWS));
		assertEquals(List.of("601000 r1 w0 t7 n1 s2 grid [0,20000000) REMOTE_MEMORY 300", //
				"601040 r0 w1 t7 n1 s2 grid [0,20000000) 0", //
				"601ffc r0 w1 t8 n0 s2 grid [0,20000000) L1 0", //
				"602000 r0 w1 t8 n0 s0 grid [0,20000000) L1 0", //
				"700000 r1 w0 t8 n-1 s0 halo [0,20000000) 0 ?", //
				"700000 r1 w1 t8 n-1 s0 halo [20000000,40000000) 0"), accesses(report));
		assertEquals("sampled", report.trace().properties().get("guarantee_counts"));
		assertEquals(List.of(), report.warnings());
	}

	@Test
	void whatCannotBeUsedIsCountedWithItsReason() throws Exception {
		ImportReport report = read(file("a.csv",
				ROWS + "1,7,601000,8,read,2,1,,,,,\n" + "1,7,0x1,0,read,,,,,,,\n" + "1,7,0x1,8,maybe,,,,,,,\n" + "x,7,0x1,8,read,,,,,,,\n"
						+ "1,7,0xffff888000000000,8,read,,,,,,,\n" + "-5,7,0x1,8,read,,,,,,,\n" + "9e30,7,0x1,8,read,,,,,,,\n"
						+ "1,-2,0x1,8,read,,,,,,,\n" + "1,7,0x1,8,read,,,,warp drive,,,\n" + "1,7,0x1,8\n"));
		String text = report.toText();
		for (String line : List.of("1: address or ip that does not begin with 0x", "1: access of less than 1 byte or more than 1 MiB",
				"1: access that is neither read nor write", "1: not a number", "1: an address of the kernel", "2: time out of range",
				"1: negative thread, process, CPU or node", "1: wrong number of columns", "1 accesses have a level of memory that is not known")) {
			assertTrue(text.contains(line), line + " is not in " + text);
		}
		assertThrows(MemtraceException.class, () -> new ImportOperation(List.of(directory.resolve("a.csv")), System.in, catalogue::create)
				.setStrict(true).call(Progress.NONE));
	}

	@Test
	void structuresThatLieInEachOtherAreTold() throws Exception {
		ImportReport report = read(file("a.csv", "time_ns,thread,address,structure,shape\n1,1,0x1000,a,\n2,1,0x9000,a,\n3,1,0x5000,b,\n"));
		assertTrue(report.toText().contains("1 structure lies between the first and the last access of another one"), report.toText());
		assertTrue(report.toText().contains("its column shape is not known and not kept"), report.toText());
	}

	@Test
	void anyBytesAreATraceOrOneSentence() throws Exception {
		Random random = new Random(5);
		for (int i = 0; i < 300; i++) {
			byte[] bytes = ROWS.getBytes(StandardCharsets.UTF_8);
			for (int k = random.nextInt(8); k >= 0; k--) {
				bytes[HEAD.length() + random.nextInt(bytes.length - HEAD.length())] = (byte) "\n,\"0x9-\u00ff".charAt(random.nextInt(8));
			}
			try {
				assertTrue(read(Files.write(directory.resolve("a.csv"), bytes)).trace().events() > 0);
			} catch (MemtraceException e) {
				assertTrue(e.getMessage().contains("a.csv"), e.getMessage());
			}
		}
	}

	@Test
	void canBeCancelled() {
		InputStream endless = new InputStream() {
			private final byte[] head = "time_ns,thread,address\n".getBytes(StandardCharsets.UTF_8);
			private final byte[] row = "5,1,0x1000\n".getBytes(StandardCharsets.UTF_8);
			private int at;

			@Override
			public int read() {
				int i = at++;
				return i < head.length ? head[i] : row[(i - head.length) % row.length];
			}
		};
		int[] asked = { 0 };
		Progress cancelled = new Progress() {
			@Override
			public void begin(String step, long total) {
				// nobody looks
			}

			@Override
			public void worked(long units) {
				// nobody looks
			}

			@Override
			public boolean isCancelled() {
				return ++asked[0] > 50;
			}
		};
		assertThrows(CancelledException.class, () -> new ImportOperation(List.of(Path.of("-")), endless, catalogue::create).call(cancelled));
	}

	private Path script(String name, Path in, String out, String... arguments) throws Exception {
		Path script = Path.of(System.getProperty("memtrace.root"), "examples/accesses", name);
		List<String> command = new ArrayList<>(List.of("python3", script.toString()));
		command.addAll(List.of(arguments));
		Path to = directory.resolve(out);
		Process process = new ProcessBuilder(command).redirectInput(in.toFile()).redirectOutput(to.toFile())
				.redirectError(ProcessBuilder.Redirect.INHERIT).start();
		assertEquals(0, process.waitFor());
		return to;
	}

	/** Reads and writes of a program as Valgrind's lackey counts them: not one more or less. */
	@Test
	void allOfLackey() throws Exception {
		assumeTrue(Files.isExecutable(Path.of("/usr/bin/valgrind")), "no Valgrind");
		Path log = directory.resolve("true.lackey");
		Process process = new ProcessBuilder("/usr/bin/valgrind", "--tool=lackey", "--trace-mem=yes", "--log-file=" + log, "/bin/true").start();
		assumeTrue(process.waitFor() == 0, "Valgrind does not run");
		String refused = assertThrows(MemtraceException.class, () -> read(log)).getMessage();
		assertTrue(refused.contains("examples/accesses/lackey.py"), refused);
		long reads = 0;
		long writes = 0;
		for (String line : Files.readAllLines(log)) {
			String[] parts = line.startsWith(" L ") || line.startsWith(" S ") || line.startsWith(" M ") ? line.substring(3).split(",") : null;
			if (parts != null) {
				long address = Long.parseLong(parts[0].strip(), 16);
				int pages = (int) ((address + Integer.parseInt(parts[1]) - 1 >> 12) - (address >> 12)) + 1;
				reads += line.charAt(1) == 'S' ? 0 : pages;
				writes += line.charAt(1) == 'L' ? 0 : pages;
			}
		}
		ImportReport report = read(script("lackey.py", log, "true.csv"));
		assertTrue(reads > 1000 && report.toText().contains(String.format("reads                 %,d ", reads)), report.toText());
		assertTrue(report.toText().contains(String.format("writes                %,d ", writes)), report.toText());
		assertEquals("exact", report.trace().properties().get("guarantee_counts"));
		assertEquals("tick", report.trace().properties().get("time_unit"));
	}

	/** Lines as the view of drmemtrace prints them; the text stands in its documentation. */
	@Test
	void theViewOfDrmemtrace() throws Exception {
		Path view = file("view.txt", """
				Output format:
				<--record#-> <--instr#->: <---tid---> <record details>
				------------------------------------------------------------
				           1           0:     3256418 <marker: version 3>
				          12           1:     3256418 ifetch       3 byte(s) @ 0x00007f6fdd3ec2d0 non-branch
				          13           1:     3256418 write        8 byte(s) @ 0x00007ffd2af2f5a8 by PC 0x00007f6fdd3ec2d3
				          14           2:     3256419 read         4 byte(s) @ 0x00007ffd2af2f5a8 by PC 0x00007f6fdd3ec2d8
				View tool results:
				""");
		assertTrue(assertThrows(MemtraceException.class, () -> read(view)).getMessage().contains("drmemtrace.py"));
		assertEquals(List.of("7ffd2af2f5a8 r0 w1 t3256418 n-1 s2 - [0,10000) 0", "7ffd2af2f5a8 r1 w0 t3256419 n-1 s2 - [0,10000) 0"),
				accesses(read(script("drmemtrace.py", view, "view.csv"))));
	}

	/** Columns of another tool, here those of Mitos (MemAxes). */
	@Test
	void columnsOfOtherNames() throws Exception {
		Path in = file("mitos.csv", """
				source,line,instruction,ip,variable,buffer_size,dims,xidx,yidx,zidx,pid,tid,time,addr,cpu,latency,level,type
				solve.c,12,,401136,grid,0,1,0,0,0,99,100,5000,7ffd00001000,3,230,L3,0
				""");
		assertEquals(List.of("7ffd00001000 r1 w0 t100 n-1 s1 grid [0,20000000) L3 230"), accesses(read(script("columns.py", in, "a.csv",
				"pid=process", "tid=thread", "time=time_ns", "addr=address", "ip=ip", "latency=latency", "level=level", "variable=structure",
				"cpu=cpu", "access:read"))));
	}
}
