// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.export;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import com.github.luben.zstd.ZstdCompressCtx;

import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.ColumnOrder;
import org.apache.parquet.format.CompressionCodec;
import org.apache.parquet.format.DataPageHeader;
import org.apache.parquet.format.DictionaryPageHeader;
import org.apache.parquet.format.Encoding;
import org.apache.parquet.format.FieldRepetitionType;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.IntType;
import org.apache.parquet.format.KeyValue;
import org.apache.parquet.format.LogicalType;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.format.PageType;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.SchemaElement;
import org.apache.parquet.format.Statistics;
import org.apache.parquet.format.StringType;
import org.apache.parquet.format.Type;
import org.apache.parquet.format.TypeDefinedOrder;

import shaded.parquet.org.apache.thrift.TBase;
import shaded.parquet.org.apache.thrift.TException;
import shaded.parquet.org.apache.thrift.protocol.TCompactProtocol;
import shaded.parquet.org.apache.thrift.transport.TMemoryBuffer;

/**
 * Writes a table as a Parquet file: flat columns of integers (plain) and of texts from a list (dictionary), pages compressed with
 * zstd, smallest and largest value of each column in each group of rows. Metadata is written by the library of Apache Parquet; its
 * own writer would need Hadoop.
 */
final class ParquetFile implements AutoCloseable {
	/** Not known; only in optional columns. */
	static final long NULL = Long.MIN_VALUE;
	static final int GROUP_ROWS = 1 << 17;
	private static final byte[] MAGIC = { 'P', 'A', 'R', '1' };
	private static final int LEVEL = 3;
	/** Room at the beginning: most tables are small. */
	private static final int FIRST_ROWS = 1 << 10;

	enum Kind {
		INT32, INT64, UINT64, TEXT
	}

	/**
	 * A column.
	 *
	 * @param texts of {@link Kind#TEXT}, whose values are indexes into them; may grow while rows are added; else null
	 * @param meaning what a reader finds as the column's description, empty without
	 */
	record Column(String name, Kind kind, boolean optional, List<String> texts, String meaning) {
		static Column of(String name, Kind kind) {
			return new Column(name, kind, false, null, "");
		}

		static Column optional(String name, Kind kind) {
			return new Column(name, kind, true, null, "");
		}

		static Column text(String name, List<String> texts) {
			return new Column(name, Kind.TEXT, true, texts, "");
		}

		/** Adds a column with a description. */
		Column means(String text) {
			return new Column(name, kind, optional, texts, text);
		}

		/** Bytes of a number. */
		int width() {
			return kind == Kind.INT32 ? Integer.BYTES : Long.BYTES;
		}

		Type type() {
			return kind == Kind.TEXT ? Type.BYTE_ARRAY : kind == Kind.INT32 ? Type.INT32 : Type.INT64;
		}
	}

	private final OutputStream out;
	private final List<Column> columns;
	private final Map<String, String> metadata;
	private final long[][] values;
	private final List<RowGroup> groups = new ArrayList<>();
	private final ZstdCompressCtx compressor = new ZstdCompressCtx();
	private int rows;
	private long allRows;
	private long position;

	/** @param metadata about the file as a whole */
	ParquetFile(OutputStream out, List<Column> columns, Map<String, String> metadata) throws IOException {
		this.out = out;
		this.columns = List.copyOf(columns);
		this.metadata = metadata;
		this.values = new long[columns.size()][FIRST_ROWS];
		compressor.setLevel(LEVEL);
		write(MAGIC);
	}

	/** Adds a row: a value for each column. */
	void add(long... row) throws IOException {
		room(1);
		for (int c = 0; c < row.length; c++) {
			values[c][rows] = row[c];
		}
		added(1);
	}

	/**
	 * Makes room for rows that are written column by column: into {@link #column} from {@link #rows} on, then {@link #added}.
	 *
	 * @return how many rows may be written, not more than wanted, at least 1
	 */
	int room(int wanted) {
		int n = Math.min(wanted, GROUP_ROWS - rows);
		int length = values.length == 0 ? 0 : values[0].length;
		if (rows + n > length) {
			int longer = Math.min(GROUP_ROWS, Math.max(rows + n, 4 * length));
			for (int c = 0; c < values.length; c++) {
				values[c] = Arrays.copyOf(values[c], longer);
			}
		}
		return n;
	}

	/** Values of a column; valid until {@link #room} or {@link #added} is called. */
	long[] column(int c) {
		return values[c];
	}

	/** Where the next row of the group is to be written. */
	int rows() {
		return rows;
	}

	/** So many rows have been written. */
	void added(int n) throws IOException {
		rows += n;
		if (rows == GROUP_ROWS) {
			endGroup();
		}
	}

	private void write(byte[] bytes) throws IOException {
		out.write(bytes);
		position += bytes.length;
	}

