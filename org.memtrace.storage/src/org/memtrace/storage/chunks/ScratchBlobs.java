// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

import org.memtrace.model.StoreException;

/** Chunks that are needed as long as a trace is open: some on the heap, the rest in a file without a name. */
public final class ScratchBlobs implements Blobs, RowSorter.Sink, AutoCloseable {
	private static final long HEAP_BYTES = 32L << 20;

	private record Place(byte[] bytes, long offset, int length) {
	}

	private final Path directory;
	private final List<Place[]> places = new ArrayList<>();
	private final List<ChunkEntry> index = new ArrayList<>();
	private long heapLeft;
	private FileChannel file;
	private long fileSize;

	/** @param directory where the file is made if one is needed; null to keep everything on the heap */
	public ScratchBlobs(Path directory) {
		this(directory, directory == null ? Long.MAX_VALUE : HEAP_BYTES);
	}

	ScratchBlobs(Path directory, long heapBytes) {
		this.directory = directory;
		heapLeft = heapBytes;
	}

	@Override
	public void chunk(int number, ChunkEntry entry, byte[][] columns) throws StoreException {
		Place[] found = new Place[columns.length];
		for (int c = 0; c < columns.length; c++) {
			found[c] = columns[c] == null ? null : place(columns[c]);
		}
		places.add(found);
		index.add(entry);
	}

	private Place place(byte[] bytes) throws StoreException {
		if (bytes.length <= heapLeft) {
			heapLeft -= bytes.length;
			return new Place(bytes, 0, bytes.length);
		}
		try {
			if (file == null) {
				Path path = Files.createTempFile(directory, ".memtrace-order-", ".tmp");
				file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
				Files.delete(path);
			}
			long offset = fileSize;
			ByteBuffer from = ByteBuffer.wrap(bytes);
			while (from.hasRemaining()) {
				fileSize += file.write(from, fileSize);
			}
			return new Place(null, offset, bytes.length);
		} catch (IOException e) {
			throw new StoreException("temporary data cannot be written to " + directory + ": " + e.getMessage(), e);
		}
	}

	@Override
	public byte[] read(int chunk, int column) throws StoreException {
		Place place = places.get(chunk)[column];
		if (place == null || place.bytes != null) {
			return place == null ? null : place.bytes;
		}
		ByteBuffer into = ByteBuffer.allocate(place.length);
		try {
			while (into.hasRemaining()) {
				if (file.read(into, place.offset + into.position()) < 0) {
					throw new IOException("it became shorter");
				}
			}
		} catch (IOException e) {
			throw new StoreException("temporary data cannot be read: " + e.getMessage(), e);
		}
		return into.array();
	}

	/** The chunks that were added. */
	public List<ChunkEntry> index() {
		return index;
	}

	@Override
	public void close() {
		places.clear();
		if (file != null) {
			try {
				file.close();
			} catch (IOException e) {
				// it has no name any more
			}
		}
	}
}
