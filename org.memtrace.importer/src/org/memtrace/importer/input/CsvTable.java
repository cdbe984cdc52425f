// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.input;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.RegularFile;
import org.memtrace.model.TraceFormatException;

/** One of the small finished files (structures, stacks, threads, intervals): RFC 4180 with a header, columns by name. */
public final class CsvTable {
	/** Receives the rows. */
	public interface RowVisitor {
		/** @throws NumberFormatException when a field is not what it should be: the row is counted and skipped */
		void visit(Row row) throws MemtraceException;
	}

	/** The current row. */
	public static final class Row {
		private final Map<String, Integer> columns;
		private final boolean[] asked;
		private List<String> fields = List.of();
		private long line;

		private Row(Map<String, Integer> columns) {
			this.columns = columns;
			asked = new boolean[columns.size()];
		}

		public long line() {
			return line;
		}

		/** A field, or empty when the file has no such column. */
		public String text(String column) {
			Integer index = columns.get(column);
			if (index == null) {
				return "";
			}
			asked[index] = true;
			return fields.get(index);
		}

		public boolean has(String column) {
			return columns.containsKey(column);
		}

		public long number(String column, long unknown) {
			String text = text(column).strip();
			return text.isEmpty() ? unknown : Long.parseLong(text);
		}

		public long address(String column) {
			return Long.parseUnsignedLong(text(column).strip(), 16);
		}
	}

	private CsvTable() {
	}

	/**
	 * Reads a file that may be missing.
	 *
	 * @param required columns without which the file cannot be used
	 * @return the columns that were not asked for in any row, in the order of the file; none of a file without rows
	 */
	public static List<String> read(Path file, String name, List<String> required, SkipCounter skips, RowVisitor visitor)
			throws MemtraceException {
		if (!Files.exists(file)) {
			return List.of();
		}
		try (InputStream in = RegularFile.open(file)) {
			return read(in, name, required, skips, visitor);
		} catch (IOException e) {
			throw new TraceFormatException(name, 0, "cannot be read: " + e.getMessage());
		}
	}

	/** Reads a stream. */
	public static List<String> read(InputStream in, String name, List<String> required, SkipCounter skips, RowVisitor visitor)
			throws IOException, MemtraceException {
		ByteLines lines = new ByteLines(in);
		byte[] pending = new byte[0];
		Row row = null;
		long first = 0;
		while (lines.next()) {
			if (lines.tooLong()) {
				skips.skip(name, lines.line(), ByteLines.TOO_LONG);
				pending = new byte[0];
				continue;
			}
			byte[] text = join(pending, lines);
			if (pending.length == 0) {
				first = lines.line();
			}
			if (quotes(text) % 2 == 1 && text.length < ByteLines.LONGEST) { // a quoted field goes on in the next line
				pending = text;
				continue;
			}
			pending = new byte[0];
			List<String> fields = split(decode(text));
			if (row == null) {
				row = new Row(header(fields, name, required));
				continue;
			}
			if (text.length == 0) {
				continue;
			}
			if (fields.size() != row.columns.size()) {
				skips.skip(name, first, "wrong number of columns");
				continue;
			}
			row.fields = fields;
			row.line = first;
			try {
				visitor.visit(row);
			} catch (NumberFormatException e) {
				skips.skip(name, first, "not a number");
			}
		}
		if (lines.incomplete() || pending.length > 0) {
			skips.incomplete(name, pending.length > 0 ? first : lines.line() + 1);
		}
		if (row == null || row.line == 0) {
			return List.of();
		}
		boolean[] asked = row.asked;
		return row.columns.entrySet().stream().filter(c -> !asked[c.getValue()]).sorted(Map.Entry.comparingByValue()).map(Map.Entry::getKey)
				.toList();
	}

	private static byte[] join(byte[] pending, ByteLines lines) {
		int length = lines.end - lines.start;
		int offset = pending.length == 0 ? 0 : pending.length + 1;
		byte[] text = Arrays.copyOf(pending, offset + length);
		if (offset > 0) {
			text[offset - 1] = '\n';
		}
		System.arraycopy(lines.buffer(), lines.start, text, offset, length);
		return text;
	}

	private static int quotes(byte[] text) {
		int n = 0;
		for (byte b : text) {
			n += b == '"' ? 1 : 0;
		}
		return n;
	}

	/** Names come from foreign programs: what is no UTF-8 is replaced. */
	private static String decode(byte[] text) throws IOException {
		return StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPLACE)
				.onUnmappableCharacter(CodingErrorAction.REPLACE).decode(ByteBuffer.wrap(text)).toString();
	}

	private static Map<String, Integer> header(List<String> fields, String name, List<String> required)
			throws TraceFormatException {
		Map<String, Integer> columns = new HashMap<>();
		for (int i = 0; i < fields.size(); i++) {
			if (columns.put(fields.get(i).strip(), i) != null) {
				throw new TraceFormatException(name, 1, "the column " + fields.get(i).strip() + " is there twice");
			}
		}
		for (String column : required) {
			if (!columns.containsKey(column)) {
				throw new TraceFormatException(name, 1, "the column " + column + " is missing");
			}
		}
		return columns;
	}

	static List<String> split(String line) {
		List<String> fields = new ArrayList<>();
		StringBuilder field = new StringBuilder();
		boolean quoted = false;
		for (int i = 0; i < line.length(); i++) {
			char c = line.charAt(i);
			if (quoted) {
				if (c != '"') {
					field.append(c);
				} else if (i + 1 < line.length() && line.charAt(i + 1) == '"') {
					field.append('"');
					i++;
				} else {
					quoted = false;
				}
			} else if (c == '"' && field.isEmpty()) {
				quoted = true;
			} else if (c == ',') {
				fields.add(field.toString());
				field.setLength(0);
			} else {
				field.append(c);
			}
		}
		fields.add(field.toString());
		return fields;
	}
}
