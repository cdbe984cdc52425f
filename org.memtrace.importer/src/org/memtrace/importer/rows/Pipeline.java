// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.rows;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/**
 * A thread that fills batches while the caller empties others. The batches circulate, so memory is bounded.
 *
 * @param <T> a batch
 */
public final class Pipeline<T> implements AutoCloseable {
	private static final int POLL_MS = 100;

	/** What the thread does. */
	public interface Source<T> {
		void fill(Pipeline<T> pipeline) throws MemtraceException, InterruptedException;
	}

	private final BlockingQueue<Object> full;
	private final BlockingQueue<T> free;
	private final Thread thread;

	private record End(Throwable error) {
	}

	public Pipeline(String name, int batches, Supplier<T> maker, Source<T> source) {
		full = new ArrayBlockingQueue<>(batches + 1);
		free = new ArrayBlockingQueue<>(batches);
		for (int i = 0; i < batches; i++) {
			free.add(maker.get());
		}
		thread = new Thread(() -> {
			Throwable error = null;
			try {
				source.fill(this);
			} catch (InterruptedException e) {
				return; // closed
			} catch (Throwable e) { // whatever it is, the caller must not wait for ever
				error = e;
			}
			full.add(new End(error)); // there is room: one more than batches
		}, name);
		thread.setDaemon(true);
		thread.start();
	}

	/** For the thread: hands on a batch (null at first) and gets an empty one. */
	public T exchange(T batch) throws InterruptedException {
		if (batch != null) {
			full.put(batch);
		}
		return free.take();
	}

	/** For the caller: the next batch, null at the end. */
	public T take(Progress progress) throws MemtraceException {
		try {
			while (true) {
				progress.check();
				Object next = full.poll(POLL_MS, TimeUnit.MILLISECONDS);
				if (next instanceof End end) {
					rethrow(end.error);
					return null;
				}
				if (next != null) {
					@SuppressWarnings("unchecked")
					T batch = (T) next;
					return batch;
				}
			}
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			throw new CancelledException();
		}
	}

	/** For the caller: a batch that is empty again. */
	public void release(T batch) {
		free.add(batch);
	}

	private static void rethrow(Throwable error) throws MemtraceException {
		switch (error) {
		case null -> {
		}
		case MemtraceException e -> throw e;
		case RuntimeException e -> throw e;
		case Error e -> throw e;
		default -> throw new IllegalStateException(error);
		}
	}

	/** Stops the thread and waits for it. */
	@Override
	public void close() {
		stop(thread);
	}

	/** Interrupts a thread and waits until it has ended, also when the caller is interrupted, which it stays. */
	public static void stop(Thread thread) {
		thread.interrupt();
		boolean interrupted = false;
		while (thread.isAlive()) {
			try {
				thread.join();
			} catch (InterruptedException e) {
				interrupted = true;
			}
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}
}
