// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.CRC32C;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * Columns of integers that were made from a trace, saved in the cache of its database. A header says what they were made from;
 * it and the parts have checksums. What does not fit, is not complete or is damaged counts as not there. Format, limits:
 * docs/microscopic-model.md, "Saved columns".
 */
final class AccessCache {
	/** Raise whenever what is saved, or how it is computed from a trace, changes. */
	static final int FORMAT = 2;
	static final long DEFAULT_LIMIT_BYTES = 512L << 20;
	/** Fewer records are read from the database as fast. */
	static final int LEAST_RECORDS = 200_000;
	private static final String KEY = "accesses";
	private static final int MAGIC = 0x6d74616b;
	private static final int PART = 1 << 22;

	private final TraceStore store;
	private final long limitBytes;
	/** Of the store, before anything is read; empty if nothing may be saved. */
	private final String stamp;
	/** Found on another thread while the columns are read. */
	private final CompletableFuture<String> identity;

	AccessCache(TraceStore store, long limitBytes) throws MemtraceException {
		this.store = store;
		this.limitBytes = limitBytes;
		this.stamp = limitBytes <= 0 ? "" : store.contentStamp();
		this.identity = CompletableFuture.supplyAsync(() -> {
			try {
				return identity(store, stamp);
			} catch (MemtraceException e) {
				throw new CompletionException(e);
			}
		});
	}

	private String identity() throws MemtraceException {
		try {
			return identity.join();
		} catch (CompletionException e) {
			if (e.getCause() instanceof MemtraceException m) {
				throw m;
			}
			throw e;
		}
	}

	/** What the columns depend on; the display name and the number in a catalogue are not among it. */
	private static String identity(TraceStore store, String stamp) throws MemtraceException {
		TraceInfo i = store.info();
		ProducerTree tree = store.producers();
		CRC32C shape = new CRC32C();
		ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
		for (int id = 0; id < tree.size(); id++) {
			if (buffer.remaining() < 12) {
				shape.update(buffer.flip());
				buffer.clear();
			}
			buffer.putInt(tree.subtreeEnd(id)).putLong(tree.startAddress(id));
		}
		shape.update(buffer.flip());
		CRC32C texts = new CRC32C();
		texts.update((new TreeMap<>(i.properties()) + "|" + store.importReport().orElse("") + "|" + store.cpuSets())
				.getBytes(StandardCharsets.UTF_8));
		return String.join("|", Integer.toString(FORMAT), stamp, i.type(), Long.toString(store.accessCount()),
				Long.toString(i.events()), Long.toString(i.startNs()), Long.toString(i.endNs()), i.recordedAt().toString(),
				Integer.toString(tree.size()), Long.toHexString(shape.getValue()), Integer.toString(store.threads().size()),
				Long.toHexString(texts.getValue()));
	}

	/** The limit that applies: property memtrace.cache.limit, else the environment, else the default. */
	static long configuredLimit() {
		String text = System.getProperty("memtrace.cache.limit", System.getenv("MEMTRACE_CACHE_LIMIT"));
		return text == null ? DEFAULT_LIMIT_BYTES : limit(text);
	}

	/** A number of bytes, with K, M or G if wanted; the default when it is neither. */
	static long limit(String text) {
		if (!text.strip().matches("[0-9]{1,15}[KMGkmg]?")) {
			return DEFAULT_LIMIT_BYTES;
		}
		String t = text.strip().toUpperCase(Locale.ROOT);
		int shift = t.endsWith("K") ? 10 : t.endsWith("M") ? 20 : t.endsWith("G") ? 30 : 0;
		long n = Long.parseLong(shift == 0 ? t : t.substring(0, t.length() - 1));
		return n > Long.MAX_VALUE >> shift ? Long.MAX_VALUE : n << shift;
	}

	/** How a column is saved: values are base + unsigned number of {@code width} bytes, 0 when all are the same. */
	private record Column(int count, int width, long base) {
		int parts() {
			return (count + PART - 1) / PART;
		}

