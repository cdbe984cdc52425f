// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.io;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.model.TraceFormatException;

/**
 * The formats of the events of a kernel, as its tracefs tells them: where the fields are. The file has a line {@code ## SYSTEM/EVENT}
 * before each format, and {@code ## header_page} before that of the pages.
 */
final class EventFormats {
	private static final Pattern FIELD = Pattern.compile("\\s*field:\\s*(.*);\\s*offset:\\s*(\\d{1,6});\\s*size:\\s*(\\d{1,6});\\s*signed:\\s*([01]);.*");
	private static final Pattern NAME = Pattern.compile(".*?(\\w+)(?:\\[[^\\]]*\\])?");
	private static final Pattern ID = Pattern.compile("ID:\\s*(\\d{1,9})\\s*");
	private static final int LONGEST_TEXT = 4096;

	/** A field: bytes {@code [offset, offset + size)} of an event. */
	record Field(int offset, int size, boolean signed, boolean located) {
	}

	/** One kind of event. */
	static final class Format {
		/** {@code SYSTEM/EVENT}. */
		final String name;
		private final Map<String, Field> fields = new HashMap<>();

		Format(String name) {
			this.name = name;
		}

		boolean has(String field) {
			return fields.containsKey(field);
		}

		/** A number, {@code unknown} when the event has no such field. */
		long number(ByteBuffer event, int at, int length, String field, long unknown) {
			Field f = fields.get(field);
			if (f == null || f.offset() + f.size() > length) {
				return unknown;
			}
			return switch (f.size()) {
			case 1 -> f.signed() ? event.get(at + f.offset()) : event.get(at + f.offset()) & 0xffL;
			case 2 -> f.signed() ? event.getShort(at + f.offset()) : event.getShort(at + f.offset()) & 0xffffL;
			case 4 -> f.signed() ? event.getInt(at + f.offset()) : event.getInt(at + f.offset()) & 0xffffffffL;
			case 8 -> event.getLong(at + f.offset());
			default -> unknown;
			};
		}

		/** A text, of an array of characters or behind the event; empty when the event has no such field. */
		String text(ByteBuffer event, int at, int length, String field) {
			Field f = fields.get(field);
			if (f == null || f.offset() + f.size() > length) {
				return "";
			}
			int from = f.offset();
			int size = f.size();
			if (f.located()) {
				if (f.size() != Integer.BYTES) {
					return "";
				}
				int place = event.getInt(at + f.offset());
				from = place & 0xffff;
				size = place >>> 16;
				if (from + size > length) {
					return "";
				}
			}
			byte[] bytes = new byte[Math.min(size, LONGEST_TEXT)];
			event.get(at + from, bytes);
			int end = 0;
			while (end < bytes.length && bytes[end] != 0) {
				end++;
			}
			return new String(bytes, 0, end, StandardCharsets.UTF_8);
		}
	}

	private final Map<Integer, Format> byId = new HashMap<>();
	private int commitOffset = -1;
	private int dataOffset = -1;
	private int dataBytes;

	/**
	 * Reads the file of formats.
	 *
	 * @param file for messages
	 */
	static EventFormats parse(String text, String file) throws TraceFormatException {
		EventFormats formats = new EventFormats();
		Format current = null;
		String header = "";
		for (String line : text.lines().toList()) {
			if (line.startsWith("## ")) {
				header = line.substring(3).strip();
				current = new Format(header);
				continue;
			}
			Matcher id = ID.matcher(line);
			if (current != null && id.matches()) {
				formats.byId.put(Integer.parseInt(id.group(1)), current);
			}
			Matcher field = FIELD.matcher(line);
			if (current == null || !field.matches()) {
				continue;
			}
			Matcher name = NAME.matcher(field.group(1).strip());
			if (name.matches()) {
				Field f = new Field(Integer.parseInt(field.group(2)), Integer.parseInt(field.group(3)), field.group(4).equals("1"),
						field.group(1).contains("__data_loc"));
				current.fields.put(name.group(1), f);
				if (header.equals("header_page")) {
					formats.page(name.group(1), f);
				}
			}
		}
		if (formats.commitOffset < 0 || formats.dataOffset < Math.max(Long.BYTES, formats.commitOffset + 4)) {
			throw new TraceFormatException(file, 0, "does not tell how pages of events begin");
		}
		return formats;
	}

	private void page(String field, Field f) {
		if (field.equals("commit")) {
			commitOffset = f.offset();
		} else if (field.equals("data")) {
			dataOffset = f.offset();
			dataBytes = f.size();
		}
	}

	/** Null for an event that was not asked for. */
	Format format(int id) {
		return byId.get(id);
	}

	int commitOffset() {
		return commitOffset;
	}

	int dataOffset() {
		return dataOffset;
	}

	/** Bytes of events that a page has at most. */
	int dataBytes() {
		return dataBytes;
	}
}
