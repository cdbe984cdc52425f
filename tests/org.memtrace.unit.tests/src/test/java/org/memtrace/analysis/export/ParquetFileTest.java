// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.export;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

import com.github.luben.zstd.Zstd;

import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.Encoding;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.format.RowGroup;
import org.junit.jupiter.api.Test;

import shaded.parquet.org.apache.thrift.protocol.TCompactProtocol;
import shaded.parquet.org.apache.thrift.transport.TMemoryBuffer;

/** The layout by the specification of Parquet; releng/check-export.py has another program read what the command line writes. */
class ParquetFileTest {
	private static final int ROWS = ParquetFile.GROUP_ROWS + 1000;

	private static byte[] file(int rows) throws Exception {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		try (ParquetFile file = new ParquetFile(out, List.of(ParquetFile.Column.of("a", ParquetFile.Kind.INT64),
				ParquetFile.Column.of("u", ParquetFile.Kind.UINT64), ParquetFile.Column.optional("n", ParquetFile.Kind.INT32),
				ParquetFile.Column.text("t", List.of("unused", "zwei", "drei", "überall"))), Map.of("k", "v"))) {
			for (int i = 0; i < rows; i++) {
				file.add(i - 5, i % 2 == 0 ? 1 : -1L, i % 3 == 0 ? ParquetFile.NULL : i, i % 5 == 4 ? ParquetFile.NULL : 1 + i % 3);
			}
			file.finish();
		}
		return out.toByteArray();
	}

	private static TCompactProtocol at(byte[] bytes, int from) throws Exception {
		TMemoryBuffer buffer = new TMemoryBuffer(bytes.length - from);
		buffer.write(bytes, from, bytes.length - from);
		return new TCompactProtocol(buffer);
	}

	private static FileMetaData footer(byte[] bytes) throws Exception {
		assertArrayEquals("PAR1".getBytes(), Arrays.copyOf(bytes, 4));
		assertArrayEquals("PAR1".getBytes(), Arrays.copyOfRange(bytes, bytes.length - 4, bytes.length));
		int length = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(bytes.length - 8);
		FileMetaData footer = new FileMetaData();
		footer.read(at(bytes, bytes.length - 8 - length));
		return footer;
	}

	/** Uncompressed content of the page at an offset. */
	private static ByteBuffer page(byte[] bytes, long offset, PageHeader header) throws Exception {
		TMemoryBuffer buffer = new TMemoryBuffer(1);
		int length = (int) Math.min(bytes.length - offset, 1000);
		buffer.write(bytes, (int) offset, length);
		header.read(new TCompactProtocol(buffer));
		TMemoryBuffer again = new TMemoryBuffer(1);
		header.write(new TCompactProtocol(again));
		int start = (int) offset + again.length();
		byte[] content = Zstd.decompress(Arrays.copyOfRange(bytes, start, start + header.getCompressed_page_size()),
				header.getUncompressed_page_size());
		return ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
	}

	@Test
	void groupsPagesAndStatistics() throws Exception {
		byte[] bytes = file(ROWS);
		FileMetaData footer = footer(bytes);
		assertEquals(ROWS, footer.getNum_rows());
		assertEquals(List.of("access", "a", "u", "n", "t"), footer.getSchema().stream().map(s -> s.getName()).toList());
		assertEquals("v", footer.getKey_value_metadata().get(0).getValue());
		assertEquals(List.of((long) ParquetFile.GROUP_ROWS, 1000L), footer.getRow_groups().stream().map(RowGroup::getNum_rows).toList());
		ColumnMetaData a = footer.getRow_groups().get(1).getColumns().get(0).getMeta_data();
		ByteBuffer values = page(bytes, a.getData_page_offset(), new PageHeader());
		assertEquals(1000 * 8, values.remaining());
		assertEquals(ParquetFile.GROUP_ROWS - 5, values.getLong(0));
		assertEquals(ParquetFile.GROUP_ROWS - 5, ByteBuffer.wrap(a.getStatistics().getMin_value()).order(ByteOrder.LITTLE_ENDIAN).getLong());
		ColumnMetaData u = footer.getRow_groups().get(0).getColumns().get(1).getMeta_data();
		assertEquals(1, ByteBuffer.wrap(u.getStatistics().getMin_value()).order(ByteOrder.LITTLE_ENDIAN).getLong(), "unsigned");
		assertEquals(-1, ByteBuffer.wrap(u.getStatistics().getMax_value()).order(ByteOrder.LITTLE_ENDIAN).getLong());
		ColumnMetaData n = footer.getRow_groups().get(1).getColumns().get(2).getMeta_data();
		long unknown = java.util.stream.IntStream.range(ParquetFile.GROUP_ROWS, ROWS).filter(i -> i % 3 == 0).count();
		assertEquals(unknown, n.getStatistics().getNull_count());
		PageHeader header = new PageHeader();
		values = page(bytes, n.getData_page_offset(), header);
		assertEquals(1000, header.getData_page_header().getNum_values());
		assertEquals(4 + values.getInt(0) + 4 * (1000 - unknown), values.remaining(), "levels, then what is known");
	}