	/** Ends a row group, if it has rows. */
	void endGroup() throws IOException {
		if (rows == 0) {
			return;
		}
		long start = position;
		List<ColumnChunk> chunks = new ArrayList<>();
		long uncompressed = 0;
		for (int c = 0; c < values.length; c++) {
			ColumnMetaData chunk = chunk(columns.get(c), values[c]);
			chunks.add(new ColumnChunk(0).setMeta_data(chunk));
			uncompressed += chunk.getTotal_uncompressed_size();
		}
		groups.add(new RowGroup(chunks, uncompressed, rows).setFile_offset(start).setTotal_compressed_size(position - start));
		allRows += rows;
		rows = 0;
	}

	private ColumnMetaData chunk(Column column, long[] rowValues) throws IOException {
		long start = position;
		long[] present = rowValues;
		int known = rows;
		byte[] levels = null;
		if (column.optional) {
			levels = levels(rowValues, rows);
			known = moveKnown(rowValues, rows); // the values of a group are used once
		}
		Statistics statistics = new Statistics().setNull_count(rows - known);
		boolean texts = column.kind == Kind.TEXT;
		boolean constant = !texts && known > 0 && statistics(column, present, known, statistics);
		boolean listed = texts || constant;
		long uncompressed = 0;
		byte[] content;
		if (listed) {
			byte[] dictionary;
			int count;
			if (constant) {
				count = 1;
				dictionary = littleEndian(present[0], column.width());
			} else {
				int[] used = new int[Math.min(known, column.texts.size())];
				count = number(present, known, column.texts.size(), used);
				dictionary = dictionary(column.texts, used, count);
			}
			uncompressed += page(new PageHeader(PageType.DICTIONARY_PAGE, 0, 0)
					.setDictionary_page_header(new DictionaryPageHeader(count, Encoding.PLAIN)), dictionary);
			content = count == 1 ? run(known)
					: packed(present, known, Math.max(1, Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(0, count - 1))));
		} else {
			content = plain(present, known, column.width());
		}
		long dataPage = position;
		uncompressed += page(
				new PageHeader(PageType.DATA_PAGE, 0, 0).setData_page_header(
						new DataPageHeader(rows, listed ? Encoding.RLE_DICTIONARY : Encoding.PLAIN, Encoding.RLE, Encoding.RLE)),
				levels == null ? content : joined(littleEndian(levels.length, Integer.BYTES), levels, content));
		ColumnMetaData chunk = new ColumnMetaData(column.type(),
				listed ? List.of(Encoding.PLAIN, Encoding.RLE, Encoding.RLE_DICTIONARY) : List.of(Encoding.PLAIN, Encoding.RLE),
				List.of(column.name), CompressionCodec.ZSTD, rows, uncompressed, position - start, dataPage);
		if (listed) {
			chunk.setDictionary_page_offset(start);
		}
		if (!column.meaning.isEmpty()) {
			chunk.setKey_value_metadata(List.of(new KeyValue("description").setValue(column.meaning)));
		}
		return chunk.setStatistics(statistics);
	}

	/** Moves what is known to the beginning; returns how much it is. */
	private static int moveKnown(long[] values, int rows) {
		int known = 0;
		for (int i = 0; i < rows; i++) {
			if (values[i] != NULL) {
				values[known++] = values[i];
			}
		}
		return known;
	}

	/** Puts the smallest and the largest of some numbers into the statistics; returns whether they are the same. */
	private static boolean statistics(Column column, long[] present, int known, Statistics statistics) {
		long bias = column.kind == Kind.UINT64 ? Long.MIN_VALUE : 0;
		long min = Long.MAX_VALUE;
		long max = Long.MIN_VALUE;
		for (int i = 0; i < known; i++) {
			min = Math.min(min, present[i] ^ bias);
			max = Math.max(max, present[i] ^ bias);
		}
		statistics.setMin_value(littleEndian(min ^ bias, column.width()));
		statistics.setMax_value(littleEndian(max ^ bias, column.width()));
		return min == max;
	}

	/** Numbers the texts of a group in the order in which they come, in place of their indexes; returns how many there are. */
	private static int number(long[] present, int known, int texts, int[] used) {
		int[] number = new int[texts]; // + 1
		int count = 0;
		for (int i = 0; i < known; i++) {
			int text = (int) present[i];
			if (number[text] == 0) {
				used[count++] = text;
				number[text] = count;
			}
			present[i] = number[text] - 1;
		}
		return count;
	}

	private static byte[] dictionary(List<String> texts, int[] used, int count) {
		ByteArrayOutputStream dictionary = new ByteArrayOutputStream();
		for (int i = 0; i < count; i++) {
			byte[] text = texts.get(used[i]).getBytes(StandardCharsets.UTF_8);
			dictionary.writeBytes(littleEndian(text.length, Integer.BYTES));
			dictionary.writeBytes(text);
		}
		return dictionary.toByteArray();
	}

	private static byte[] plain(long[] numbers, int count, int width) {
		ByteBuffer plain = ByteBuffer.allocate(count * width).order(ByteOrder.LITTLE_ENDIAN);
		if (width == Long.BYTES) {
			plain.asLongBuffer().put(numbers, 0, count);
		} else {
			for (int i = 0; i < count; i++) {
				plain.putInt((int) numbers[i]);
			}
		}
		return plain.array();
	}

	private static byte[] joined(byte[]... parts) {
		int length = 0;
		for (byte[] part : parts) {
			length += part.length;
		}
		ByteBuffer all = ByteBuffer.allocate(length);
		for (byte[] part : parts) {
			all.put(part);
		}
		return all.array();
	}

	/** Writes a page; returns its uncompressed size with its header. */
	private long page(PageHeader header, byte[] content) throws IOException {
		byte[] compressed = compressor.compress(content);
		header.setUncompressed_page_size(content.length).setCompressed_page_size(compressed.length);
		byte[] head = bytes(header);
		write(head);
		write(compressed);
		return head.length + (long) content.length;
	}

	private static byte[] bytes(TBase<?, ?> struct) throws IOException {
		try {
			TMemoryBuffer buffer = new TMemoryBuffer(1024);
			struct.write(new TCompactProtocol(buffer));
			return Arrays.copyOf(buffer.getArray(), buffer.length());
		} catch (TException e) {
			throw new IOException(e);
		}
	}

	private static byte[] littleEndian(long value, int width) {
		byte[] bytes = new byte[width];
		for (int i = 0; i < width; i++) {
			bytes[i] = (byte) (value >>> 8 * i);
		}
		return bytes;
	}

	private static void unsigned(ByteArrayOutputStream to, int value) {
		int v = value;
		while ((v & ~0x7f) != 0) {
			to.write(v | 0x80);
			v >>>= 7;
		}
		to.write(v);
	}

	/** Which values are there, as runs: length times two, then 1 or 0. */
	private static byte[] levels(long[] rowValues, int count) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		for (int from = 0, to; from < count; from = to) {
			boolean there = rowValues[from] != NULL;
			to = from + 1;
			while (to < count && there == (rowValues[to] != NULL)) {
				to++;
			}
			unsigned(bytes, to - from << 1);
			bytes.write(there ? 1 : 0);
		}
		return bytes.toByteArray();
	}

	/** Width in bits, then one run of zeros. */
	private static byte[] run(int count) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		bytes.write(1);
		unsigned(bytes, count << 1);
		bytes.write(0);
		return bytes.toByteArray();
	}

	/** Width in bits, then one run of numbers with as many bits each, lowest bit first, in groups of eight. */
	private static byte[] packed(long[] numbers, int count, int bits) {
		ByteArrayOutputStream head = new ByteArrayOutputStream();
		head.write(bits);
		int eights = (count + 7) / 8;
		if (eights == 0) {
			return head.toByteArray();
		}
		unsigned(head, eights << 1 | 1);
		int length = head.size() + eights * bits;
		ByteBuffer bytes = ByteBuffer.allocate(length + Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).put(head.toByteArray());
		long pending = 0;
		int filled = 0;
		for (int i = 0; i < count; i++) {
			pending |= numbers[i] << filled;
			filled += bits;
			if (filled >= Integer.SIZE) {
				bytes.putInt((int) pending);
				pending >>>= Integer.SIZE;
				filled -= Integer.SIZE;
			}
		}
		bytes.putLong(pending);
		return Arrays.copyOf(bytes.array(), length);
	}

	/** Writes what is left and the footer; does not close the stream. */
	void finish() throws IOException {
		endGroup();
		List<SchemaElement> schema = new ArrayList<>();
		schema.add(new SchemaElement("access").setNum_children(columns.size()));
		for (Column column : columns) {
			SchemaElement element = new SchemaElement(column.name).setType(column.type())
					.setRepetition_type(column.optional ? FieldRepetitionType.OPTIONAL : FieldRepetitionType.REQUIRED);
			if (column.kind == Kind.TEXT) {
				element.setLogicalType(LogicalType.STRING(new StringType()))
						.setConverted_type(org.apache.parquet.format.ConvertedType.UTF8);
			} else if (column.kind == Kind.UINT64) {
				element.setLogicalType(LogicalType.INTEGER(new IntType((byte) Long.SIZE, false)))
						.setConverted_type(org.apache.parquet.format.ConvertedType.UINT_64);
			}
			schema.add(element);
		}
		FileMetaData footer = new FileMetaData(2, schema, allRows, groups).setCreated_by("memtrace");
		footer.setColumn_orders(columns.stream().map(c -> ColumnOrder.TYPE_ORDER(new TypeDefinedOrder())).toList());
		List<KeyValue> pairs = new ArrayList<>();
		metadata.forEach((key, value) -> pairs.add(new KeyValue(key).setValue(value)));
		for (Column column : columns) { // many readers show those of the file only
			if (!column.meaning.isEmpty()) {
				pairs.add(new KeyValue("memtrace.column." + column.name).setValue(column.meaning));
			}
		}
		footer.setKey_value_metadata(pairs);
		byte[] bytes = bytes(footer);
		write(bytes);
		write(littleEndian(bytes.length, Integer.BYTES));
		write(MAGIC);
	}

	@Override
	public void close() throws IOException {
		compressor.close();
		out.close();
	}
}