		static Column of(Object array) {
			if (array instanceof PackedColumn c) {
				return new Column(c.size(), c.width(), c.base());
			}
			int count = ((long[]) array).length;
			long min = Long.MAX_VALUE;
			long max = Long.MIN_VALUE;
			for (int i = 0; i < count; i++) {
				long v = get(array, i);
				min = Math.min(min, v);
				max = Math.max(max, v);
			}
			if (count == 0) {
				return new Column(0, 0, 0);
			}
			long range = max - min;
			int width = range < 0 || range > 0xffffffffL ? 8 : range > 0xffff ? 4 : range > 0xff ? 2 : range > 0 ? 1 : 0;
			return new Column(count, width, min);
		}
	}

	private static long get(Object array, int i) {
		return ((long[]) array)[i];
	}

	private static ByteBuffer encode(Object array, Column c, int part) {
		int from = part * PART;
		int to = Math.min(c.count, from + PART);
		if (array instanceof PackedColumn column) {
			return column.saved(from, to);
		}
		ByteBuffer out = ByteBuffer.allocate((to - from) * c.width).order(ByteOrder.LITTLE_ENDIAN);
		for (int i = from; i < to; i++) {
			long v = get(array, i) - c.base;
			switch (c.width) {
			case 1 -> out.put((byte) v);
			case 2 -> out.putShort((short) v);
			case 4 -> out.putInt((int) v);
			case 8 -> out.putLong(v);
			default -> {
			}
			}
		}
		return out.flip();
	}

	private static void decode(byte[] bytes, Column c, int part, Object array) {
		ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
		int from = part * PART;
		int n = Math.min(c.count, from + PART) - from;
		if (array instanceof PackedColumn column) {
			column.fill(from, in);
			return;
		}
		long[] values = (long[]) array;
		for (int i = 0; i < n; i++) {
			values[from + i] = c.base + switch (c.width) {
			case 1 -> bytes[i] & 0xff;
			case 2 -> in.getShort(2 * i) & 0xffff;
			case 4 -> in.getInt(4 * i) & 0xffffffffL;
			case 8 -> in.getLong(8 * i);
			default -> 0;
			};
		}
	}

	/** What the header says. */
	private record Header(String identity, Column[] columns, int[][] checksums) {
		/** Null when it is none of this format. */
		static Header read(byte[] bytes) {
			int length = bytes.length - Integer.BYTES;
			if (length < 0 || checksum(ByteBuffer.wrap(bytes, 0, length)) != ByteBuffer.wrap(bytes).getInt(length)) {
				return null;
			}
			try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
				if (in.readInt() != MAGIC || in.readInt() != FORMAT) {
					return null;
				}
				Header h = new Header(in.readUTF(), new Column[in.readUnsignedShort()], null);
				int[][] checksums = new int[h.columns.length][];
				for (int c = 0; c < h.columns.length; c++) {
					h.columns[c] = new Column(in.readInt(), in.readUnsignedByte(), in.readLong());
					checksums[c] = new int[h.columns[c].parts()];
					for (int part = 0; part < checksums[c].length; part++) {
						checksums[c][part] = in.readInt();
					}
				}
				return new Header(h.identity, h.columns, checksums);
			} catch (IOException | RuntimeException e) {
				return null; // damaged: as if it were not there
			}
		}

		byte[] bytes() {
			ByteArrayOutputStream bytes = new ByteArrayOutputStream();
			try (DataOutputStream out = new DataOutputStream(bytes)) {
				out.writeInt(MAGIC);
				out.writeInt(FORMAT);
				out.writeUTF(identity);
				out.writeShort(columns.length);
				for (int c = 0; c < columns.length; c++) {
					out.writeInt(columns[c].count);
					out.writeByte(columns[c].width);
					out.writeLong(columns[c].base);
					for (int checksum : checksums[c]) {
						out.writeInt(checksum);
					}
				}
				out.writeInt(checksum(ByteBuffer.wrap(bytes.toByteArray())));
			} catch (IOException e) {
				throw new UncheckedIOException(e); // not in memory
			}
			return bytes.toByteArray();
		}

