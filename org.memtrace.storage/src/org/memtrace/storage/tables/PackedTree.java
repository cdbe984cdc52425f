// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.tables;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/**
 * A producer tree as bytes: a row of a table would take 30 bytes and a microsecond for each of what may be millions. The format is in
 * docs/reference/database-chunks.md, {@code MT_TREE}.
 */
public final class PackedTree {
	private static final int FORMAT = 1;
	private static final int PART_BYTES = 1 << 20;
	private static final int LONGEST_NAME = 1 << 20;
	private static final ProducerKind[] KINDS = ProducerKind.values();

	private PackedTree() {
	}

	/** Names of these follow from their ancestors. */
	private static boolean isNameless(ProducerKind kind) {
		return kind == ProducerKind.PART || kind == ProducerKind.PAGE;
	}

	/** Writes the rows of MT_TREE. */
	static void write(Connection db, AddressSpace space, ProducerTree tree, Progress progress)
			throws SQLException, MemtraceException {
		byte[] all = pack(tree, progress);
		try (PreparedStatement insert = db.prepareStatement("INSERT INTO MT_TREE VALUES(?,?,?)")) {
			for (int part = 0; part * PART_BYTES < all.length; part++) {
				insert.setInt(1, space.ordinal());
				insert.setInt(2, part);
				insert.setBytes(3, Arrays.copyOfRange(all, part * PART_BYTES, Math.min(all.length, (part + 1) * PART_BYTES)));
				insert.executeUpdate();
			}
		}
	}

	/** The bytes of a tree, none when there is none for this address space. */
	public static List<byte[]> parts(Connection db, AddressSpace space) throws SQLException {
		List<byte[]> parts = new ArrayList<>();
		try (PreparedStatement select = db.prepareStatement("SELECT DATA FROM MT_TREE WHERE SPACE = ? ORDER BY PART")) {
			select.setInt(1, space.ordinal());
			try (ResultSet rows = select.executeQuery()) {
				while (rows.next()) {
					parts.add(rows.getBytes(1));
				}
			}
		}
		return parts;
	}

	/** Null when there are no parts. */
	public static ProducerTree read(List<byte[]> parts, int pageSizeBytes) throws MemtraceException {
		if (parts.isEmpty()) {
			return null;
		}
		try {
			return unpack(new SequenceInputStream(
					Collections.enumeration(parts.stream().map(ByteArrayInputStream::new).toList())), pageSizeBytes);
		} catch (IOException | RuntimeException e) {
			throw new StoreException("the tree of event producers is damaged: " + e.getMessage(), e);
		}
	}

	public static byte[] pack(ProducerTree tree, Progress progress) throws MemtraceException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		Deflater deflater = new Deflater(3);
		try (Output out = new Output(new DeflaterOutputStream(bytes, deflater, 1 << 16))) {
			out.unsigned(FORMAT);
			out.unsigned(tree.size());
			long start = 0;
			int structure = -1;
			for (int id = 0; id < tree.size(); id++) {
				if (id % 65_536 == 0) {
					progress.check();
				}
				ProducerKind kind = tree.kind(id);
				out.unsigned(kind.ordinal());
				out.unsigned(tree.subtreeEnd(id) - id);
				out.signed(tree.startAddress(id) - start);
				out.unsigned(tree.endAddress(id) - tree.startAddress(id));
				out.signed(tree.structure(id) - structure);
				start = tree.startAddress(id);
				structure = tree.structure(id);
				if (!isNameless(kind)) {
					out.text(tree.name(id));
				}
			}
		} catch (IOException e) {
			throw new StoreException("the tree of event producers cannot be packed: " + e.getMessage(), e);
		} finally {
			deflater.end();
		}
		return bytes.toByteArray();
	}

	public static ProducerTree unpack(InputStream packed, int pageSizeBytes) throws IOException {
		try (Input in = new Input(new InflaterInputStream(packed))) {
			if (in.unsigned() != FORMAT) {
				throw new IOException("unknown format");
			}
			int size = Math.toIntExact(in.unsigned());
			ProducerTreeBuilder builder = new ProducerTreeBuilder(pageSizeBytes);
			int[] ends = new int[64];
			int depth = 0;
			long start = 0;
			int structure = -1;
			for (int id = 0; id < size; id++) {
				while (depth > 0 && ends[depth - 1] == id) {
					builder.end();
					depth--;
				}
				ProducerKind kind = KINDS[Math.toIntExact(in.unsigned())];
				int end = Math.addExact(id, Math.toIntExact(in.unsigned()));
				if (end <= id || end > (depth == 0 ? size : ends[depth - 1])) {
					throw new IOException("producer " + id + " ends at " + end);
				}
				start += in.signed();
				long length = in.unsigned();
				structure += (int) in.signed();
				builder.begin(kind, isNameless(kind) ? null : in.text(), start, start + length, structure);
				if (depth == ends.length) {
					ends = Arrays.copyOf(ends, depth * 2);
				}
				ends[depth++] = end;
			}
			if (in.next() >= 0) {
				throw new IOException("bytes after the end");
			}
			while (depth-- > 0) {
				builder.end();
			}
			return builder.build();
		}
	}

	private static final class Output implements AutoCloseable {
		private final DeflaterOutputStream out;
		private final byte[] buffer = new byte[1 << 16];
		private int position;

		Output(DeflaterOutputStream out) {
			this.out = out;
		}

		private void room(int bytes) throws IOException {
			if (position + bytes > buffer.length) {
				out.write(buffer, 0, position);
				position = 0;
			}
		}

		void unsigned(long value) throws IOException {
			room(10);
			long v = value;
			while ((v & ~0x7fL) != 0) {
				buffer[position++] = (byte) (v | 0x80);
				v >>>= 7;
			}
			buffer[position++] = (byte) v;
		}

		void signed(long value) throws IOException {
			unsigned(value << 1 ^ value >> 63);
		}

		void text(String text) throws IOException {
			byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
			unsigned(bytes.length);
			room(buffer.length);
			out.write(bytes);
		}

		@Override
		public void close() throws IOException {
			room(buffer.length);
			out.close();
		}
	}

	private static final class Input implements AutoCloseable {
		private final InputStream in;
		private final byte[] buffer = new byte[1 << 16];
		private int position;
		private int end;

		Input(InputStream in) {
			this.in = in;
		}

		int next() throws IOException {
			if (position == end) {
				position = 0;
				end = Math.max(0, in.read(buffer));
				if (end == 0) {
					return -1;
				}
			}
			return buffer[position++] & 0xff;
		}

		private int need() throws IOException {
			int b = next();
			if (b < 0) {
				throw new IOException("it ends too early");
			}
			return b;
		}

		long unsigned() throws IOException {
			long v = 0;
			for (int shift = 0; shift < 70; shift += 7) {
				int b = need();
				v |= (b & 0x7fL) << shift;
				if (b < 0x80) {
					return v;
				}
			}
			throw new IOException("a number has too many bytes");
		}

		long signed() throws IOException {
			long v = unsigned();
			return v >>> 1 ^ -(v & 1);
		}

		String text() throws IOException {
			long length = unsigned();
			if (length < 0 || length > LONGEST_NAME) {
				throw new IOException("a name has " + length + " bytes");
			}
			byte[] bytes = new byte[(int) length];
			for (int i = 0; i < bytes.length; i++) {
				bytes[i] = (byte) need();
			}
			return new String(bytes, StandardCharsets.UTF_8);
		}

		@Override
		public void close() throws IOException {
			in.close();
		}
	}
}
