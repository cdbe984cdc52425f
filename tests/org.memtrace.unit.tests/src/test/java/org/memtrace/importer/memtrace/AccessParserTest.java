// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.memtrace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.memtrace.importer.TraceDirectoryBuilder;
import org.memtrace.importer.input.InputFormat;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.rows.CpuSets;
import org.memtrace.importer.rows.RowBatch;
import org.memtrace.importer.rows.RowParser;
import org.memtrace.model.TraceFormatException;

class AccessParserTest {
	private static final String H = TraceDirectoryBuilder.HEADER + "\n";
	private static final String GOOD = "7f0010,0,1,2,3,100,200,42,401000,0,1\n";

	private final CpuSets cpuSets = new CpuSets();
	private SkipCounter skips = new SkipCounter(false);
	private final List<String> rows = new ArrayList<>();
	private long seen;

	private List<String> parse(String text) throws Exception {
		// small reads: lines lie across the ends of what one read returns
		InputStream in = new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1)) {
			@Override
			public synchronized int read(byte[] b, int off, int len) {
				return super.read(b, off, Math.min(len, 7));
			}
		};
		return parse(in);
	}

	private List<String> parse(InputStream in) throws Exception {
		rows.clear();
		AccessParser parser = new AccessParser(new RowParser.Context(cpuSets, skips, 12, 0, full -> {
			for (int i = 0; full != null && i < full.count; i++) {
				rows.add(String.format("%x %d/%d cpus%s %d-%d T%d ip%x node%d flags%x", full.address[i], full.reads[i],
						full.writes[i], full.cpuSet[i] < 0 ? "?" : cpuSets.sets().get(full.cpuSet[i]), full.startNs[i],
						full.endNs[i], full.taskId[i], full.ip[i], full.node[i], full.flags[i]));
			}
			return new RowBatch();
		}));
		parser.parse(in, "f.csv", InputFormat.ACCESSES, () -> 0);
		parser.finish();
		seen = parser.rows();
		return rows;
	}

	@Test
	void readsAllColumns() throws Exception {
		assertEquals(List.of("7f0010 1/2 cpus{0, 1} 100-200 T42 ip401000 node0 flags1"), parse(H + GOOD));
		assertEquals(1, seen);
		assertEquals(0, skips.total());
	}

	@Test
	void findsColumnsByName() throws Exception {
		assertEquals(List.of("abc 5/0 cpus? 1-2 T-1 ip0 node-1 flags0"),
				parse("TaskId,New,End,Start,CPUMask,Nwrites,Nreads,@Virt\n-1,\"what\",2,1,0,0,5,abc\n"));
		assertEquals(List.of("abc 5/0 cpus{2} 1-2 T7 ip0 node-1 flags0"),
				parse("@Virt, @Phy, Nreads, Nwrites, CPUMask, Start, End, TaskId\n0000000000000abc, 0, 5, 0, 04, 1, 2, 7\n"));
	}

	/** Where a record begins to read and to write, with columns for it and without. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', nullValues = "-", value = { "- | 7f0010,2,0 | 0 | 16 -1", "- | 7f0010,0,2 | 0 | -1 16",
		"- | 7f0010,1,2 | 0 | 16 -1", "- | 7f0010,1,0 | 1 | -1 -1", "ReadOffset,WriteOffset | 7f0010,1,2 | 0,20,10 | 32 16",
		"ReadOffset,WriteOffset | 7f0010,1,2 | 0,,10 | -1 16", "ReadOffset,WriteOffset | 7f0010,1,0 | 1,,  | -1 -1",
		"ReadOffset,WriteOffset | 7f0010,0,1 | 0,20,fff | -1 4095", "WriteOffset | 7f0010,1,1 | 0,10 | -1 16" })
	void offsetsInThePage(String names, String counts, String rest, String expected) throws Exception {
		List<String> found = new ArrayList<>();
		AccessParser parser = new AccessParser(new RowParser.Context(cpuSets, skips, 12, 0, full -> {
			for (int i = 0; full != null && i < full.count; i++) {
				found.add(full.readOffset[i] + " " + full.writeOffset[i]);
			}
			return new RowBatch();
		}));
		String text = "@Virt,Nreads,Nwrites,CPUMask,Start,End,TaskId,Flags" + (names == null ? "" : "," + names) + "\n" + counts
				+ ",1,100,200,42," + rest + "\n";
		parser.parse(new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1)), "f.csv", InputFormat.ACCESSES, () -> 0);
		parser.finish();
		assertEquals(List.of(expected), found, String.valueOf(skips.byReason()));
	}

	@Test
	void offsetsBeyondThePageAreSkipped() throws Exception {
		String head = "@Virt,Nreads,Nwrites,CPUMask,Start,End,TaskId,ReadOffset\n";
		assertEquals(List.of(), parse(head + "7f0010,1,0,1,100,200,42,1000\n"));
		assertEquals(1, skips.total());
	}

	@Test
	void linesMayEndWithCrLf() throws Exception {
		assertEquals(2, parse((H + GOOD + GOOD).replace("\n", "\r\n")).size());
		assertEquals(0, skips.total());
	}

	@Test
	void kernelAddressesAndManyCpus() throws Exception {
		assertEquals(List.of("ffffffffff600000 1/0 cpus{0, 64, 127} 1-2 T1 ipffffffff81000000 node-1 flags4"),
				parse(H + "ffffffffff600000,0,1,0,80000000000000010000000000000001,1,2,1,ffffffff81000000,-1,4\n"));
		assertEquals(List.of("1 1/0 cpus{63} 1-2 T1 ip0 node-1 flags0"),
				parse(H + "1,0,1,0,00000000000000008000000000000000,1,2,1,0,-1,0\n"));
	}

	@Test
	void anIncompleteLastLineIsDroppedAndCounted() throws Exception {
		assertEquals(1, parse(H + GOOD + GOOD.substring(0, 20)).size());
		assertEquals(1, skips.incompleteLines());
		assertEquals(2, seen);
		assertEquals(1, parse(H + GOOD + GOOD.stripTrailing()).size(), "complete but for the line feed");
	}

	@Test
	void emptyFilesAndHeaders() throws Exception {
		assertEquals(0, parse("").size());
		assertEquals(0, parse(H).size());
		assertEquals(0, parse(H.stripTrailing()).size());
		assertEquals(List.of("f.csv: is empty", "f.csv: ends within its header"), skips.warnings());
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '^', delimiter = ';', value = { "7f0010,0,1,2,3,100,200,42,401000,0; wrong number of columns",
			"7f0010,0,1,2,3,100,200,42,401000,0,1,9; wrong number of columns", "garbage; not a number",
			"7f0010,0,x,2,3,100,200,42,401000,0,1; not a number", "7f0010,0,,2,3,100,200,42,401000,0,1; not a number",
			"0x7f0010,0,1,2,3,100,200,42,401000,0,1; not a number", "7f0010,0,1,2,,100,200,42,401000,0,1; not a number",
			"7f0010,0,1.5,2,3,100,200,42,401000,0,1; not a number", "7f0010,0,-1,2,3,100,200,42,401000,0,1; negative count",
			"7f0010,0,0,0,3,100,200,42,401000,0,1; neither reads nor writes",
			"7f0010,0,1,2,3,200,100,42,401000,0,1; End before Start", "7f0010,0,1,2,3,100,100,42,401000,0,1; End equal to Start",
			"17f0010000000000000,0,1,2,3,100,200,42,401000,0,1; number out of range",
			"7f0010,0,99999999999999999999,2,3,100,200,42,401000,0,1; number out of range",
			"7f0010,0,1,2,3,-5,200,42,401000,0,1; number out of range", "7f0010,0,1,2,3,100,200,-2,401000,0,1; number out of range",
			"7f0010,0,1,2,3,100,200,42,401000,0,1ffffffff; number out of range" })
	void badRowsAreCountedByReason(String line, String reason) throws Exception {
		assertEquals(2, parse(H + GOOD + line + "\n" + GOOD).size());
		assertEquals(Map.of(reason, 1L), skips.byReason());
		assertEquals("f.csv, line 3", skips.firstPlaces().get(reason));
		skips = new SkipCounter(true);
		TraceFormatException e = assertThrows(TraceFormatException.class, () -> parse(H + GOOD + line + "\n" + GOOD));
		assertEquals("f.csv, line 3: " + reason, e.getMessage());
	}

	@Test
	void repeatedHeaderNulsAndLongLines() throws Exception {
		assertEquals(2, parse(H + GOOD + H + GOOD).size());
		assertEquals(Map.of("repeated header", 1L), skips.byReason());
		assertEquals(2, parse(H + GOOD + "\0\0\0\n\n" + GOOD).size());
		skips = new SkipCounter(false);
		InputStream in = new ByteArrayInputStream((H + "7".repeat(3 << 20) + "\n" + GOOD).getBytes(StandardCharsets.US_ASCII));
		assertEquals(1, parse(in).size());
		assertEquals(Map.of("line longer than 1 MiB", 1L), skips.byReason());
		assertEquals("f.csv, line 2", skips.firstPlaces().get("line longer than 1 MiB"));
	}

	@Test
	void headersThatCannotBeUsed() {
		assertEquals("f.csv, line 1: the column TaskId is missing", assertThrows(TraceFormatException.class,
				() -> parse("@Virt,Nreads,Nwrites,CPUMask,Start,End\n1\n")).getMessage());
		assertEquals("f.csv, line 1: the column Start is there twice", assertThrows(TraceFormatException.class,
				() -> parse("@Virt,Nreads,Nwrites,CPUMask,Start,End,TaskId,Start\n1\n")).getMessage());
		assertThrows(TraceFormatException.class, () -> parse("\u0000\u0001binary\n"));
		assertThrows(TraceFormatException.class, () -> parse("x".repeat(2 << 20) + "\n"));
	}

	@Test
	void aDamagedStreamKeepsWhatCameBefore() throws Exception {
		InputStream in = new ByteArrayInputStream((H + GOOD).getBytes(StandardCharsets.US_ASCII)) {
			@Override
			public synchronized int read(byte[] b, int off, int len) {
				int n = super.read(b, off, len);
				if (n < 0) {
					sneaky(new IOException("bad block"));
				}
				return n;
			}
		};
		assertEquals(1, parse(in).size());
		assertTrue(skips.warnings().get(0).contains("is damaged after line 2: bad block"), skips.warnings().toString());
	}

	@SuppressWarnings("unchecked")
	private static <E extends Throwable> void sneaky(Throwable t) throws E {
		throw (E) t;
	}
}
