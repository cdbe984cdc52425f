// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.parts;

import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.zip.CRC32C;

import com.github.luben.zstd.Zstd;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.StoreException;

/**
 * A file of blocks and of what is said about them: a mark, the blocks, then the head, compressed by zstd, and 28 bytes: where the head is,
 * its lengths, its checksum, and the mark again. The head begins with a text, the stamp of the kind of file, and ends with length and
 * CRC32C of each block. So each byte belongs to a checksum, and a block can be read without the others.
 */
public final class PartFile {
	private static final byte[] MARK = "MTimpor2".getBytes(StandardCharsets.US_ASCII);
	private static final int TAIL = Long.BYTES + 3 * Integer.BYTES + 8;
	private static final int LEVEL = 1;

	private PartFile() {
	}

	/** Writes what is said about the blocks. */
	@FunctionalInterface
	public interface Head {
		void write(DataOutputStream out) throws IOException;
	}

	/** Reads what is said about the blocks. */
	@FunctionalInterface
	public interface Content<T> {
		T read(DataInputStream in) throws IOException, MemtraceException;
	}

	/** Whether a file that begins so may be one. */
	public static boolean mayBe(byte[] begin) {
		return begin.length >= MARK.length && Arrays.equals(begin, 0, MARK.length, MARK, 0, MARK.length);
	}

	static void text(DataOutputStream out, String text) throws IOException {
		byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
		out.writeInt(utf8.length);
		out.write(utf8);
	}

	static String text(DataInputStream in) throws IOException {
		return new String(in.readNBytes(count(in)), StandardCharsets.UTF_8);
	}

	/** A number of things that are there. */
	static int count(DataInputStream in) throws IOException {
		int n = in.readInt();
		if (n < 0 || n > in.available()) {
			throw new IOException("its numbers do not fit together");
		}
		return n;
	}

	private static int crc(byte[] bytes, int length) {
		CRC32C crc = new CRC32C();
		crc.update(bytes, 0, length);
		return (int) crc.getValue();
	}

	/** Writes a file from front to back. */
	public static final class Writer implements AutoCloseable {
		private final OutputStream out;
		private final ByteArrayOutputStream table = new ByteArrayOutputStream();
		private final DataOutputStream blocks = new DataOutputStream(table);
		private int count;
		private long offset = MARK.length;

		public Writer(Path file) throws IOException {
			out = new BufferedOutputStream(Files.newOutputStream(file), 1 << 16);
			out.write(MARK);
		}

		/** Appends a block. */
		public void block(byte[] bytes, int length) throws IOException {
			out.write(bytes, 0, length);
			blocks.writeInt(length);
			blocks.writeInt(crc(bytes, length));
			offset += length;
			count++;
		}

		/** Writes the head: the file is complete then. */
		public void finish(String stamp, Head head) throws IOException {
			ByteArrayOutputStream bytes = new ByteArrayOutputStream();
			DataOutputStream data = new DataOutputStream(bytes);
			text(data, stamp);
			head.write(data);
			data.writeInt(count);
			table.writeTo(data);
			byte[] plain = bytes.toByteArray();
			byte[] packed = Zstd.compress(plain, LEVEL);
			ByteBuffer tail = ByteBuffer.allocate(TAIL).putLong(offset).putInt(packed.length).putInt(plain.length);
			CRC32C crc = new CRC32C();
			crc.update(packed);
			crc.update(tail.array(), 0, tail.position());
			tail.putInt((int) crc.getValue()).put(MARK);
			out.write(packed);
			out.write(tail.array());
			out.flush();
		}

		@Override
		public void close() throws IOException {
			out.close();
		}
	}

	/** An open file. */
	public static final class Reader<T> implements AutoCloseable {
		private final String name;
		private final FileChannel file;
		private final T content;
		private final long[] offset;
		private final int[] crc;

		private Reader(String name, FileChannel file, T content, long[] offset, int[] crc) {
			this.name = name;
			this.file = file;
			this.content = content;
			this.offset = offset;
			this.crc = crc;
		}

		/** How a person calls it. */
		public String name() {
			return name;
		}

		/** What is said about the blocks. */
		public T content() {
			return content;
		}

		/** Number of blocks. */
		public int blocks() {
			return crc.length;
		}

		/** A block. */
		public byte[] block(int number) throws StoreException {
			byte[] bytes = new byte[(int) (offset[number + 1] - offset[number])];
			try {
				PartFile.read(file, offset[number], bytes);
			} catch (IOException e) {
				throw new StoreException(name + " cannot be read: " + e.getMessage(), e);
			}
			if (crc(bytes, bytes.length) != crc[number]) {
				throw damaged(name, "the checksum of its rows does not fit");
			}
			return bytes;
		}

