// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.memtrace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32C;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.importer.input.InputFormat;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.rows.CpuSets;
import org.memtrace.importer.rows.RowBatch;
import org.memtrace.importer.rows.RowParser;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.UnsupportedVersionException;

/** Blocks of records: the worked example is read as its text is, and of what is damaged or cut all that is whole. */
class RecordFileTest {
	private static final int HEAD = 48;

	private final CpuSets cpuSets = new CpuSets();
	private SkipCounter skips = new SkipCounter(false);
	private long seen;
	private long skipped;

	private static Path example(String name) {
		return Path.of(System.getProperty("memtrace.root"), "testdata/records-example", name);
	}

	private static byte[] hex(String name) throws Exception {
		ByteArrayOutputStream all = new ByteArrayOutputStream();
		for (String line : Files.readAllLines(example(name))) {
			if (!line.startsWith("#")) {
				all.write(HexFormat.ofDelimiter(" ").parseHex(line.strip()));
			}
		}
		return all.toByteArray();
	}

	private List<String> parse(byte[] bytes, String name) throws Exception {
		List<String> rows = new ArrayList<>();
		skips = new SkipCounter(false);
		parse(bytes, name, rows);
		return rows;
	}

	private void parse(byte[] bytes, String name, List<String> rows) throws Exception {
		AccessParser parser = new AccessParser(new RowParser.Context(cpuSets, skips, 12, 0, full -> {
			for (int i = 0; full != null && i < full.count; i++) {
				rows.add(String.format("%x %x %d/%d cpus%s %d-%d T%d ip%x node%d flags%x at %d %d first %d", full.address[i],
						full.physical[i], full.reads[i], full.writes[i], full.cpuSet[i] < 0 ? "?" : cpuSets.sets().get(full.cpuSet[i]),
						full.startNs[i], full.endNs[i], full.taskId[i], full.ip[i], full.node[i], full.flags[i], full.readOffset[i],
						full.writeOffset[i], full.firstNs[i]));
			}
			return new RowBatch();
		}));
		// small reads: blocks lie across the ends of what one read returns
		InputStream in = new ByteArrayInputStream(bytes) {
			@Override
			public synchronized int read(byte[] b, int off, int len) {
				return super.read(b, off, Math.min(len, 7));
			}
		};
		parser.parse(in, name, InputFormat.ACCESSES, () -> 0);
		parser.finish();
		seen = parser.rows();
		skipped = parser.skipped();
	}

	@ParameterizedTest
	@ValueSource(strings = { "plain.hex", "packed.hex" })
	void theExampleIsWhatItsTextIs(String name) throws Exception {
		List<String> text = parse(Files.readAllBytes(example("records.csv")), "f.csv");
		assertEquals(6, text.size());
		assertEquals("7f0000003ff8 0 2/1 cpus{0} 1000-100000 T1001 ip401234 node0 flags0 at 8 4088 first 3500", text.get(2));
		assertEquals(text, parse(hex(name), "f.mtr"));
		assertEquals(6, seen);
		assertEquals(List.of(), skips.warnings());
	}

	@Test
	void noBytesAreNoRecords() throws Exception {
		assertEquals(List.of(), parse(new byte[0], "f.mtr"));
		assertEquals(List.of(), skips.warnings());
	}

	@Test
	void aFileThatIsCutAnywhere() throws Exception {
		byte[] good = hex("plain.hex");
		List<String> all = parse(good, "f.mtr");
		int second = RecordFile.blockLength(good, 0);
		for (int n = 4; n < good.length; n++) { // with less it is taken for text that has no header
			assertEquals(n < second ? List.of() : all.subList(0, 5), parse(Arrays.copyOf(good, n), "f.mtr"), "cut at " + n);
			if (n != second) {
				assertEquals(1, skips.incompleteLines(), "cut at " + n);
				assertTrue(skips.warnings().get(0).startsWith("f.mtr: ends within a block, which begins at offset "
						+ (n < second ? 0 : second)), skips.warnings().toString());
				int in = n < second ? n : n - second;
				assertEquals(in < HEAD ? 0 : n < second ? 5 : 1, skipped, "cut at " + n);
			}
		}
	}

	@Test
	void aByteThatIsDamagedAnywhere() throws Exception {
		byte[] good = hex("plain.hex");
		List<String> all = parse(good, "f.mtr");
		int second = RecordFile.blockLength(good, 0);
		for (int at = 4; at < good.length; at++) { // without its first bytes the file is none of this kind
			byte[] bad = good.clone();
			bad[at] ^= 0x40;
			assertEquals(at < second ? all.subList(5, 6) : all.subList(0, 5), parse(bad, "f.mtr"), "at " + at);
			assertTrue(skips.warnings().get(0).contains(" bytes from offset " + (at < second ? 0 : second) + " on are damaged")
					|| skips.warnings().get(0).contains("offset " + second), "at " + at + skips.warnings());
			if (at < second) {
				assertEquals(Map.of("damaged block", 5L), skips.byReason(), "at " + at);
			}
		}
	}

	@Test
	void strictImportsRefuseDamage() throws Exception {
		byte[] bad = hex("plain.hex");
		bad[100] ^= 1;
		skips = new SkipCounter(true);
		assertTrue(assertThrows(TraceFormatException.class, () -> parse(bad, "f.mtr", new ArrayList<>())).getMessage().contains("offset 0"));
	}

	private static byte[] withHead(byte[] block) {
		CRC32C crc = new CRC32C();
		ByteBuffer b = ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN);
		crc.update(block, HEAD, block.length - HEAD);
		b.putInt(40, (int) crc.getValue());
		crc.reset();
		crc.update(block, 0, 44);
		b.putInt(44, (int) crc.getValue());
		return block;
	}

	@Test
	void aNewerVersionIsRefused() throws Exception {
		byte[] newer = hex("packed.hex");
		newer[4] = 2;
		assertThrows(UnsupportedVersionException.class, () -> parse(withHead(newer), "f.mtr"));
	}

	@Test
	void unknownColumnsAreIgnored() throws Exception {
		byte[] good = hex("plain.hex");
		byte[] more = Arrays.copyOf(good, RecordFile.blockLength(good, 0) + 5);
		System.arraycopy(new byte[] { (byte) 200, 1, 1, 0, 7 }, 0, more, more.length - 5, 5);
		ByteBuffer.wrap(more).order(ByteOrder.LITTLE_ENDIAN).putInt(8, more.length - HEAD);
		assertEquals(parse(good, "f.mtr").subList(0, 5), parse(withHead(more), "f.mtr"));
	}

	/** Blocks with right checksums whose columns say anything: rows or a count of them, nothing else. */
	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3, 4, 5 })
	void columnsOfAnybody(long seed) throws Exception {
		Random random = new Random(seed);
		byte[] good = Arrays.copyOf(hex("plain.hex"), RecordFile.blockLength(hex("plain.hex"), 0));
		for (int turn = 0; turn < 500; turn++) {
			byte[] bad = good.clone();
			for (int hits = 1 + random.nextInt(4); hits > 0; hits--) {
				bad[HEAD + random.nextInt(bad.length - HEAD)] = (byte) random.nextInt();
			}
			if (random.nextInt(4) == 0) {
				bad[12] = (byte) random.nextInt(20);
			}
			List<String> rows = parse(withHead(bad), "f.mtr");
			assertEquals(seen, rows.size() + skipped, "seed " + seed + ", turn " + turn);
			assertEquals(bad[12], seen, "seed " + seed + ", turn " + turn);
		}
	}
}
