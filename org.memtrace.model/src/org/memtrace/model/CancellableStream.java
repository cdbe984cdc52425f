// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * What comes through a pipe, which can be waited for and cancelled: opening a named pipe waits until somebody writes to it, and reading
 * waits for what is written. Another thread does both, and ends with the process. When the user cancels, reading ends with an
 * {@link InterruptedIOException}. Read by one thread.
 */
public final class CancellableStream extends InputStream {
	/** Opens what is read; on the thread that reads it. */
	@FunctionalInterface
	public interface Source {
		/** Opens it. */
		InputStream open() throws IOException;
	}

	/** What came in one piece; after the last one its failure, or that it is the end. */
	private record Piece(byte[] bytes, int length, IOException failure) {
	}

	private static final int PIECE = 1 << 16;
	private static final int WAITING = 4;
	private static final int LOOK_MS = 100;

	private final Source source;
	private final Progress progress;
	private final BlockingQueue<Piece> pieces = new ArrayBlockingQueue<>(WAITING);
	private Thread reader;
	private Piece piece;
	private int at;

	/** Opens nothing before it is read. @param progress says when to stop */
	public CancellableStream(Source source, Progress progress) {
		this.source = source;
		this.progress = progress;
	}

	private void pump() {
		try {
			try (InputStream in = source.open()) {
				while (true) {
					byte[] bytes = new byte[PIECE];
					int n = in.read(bytes);
					pieces.put(new Piece(bytes, n, null));
					if (n < 0) {
						return;
					}
				}
			} catch (IOException e) {
				pieces.put(new Piece(null, 0, e));
			} catch (RuntimeException e) {
				pieces.put(new Piece(null, 0, new IOException(e)));
			}
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt(); // it was closed
		}
	}

	/** Goes to the next piece when this one is used up; false at the end. */
	private boolean more() throws IOException {
		if (reader == null) {
			reader = new Thread(this::pump, "pipe");
			reader.setDaemon(true);
			reader.start();
		}
		while (piece == null || piece.failure == null && piece.length >= 0 && at == piece.length) {
			if (progress.isCancelled()) {
				throw new InterruptedIOException("cancelled");
			}
			try {
				Piece next = pieces.poll(LOOK_MS, TimeUnit.MILLISECONDS);
				if (next != null) {
					piece = next;
					at = 0;
				}
			} catch (InterruptedException e) {
				Thread.currentThread().interrupt();
				throw new InterruptedIOException("interrupted");
			}
		}
		if (piece.failure != null) {
			throw piece.failure;
		}
		return piece.length > 0;
	}

	@Override
	public int read() throws IOException {
		return more() ? piece.bytes[at++] & 0xff : -1;
	}

	@Override
	public int read(byte[] buffer, int offset, int length) throws IOException {
		if (length == 0) {
			return 0;
		}
		if (!more()) {
			return -1;
		}
		int n = Math.min(length, piece.length - at);
		System.arraycopy(piece.bytes, at, buffer, offset, n);
		at += n;
		return n;
	}

	/** What was not read is dropped; where the other thread waits for a pipe, it waits on. */
	@Override
	public void close() {
		if (reader != null) {
			reader.interrupt();
		}
	}
}
