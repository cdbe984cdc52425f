// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.base;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.atomic.AtomicInteger;

import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/** Runs independent tasks 0..n-1 on the common pool and the calling thread. Results must not depend on who runs what. */
public final class Parallel {
	@FunctionalInterface
	public interface Task {
		void run(int index) throws CancelledException;
	}

	/** A task that reads what may fail. */
	@FunctionalInterface
	public interface Reading {
		void run(int index) throws MemtraceException;
	}

	private Parallel() {
	}

	/** Number of threads that work is worth dividing for. */
	public static int threads() {
		return Math.max(1, Runtime.getRuntime().availableProcessors());
	}

	/** Runs all tasks and returns when they are done; the first failure stops the others. */
	public static void run(int count, Progress progress, Task task) throws CancelledException {
		try {
			read(count, progress, task::run);
		} catch (CancelledException e) {
			throw e;
		} catch (MemtraceException e) {
			throw new IllegalStateException(e); // the task throws no other one
		}
	}

	/** Runs tasks that may fail with a {@link MemtraceException}. The first failure ends the others and is thrown. */
	public static void read(int count, Progress progress, Reading task) throws MemtraceException {
		AtomicInteger next = new AtomicInteger();
		int helpers = Math.min(threads(), count) - 1;
		ForkJoinTask<?>[] forked = new ForkJoinTask<?>[Math.max(0, helpers)];
		Throwable[] failure = new Throwable[1];
		Runnable work = () -> {
			try {
				for (int i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
					progress.check();
					task.run(i);
				}
			} catch (MemtraceException | RuntimeException | Error e) {
				next.set(count);
				synchronized (failure) {
					if (failure[0] == null) {
						failure[0] = e;
					}
				}
			}
		};
		for (int i = 0; i < forked.length; i++) {
			forked[i] = ForkJoinPool.commonPool().submit(work);
		}
		work.run();
		for (ForkJoinTask<?> f : forked) {
			f.join();
		}
		if (failure[0] instanceof MemtraceException e) {
			throw e;
		} else if (failure[0] instanceof RuntimeException e) {
			throw e;
		} else if (failure[0] instanceof Error e) {
			throw e;
		}
	}
}