	@Test
	void textsAreADictionaryOfThoseThatAreUsed() throws Exception {
		byte[] bytes = file(12);
		ColumnMetaData t = footer(bytes).getRow_groups().get(0).getColumns().get(3).getMeta_data();
		PageHeader header = new PageHeader();
		ByteBuffer dictionary = page(bytes, t.getDictionary_page_offset(), header);
		assertEquals(3, header.getDictionary_page_header().getNum_values());
		byte[] first = new byte[dictionary.getInt()];
		dictionary.get(first);
		assertEquals("zwei", new String(first, java.nio.charset.StandardCharsets.UTF_8));
		ByteBuffer data = page(bytes, t.getData_page_offset(), new PageHeader());
		data.position(4 + data.getInt(0));
		assertEquals(2, data.get(), "bits of a number");
		assertEquals(2 << 1 | 1, data.get(), "two groups of eight");
		// rows 0 1 2 3 5 6 7 8 10 11 are known: 0 1 2 0 2 0 1 2 1 2
		assertEquals(0 | 1 << 2 | 2 << 4 | 0 << 6, data.get() & 0xff);
		assertEquals(2 | 0 << 2 | 1 << 4 | 2 << 6, data.get() & 0xff);
		assertEquals(1 | 2 << 2, data.get() & 0xff);
		assertTrue(footer(file(0)).getRow_groups().isEmpty(), "a file without rows has a schema");
	}

	/** Numbers of a data page with a dictionary and without levels: a run, or groups of eight. */
	private static int[] numbers(ByteBuffer page, int count) {
		int bits = page.get();
		int head = 0;
		for (int shift = 0, b = 0x80; (b & 0x80) != 0; shift += 7) {
			b = page.get();
			head |= (b & 0x7f) << shift;
		}
		int[] numbers = new int[count];
		if ((head & 1) == 0) {
			assertEquals(count, head >>> 1);
			Arrays.fill(numbers, page.get());
			assertEquals(0, page.remaining());
			return numbers;
		}
		assertEquals((head >>> 1) * bits, page.remaining());
		byte[] rest = new byte[page.remaining() + 1]; // highest first, not negative
		for (int i = 1; i < rest.length; i++) {
			rest[rest.length - i] = page.get();
		}
		BigInteger all = new BigInteger(rest);
		for (int i = 0; i < count; i++) {
			numbers[i] = all.shiftRight(i * bits).intValue() & (1 << bits) - 1;
		}
		return numbers;
	}

	/** Numbers of 1 to 12 bits, in the order in which the texts come first. */
	@Test
	void numbersOfTextsComeBack() throws Exception {
		long seed = 20261126;
		Random random = new Random(seed);
		for (int texts : new int[] {1, 2, 3, 4, 5, 8, 9, 16, 17, 255, 256, 257, 2049}) {
			List<String> names = IntStream.range(0, texts).mapToObj(i -> "t" + i).toList();
			int rows = texts + random.nextInt(40);
			int[] expected = IntStream.range(0, rows).map(i -> i < texts ? i : random.nextInt(texts)).toArray();
			ByteArrayOutputStream out = new ByteArrayOutputStream();
			try (ParquetFile file = new ParquetFile(out, List.of(ParquetFile.Column.text("t", names)), Map.of())) {
				for (int from = 0, n; from < rows; from += n) { // column by column, in parts
					n = file.room(Math.min(1 + random.nextInt(700), rows - from));
					for (int i = 0; i < n; i++) {
						file.column(0)[file.rows() + i] = expected[from + i];
					}
					file.added(n);
				}
				file.finish();
			}
			byte[] bytes = out.toByteArray();
			ColumnMetaData t = footer(bytes).getRow_groups().get(0).getColumns().get(0).getMeta_data();
			ByteBuffer page = page(bytes, t.getData_page_offset(), new PageHeader());
			page.position(4 + page.getInt(0));
			assertArrayEquals(expected, numbers(page.slice().order(ByteOrder.LITTLE_ENDIAN), rows), texts + " texts, seed " + seed);
		}
	}

	/** A column with one number keeps it once. */
	@Test
	void oneNumberIsADictionary() throws Exception {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		try (ParquetFile file = new ParquetFile(out, List.of(ParquetFile.Column.of("u", ParquetFile.Kind.UINT64),
				ParquetFile.Column.optional("n", ParquetFile.Kind.INT32), ParquetFile.Column.optional("none", ParquetFile.Kind.INT64)), Map.of())) {
			for (int i = 0; i < 3000; i++) {
				file.add(-2, i % 2 == 0 ? ParquetFile.NULL : -7, ParquetFile.NULL);
			}
			file.finish();
		}
		byte[] bytes = out.toByteArray();
		RowGroup group = footer(bytes).getRow_groups().get(0);
		ColumnMetaData u = group.getColumns().get(0).getMeta_data();
		PageHeader header = new PageHeader();
		assertEquals(-2, page(bytes, u.getDictionary_page_offset(), header).getLong());
		assertEquals(1, header.getDictionary_page_header().getNum_values());
		header = new PageHeader();
		assertArrayEquals(new int[3000], numbers(page(bytes, u.getData_page_offset(), header), 3000));
		assertEquals(Encoding.RLE_DICTIONARY, header.getData_page_header().getEncoding());
		assertEquals(-2, ByteBuffer.wrap(u.getStatistics().getMax_value()).order(ByteOrder.LITTLE_ENDIAN).getLong());
		ColumnMetaData n = group.getColumns().get(1).getMeta_data();
		header = new PageHeader();
		ByteBuffer data = page(bytes, n.getData_page_offset(), header);
		assertEquals(3000, header.getData_page_header().getNum_values());
		data.position(4 + data.getInt(0));
		assertArrayEquals(new int[1500], numbers(data.slice().order(ByteOrder.LITTLE_ENDIAN), 1500));
		assertEquals(-7, page(bytes, n.getDictionary_page_offset(), new PageHeader()).getInt());
		ColumnMetaData none = group.getColumns().get(2).getMeta_data();
		assertEquals(3000, none.getStatistics().getNull_count());
		assertEquals(0, none.getDictionary_page_offset());
	}
}
