// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/** Works on chunks with several threads, ahead of the one that takes the results. */
final class ReadAhead {
	/** Shared by all traces; its threads end when they have had nothing to do. */
	private static final ExecutorService DECODERS;
	private static final int AHEAD = Math.clamp(Runtime.getRuntime().availableProcessors(), 1, 8);

	static {
		java.util.concurrent.ThreadPoolExecutor pool = (java.util.concurrent.ThreadPoolExecutor) Executors.newFixedThreadPool(AHEAD,
				task -> {
					Thread thread = new Thread(task, "memtrace-decoder");
					thread.setDaemon(true);
					return thread;
				});
		pool.setKeepAliveTime(10, java.util.concurrent.TimeUnit.SECONDS);
		pool.allowCoreThreadTimeOut(true);
		DECODERS = pool;
	}

	private ReadAhead() {
	}

	interface Work<T> {
		T of(int chunk) throws MemtraceException;
	}

	interface Result<T> {
		void take(int chunk, T result) throws MemtraceException;
	}

	/** Works on chunks with several threads, gives the results in order on the calling one, and leaves no work behind. */
	static <T> void run(List<Integer> list, Progress progress, Work<T> work, Result<T> result) throws MemtraceException {
		if (list.size() == 1) {
			progress.check();
			result.take(list.get(0), work.of(list.get(0)));
			return;
		}
		Deque<Future<T>> pending = new ArrayDeque<>();
		AtomicBoolean stop = new AtomicBoolean();
		int next = 0;
		try {
			for (int chunk : list) {
				while (next < list.size() && pending.size() <= AHEAD) {
					int n = list.get(next++);
					pending.add(DECODERS.submit(() -> stop.get() ? null : work.of(n)));
				}
				progress.check();
				result.take(chunk, await(pending.remove()));
			}
		} finally {
			stop.set(true);
			pending.forEach(ReadAhead::settle);
		}
	}

	private static <T> T await(Future<T> future) throws MemtraceException {
		try {
			return future.get();
		} catch (InterruptedException e) {
			settle(future);
			Thread.currentThread().interrupt();
			throw new CancelledException();
		} catch (ExecutionException e) {
			switch (e.getCause()) {
			case MemtraceException m -> throw m;
			case Error error -> throw error;
			case RuntimeException r -> throw r;
			default -> throw new IllegalStateException(e.getCause());
			}
		}
	}

	/** Waits until nobody works on it any more: what it reads from may be closed next. */
	private static void settle(Future<?> future) {
		boolean interrupted = false;
		while (true) {
			try {
				future.get();
				break;
			} catch (InterruptedException e) {
				interrupted = true;
			} catch (ExecutionException e) {
				break;
			}
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}
}