		long size() {
			long size = 0;
			for (Column c : columns) {
				size += (long) c.count * c.width;
			}
			return size;
		}
	}

	private static String key(int column, int part) {
		return KEY + "." + column + "." + part;
	}

	private static int checksum(ByteBuffer bytes) {
		CRC32C crc = new CRC32C();
		crc.update(bytes.duplicate());
		return (int) crc.getValue();
	}

	/**
	 * The saved columns, as {@link PackedColumn} or {@code long[]} as the kinds say; empty when there are none
	 * that belong to the trace as it is. Those that do not, or are larger than the limit, are deleted.
	 *
	 * @param kinds an empty column or array of the type of each column
	 */
	Optional<Object[]> read(Object[] kinds, Progress progress) throws MemtraceException {
		byte[] saved = store.readCache(KEY).orElse(new byte[0]);
		if (saved.length == 0) {
			return Optional.empty();
		}
		Header header = Header.read(saved);
		if (header == null || header.columns.length != kinds.length || header.size() > limitBytes
				|| stamp.isEmpty()) {
			delete(header);
			return Optional.empty();
		}
		Object[] columns = new Object[kinds.length];
		int[] firstPart = new int[kinds.length + 1];
		for (int c = 0; c < kinds.length; c++) {
			Column d = header.columns[c];
			columns[c] = kinds[c] instanceof PackedColumn ? new PackedColumn(d.count, d.width, d.base) : new long[d.count];
			firstPart[c + 1] = firstPart[c] + header.columns[c].parts();
		}
		int parts = firstPart[kinds.length];
		progress.begin("Reading saved accesses", parts);
		AtomicBoolean whole = new AtomicBoolean(true);
		Parallel.run(parts, progress, i -> {
			int c = 0;
			while (firstPart[c + 1] <= i) {
				c++;
			}
			int part = i - firstPart[c];
			if (!whole.get() || !readPart(header, c, part, columns[c])) {
				whole.set(false);
			}
			progress.worked(1);
		});
		if (!whole.get() || !header.identity.equals(identity())) {
			delete(header);
			return Optional.empty();
		}
		return Optional.of(columns);
	}

	private boolean readPart(Header header, int c, int part, Object column) {
		Column d = header.columns[c];
		byte[] bytes = {};
		if (d.width > 0) {
			try {
				bytes = store.readCache(key(c, part)).orElse(bytes);
			} catch (MemtraceException e) {
				return false; // the trace itself can still be read, or says why not
			}
		}
		int n = Math.min(d.count, (part + 1) * PART) - part * PART;
		if (bytes.length != (long) n * d.width || checksum(ByteBuffer.wrap(bytes)) != header.checksums[c][part]) {
			return false;
		}
		decode(bytes, d, part, column);
		return true;
	}

	private void delete(Header header) throws MemtraceException {
		store.writeCache(KEY, new byte[0]);
		for (int c = 0; header != null && c < header.columns.length; c++) {
			for (int part = 0; part < header.columns[c].parts(); part++) {
				store.writeCache(key(c, part), new byte[0]);
			}
		}
	}

	/** Saves columns, unless they are larger than the limit. The header comes last: without it nothing is there. */
	void write(Object[] columns, Progress progress) throws MemtraceException {
		Header header = new Header(identity(), new Column[columns.length], new int[columns.length][]);
		int parts = 0;
		for (int c = 0; c < columns.length; c++) {
			progress.check();
			header.columns[c] = Column.of(columns[c]);
			header.checksums[c] = new int[header.columns[c].parts()];
			parts += header.checksums[c].length;
		}
		if (header.size() > limitBytes || stamp.isEmpty()) {
			return;
		}
		progress.begin("Saving accesses for the next time", parts);
		for (int c = 0; c < columns.length; c++) {
			for (int part = 0; part < header.checksums[c].length; part++) {
				progress.check();
				ByteBuffer bytes = encode(columns[c], header.columns[c], part);
				header.checksums[c][part] = checksum(bytes);
				if (bytes.hasRemaining()) {
					store.writeCache(key(c, part), bytes.array());
				}
				progress.worked(1);
			}
		}
		store.writeCache(KEY, header.bytes());
	}
}
