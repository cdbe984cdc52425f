// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/** Questions end when nobody wants them, when they take too long, and when too many are there. */
class WorkTest {
	/** Runs until it is cancelled. */
	private static Object forever(Progress progress, CountDownLatch begun) throws Exception {
		begun.countDown();
		while (true) {
			progress.check();
			Thread.sleep(1);
		}
	}

	private static CompletableFuture<Object> ask(Work work, String asker, CountDownLatch begun) {
		return CompletableFuture.supplyAsync(() -> {
			try {
				return work.answer(asker, p -> forever(p, begun));
			} catch (Exception e) {
				return e;
			}
		}, r -> new Thread(r).start());
	}

	@Test
	void aLaterQuestionOfTheSameAskerEndsTheEarlier() throws Exception {
		try (Work work = new Work(2, 4, 60_000)) {
			CountDownLatch begun = new CountDownLatch(1);
			CompletableFuture<Object> first = ask(work, "a picture", begun);
			begun.await();
			assertEquals("b", work.answer("b picture", p -> "b"));
			assertFalse(first.isDone());
			assertEquals("a", work.answer("a picture", p -> "a"));
			assertEquals(CancelledException.class, first.get(30, TimeUnit.SECONDS).getClass());
			assertFalse(work.isBusy());
		}
	}

	@Test
	void whatTakesTooLongIsGivenUp() throws Exception {
		try (Work work = new Work(1, 4, 20)) {
			assertEquals(503, assertThrows(Refused.class, () -> work.answer("", p -> forever(p, new CountDownLatch(1)))).status());
		}
	}

	@Test
	void tooManyAreRefused() throws Exception {
		try (Work work = new Work(1, 1, 60_000)) {
			CountDownLatch begun = new CountDownLatch(1);
			ask(work, "a", begun);
			begun.await();
			// one is computed, one waits: the third of them is refused
			Object refused = CompletableFuture.anyOf(ask(work, "b", new CountDownLatch(1)), ask(work, "c", new CountDownLatch(1)))
					.get(30, TimeUnit.SECONDS);
			assertEquals(503, ((Refused) refused).status());
		}
	}

	@Test
	void errorsComeBack() {
		try (Work work = new Work(1, 1, 60_000)) {
			assertThrows(MemtraceException.class, () -> work.answer("", p -> {
				throw new MemtraceException("no");
			}));
			assertThrows(ExecutionException.class, () -> work.answer("", p -> {
				throw new StackOverflowError();
			}));
		}
	}
}
