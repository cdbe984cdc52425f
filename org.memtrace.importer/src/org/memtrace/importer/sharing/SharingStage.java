// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.sharing;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.memtrace.importer.rows.Pipeline;
import org.memtrace.importer.rows.RowBatch;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/** Finds sharing in a thread of its own: it takes as long as everything else of the first pass together. */
public final class SharingStage implements AutoCloseable {
	private static final int POLL_MS = 100;
	private static final Object END = new Object();

	private final BlockingQueue<Object> queue;
	private final Thread thread;
	private volatile Throwable error;

	/**
	 * @param batches that can be on their way
	 * @param done gets each batch back; called by the thread of this stage
	 */
	public SharingStage(SharingSweep sharing, int batches, Consumer<RowBatch> done) {
		queue = new ArrayBlockingQueue<>(batches + 1);
		thread = new Thread(() -> {
			try {
				for (Object next = queue.take(); next != END; next = queue.take()) {
					RowBatch batch = (RowBatch) next;
					for (int i = 0; i < batch.sorted; i++) {
						if (batch.page[i] >= 0) {
							sharing.add(batch.page[i], batch.thread[i], batch.startNs[i], batch.endNs[i], batch.reads[i], batch.writes[i],
									batch.flags[i]);
						}
					}
					done.accept(batch);
				}
			} catch (InterruptedException e) {
				// closed
			} catch (Throwable e) { // whatever it is, nobody must wait for ever
				error = e;
			}
		}, "memtrace-sharing");
		thread.setDaemon(true);
		thread.start();
	}

	/** Hands on a batch with pages and threads filled in. */
	public void add(RowBatch batch, Progress progress) throws MemtraceException {
		put(batch, progress);
	}

	/** Waits until all batches are done. */
	public void finish(Progress progress) throws MemtraceException {
		put(END, progress);
		try {
			while (thread.isAlive()) {
				progress.check();
				thread.join(POLL_MS);
			}
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			throw new CancelledException();
		}
		check();
	}

	private void put(Object next, Progress progress) throws MemtraceException {
		try {
			while (!queue.offer(next, POLL_MS, TimeUnit.MILLISECONDS)) {
				progress.check();
				check();
			}
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			throw new CancelledException();
		}
		check();
	}

	/** What went wrong in the thread goes wrong here. */
	void check() {
		switch (error) {
		case null -> {
		}
		case RuntimeException e -> throw e;
		case Error e -> throw e;
		default -> throw new IllegalStateException(error);
		}
	}

	@Override
	public void close() {
		Pipeline.stop(thread);
	}
}
