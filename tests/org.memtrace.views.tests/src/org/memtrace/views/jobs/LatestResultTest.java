// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.swt.widgets.Display;
import org.eclipse.ui.PlatformUI;
import org.junit.jupiter.api.Test;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;

/** Results come when the test lets them come, so that every order can be tried. */
class LatestResultTest {
	private final Display display = PlatformUI.getWorkbench().getDisplay();
	private final Map<String, CountDownLatch> started = new ConcurrentHashMap<>();
	private final Map<String, CountDownLatch> released = new ConcurrentHashMap<>();
	private final List<String> seen = Collections.synchronizedList(new ArrayList<>());
	private final AtomicBoolean alive = new AtomicBoolean(true);

	private final class Gated extends LatestResult<String, String> {
		Gated(Policy policy) {
			this(policy, Priority.NORMAL);
		}

		Gated(Policy policy, Priority priority) {
			super("test", display, alive::get, policy, priority);
		}

		@Override
		protected String compute(String input, Progress progress) throws MemtraceException {
			gate(started, input).countDown();
			await(gate(released, input));
			if (input.startsWith("bad")) {
				throw new StoreException(input);
			}
			progress.check();
			return input;
		}

		@Override
		protected void show(String input, String result) {
			seen.add("show " + result);
		}

		@Override
		protected void failed(String input, String message) {
			seen.add("failed " + message);
		}

		@Override
		protected void dropped(String result) {
			seen.add("dropped " + result);
		}
	}

	private static CountDownLatch gate(Map<String, CountDownLatch> gates, String input) {
		return gates.computeIfAbsent(input, k -> new CountDownLatch(1));
	}

	private static void await(CountDownLatch latch) {
		try {
			assertTrue(latch.await(120, TimeUnit.SECONDS), "nobody came");
		} catch (InterruptedException e) {
			throw new AssertionError(e);
		}
	}

	private void submit(Gated job, String input) {
		display.syncExec(() -> job.submit(input));
	}

	private void start(Gated job, String input) {
		submit(job, input);
		await(gate(started, input));
	}

	private void release(String input) {
		gate(released, input).countDown();
	}

	/** Waits until all jobs have ended and the display thread has seen their results. */
	private void settle(Gated job) throws Exception {
		for (int i = 0; i < 3; i++) {
			Job.getJobManager().join(job, null);
			display.syncExec(() -> {
			});
		}
	}

	@Test
	void onlyTheNewestIsShown() throws Exception {
		Gated job = new Gated(LatestResult.Policy.ONLY_NEWEST);
		start(job, "a");
		submit(job, "b");
		submit(job, "c");
		release("c");
		release("b");
		release("a");
		settle(job);
		assertEquals(List.of("show c"), seen);
		assertFalse(started.containsKey("b"), "b was never wanted");
	}

	@Test
	void keepUpShowsInOrderAndSkips() throws Exception {
		Gated job = new Gated(LatestResult.Policy.KEEP_UP);
		start(job, "a");
		submit(job, "b");
		submit(job, "c");
		release("a");
		await(gate(started, "c"));
		release("c");
		settle(job);
		assertEquals(List.of("show a", "show c"), seen);
	}

	@Test
	void nothingIsShownAfterTheWidgetIsGone() throws Exception {
		Gated job = new Gated(LatestResult.Policy.ONLY_NEWEST);
		start(job, "a");
		alive.set(false);
		release("a");
		settle(job);
		assertEquals(List.of("dropped a"), seen);
	}

	@Test
	void cancelShowsNothingButLaterInputsWork() throws Exception {
		Gated job = new Gated(LatestResult.Policy.KEEP_UP);
		start(job, "a");
		display.syncExec(job::cancel);
		release("a");
		settle(job);
		release("b");
		submit(job, "b");
		settle(job);
		assertEquals(List.of("show b"), seen);
	}

	@Test
	void whatCanWaitBeginsWhenNothingUrgentIsLeft() throws Exception {
		Gated patient = new Gated(LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.CAN_WAIT);
		Gated urgent = new Gated(LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.URGENT);
		// in one event, the patient one first
		display.syncExec(() -> {
			patient.submit("later");
			urgent.submit("a");
		});
		await(gate(started, "a"));
		submit(urgent, "b");
		release("a");
		await(gate(started, "b"));
		display.syncExec(() -> {
		});
		assertFalse(started.containsKey("later"), "it waits");
		release("b");
		await(gate(started, "later"));
		assertEquals(List.of("show b"), seen);
		release("later");
		settle(patient);
		assertEquals(List.of("show b", "show later"), seen);
		assertFalse(display.syncCall(patient::isBusy));
	}

	@Test
	void whatIsCancelledWhileItWaitsEnds() throws Exception {
		Gated patient = new Gated(LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.CAN_WAIT);
		Gated urgent = new Gated(LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.URGENT);
		start(urgent, "a");
		submit(patient, "never");
		display.syncExec(patient::cancel);
		release("a");
		settle(urgent);
		settle(patient);
		assertFalse(started.containsKey("never"));
		assertFalse(display.syncCall(patient::isBusy));
	}

	@Test
	void aFailureOfAnOldInputIsNotShown() throws Exception {
		Gated job = new Gated(LatestResult.Policy.ONLY_NEWEST);
		start(job, "bad a");
		submit(job, "b");
		release("b");
		release("bad a");
		settle(job);
		assertEquals(List.of("show b"), seen);
		release("bad c");
		submit(job, "bad c");
		settle(job);
		assertEquals(List.of("show b", "failed bad c"), seen);
	}
}
