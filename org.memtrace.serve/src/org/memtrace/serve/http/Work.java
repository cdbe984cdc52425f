// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve.http;

import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.memtrace.model.Progress;

/**
 * Computes answers on a few threads, however many ask: what waits is limited in number, what runs in time, and a later question of the
 * same asker about the same thing ends the earlier one. Safe for all threads.
 */
public final class Work implements AutoCloseable {
	/** A question. */
	@FunctionalInterface
	public interface Task<T> {
		T run(Progress progress) throws Exception;
	}

	/** Askers that are remembered; who is forgotten loses nothing but that its earlier question goes on. */
	private static final int MOST_ASKERS = 256;

	private final ThreadPoolExecutor threads;
	private final long mostMs;
	private final Map<String, AtomicBoolean> latest = new ConcurrentHashMap<>();
	private final AtomicInteger running = new AtomicInteger();

	/**
	 * @param atOnce questions that are computed at one time
	 * @param waiting questions that wait; more are refused
	 * @param mostMs time of one question, with its waiting
	 */
	public Work(int atOnce, int waiting, long mostMs) {
		threads = new ThreadPoolExecutor(atOnce, atOnce, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>(waiting), r -> {
			Thread t = new Thread(r, "memtrace-serve");
			t.setDaemon(true);
			return t;
		});
		this.mostMs = mostMs;
	}

	/**
	 * Answers a question.
	 *
	 * @param asker who asks about what; an earlier question with the same text is not wanted any more. Empty: questions have nothing to do
	 *            with each other
	 * @throws Refused too many ask, or it took too long
	 * @throws Exception what the task throws, {@link org.memtrace.model.CancelledException} too
	 */
	public <T> T answer(String asker, Task<T> task) throws Exception {
		AtomicBoolean dropped = new AtomicBoolean();
		if (!asker.isEmpty()) {
			if (latest.size() >= MOST_ASKERS) {
				latest.clear();
			}
			AtomicBoolean earlier = latest.put(asker, dropped);
			if (earlier != null) {
				earlier.set(true);
			}
		}
		Callable<T> call = () -> task.run(Progress.cancelledWhen(dropped::get));
		Future<T> answer;
		try {
			answer = threads.submit(call);
		} catch (RejectedExecutionException e) {
			throw new Refused(503, "too many questions at one time; ask again later");
		}
		running.incrementAndGet();
		try {
			return answer.get(mostMs, TimeUnit.MILLISECONDS);
		} catch (TimeoutException e) {
			throw new Refused(503, "the answer takes longer than " + mostMs / 1000 + " seconds; ask about less");
		} catch (ExecutionException e) {
			if (e.getCause() instanceof Exception known) {
				throw known;
			}
			throw e;
		} finally {
			dropped.set(true);
			answer.cancel(false);
			latest.remove(asker, dropped);
			running.decrementAndGet();
		}
	}

	/** Whether somebody waits for an answer. */
	public boolean isBusy() {
		return running.get() > 0;
	}

	@Override
	public void close() {
		latest.values().forEach(dropped -> dropped.set(true));
		threads.shutdownNow();
	}
}