		@Override
		public void close() {
			try {
				file.close();
			} catch (IOException e) {
				// it was only read
			}
		}
	}

	private static void read(FileChannel file, long offset, byte[] bytes) throws IOException {
		ByteBuffer into = ByteBuffer.wrap(bytes);
		while (into.hasRemaining()) {
			if (file.read(into, offset + into.position()) < 0) {
				throw new IOException("it became shorter");
			}
		}
	}

	/** What is said of a file whose bytes are not those that were written. */
	public static StoreException damaged(String name, String why) {
		return new StoreException(name + " is a damaged part of an import: " + why);
	}

	/**
	 * The stamp of a file.
	 *
	 * @param name as a person calls it
	 */
	public static String stamp(Path path, String name) throws StoreException {
		try (Reader<String> file = open(path, name, null, in -> null)) {
			return file.content();
		}
	}

	/** @param at where it stands, behind the blocks */
	private record Tail(long at, byte[] plain) {
	}

	/** Reads what stands at the end of a file, of which nothing is known yet. */
	private static Tail tail(FileChannel file, String name) throws IOException, StoreException {
		byte[] mark = new byte[MARK.length];
		byte[] end = new byte[TAIL];
		long size = file.size();
		if (size >= MARK.length) {
			read(file, 0, mark);
		}
		if (!mayBe(mark)) {
			throw new StoreException(name + " is no part of an import");
		}
		if (size < MARK.length + TAIL) {
			throw damaged(name, "it is too short");
		}
		read(file, size - TAIL, end);
		ByteBuffer tail = ByteBuffer.wrap(end);
		long at = tail.getLong();
		int length = tail.getInt();
		int plainLength = tail.getInt();
		int sum = tail.getInt();
		if (!Arrays.equals(end, TAIL - MARK.length, TAIL, MARK, 0, MARK.length)) {
			throw damaged(name, "its end is missing");
		}
		if (at < MARK.length || length < 0 || plainLength < 0 || at > size || at + length + TAIL != size) {
			throw damaged(name, "its lengths do not fit together");
		}
		byte[] packed = new byte[length];
		read(file, at, packed);
		CRC32C crc = new CRC32C();
		crc.update(packed);
		crc.update(end, 0, Long.BYTES + 2 * Integer.BYTES);
		if ((int) crc.getValue() != sum) {
			throw damaged(name, "the checksum of its head does not fit");
		}
		byte[] plain = new byte[plainLength];
		Zstd.decompressByteArray(plain, 0, plainLength, packed, 0, length);
		return new Tail(at, plain);
	}

	/**
	 * Opens a file.
	 *
	 * @param name as a person calls it
	 * @param stamp of the kind that is wanted; null for any, of which only the stamp is read
	 */
	@SuppressWarnings("unchecked")
	public static <T> Reader<T> open(Path path, String name, String stamp, Content<T> content) throws StoreException {
		FileChannel file = null;
		try {
			file = FileChannel.open(path, StandardOpenOption.READ);
			Tail tail = tail(file, name);
			DataInputStream in = new DataInputStream(new ByteArrayInputStream(tail.plain));
			String found = text(in);
			if (stamp == null) {
				Reader<T> reader = new Reader<>(name, file, (T) found, new long[1], new int[0]);
				file = null;
				return reader;
			}
			if (!found.equals(stamp)) {
				throw new StoreException(name + " is a " + found + ", not a " + stamp);
			}
			T read = content.read(in);
			int blocks = in.readInt();
			if (blocks < 0 || blocks > in.available() / 8) {
				throw damaged(name, "its numbers do not fit together");
			}
			long[] offset = new long[blocks + 1];
			int[] sums = new int[blocks];
			offset[0] = MARK.length;
			for (int b = 0; b < blocks; b++) {
				offset[b + 1] = offset[b] + in.readInt();
				sums[b] = in.readInt();
			}
			if (offset[blocks] != tail.at) {
				throw damaged(name, "its numbers do not fit together");
			}
			Reader<T> reader = new Reader<>(name, file, read, offset, sums);
			file = null;
			return reader;
		} catch (StoreException e) {
			throw e;
		} catch (IOException e) {
			throw new StoreException(name + " cannot be read: " + e.getMessage(), e);
		} catch (MemtraceException | RuntimeException e) {
			throw damaged(name, "its numbers do not fit together");
		} finally {
			if (file != null) {
				try {
					file.close();
				} catch (IOException e) {
					// it was only read
				}
			}
		}
	}
}
