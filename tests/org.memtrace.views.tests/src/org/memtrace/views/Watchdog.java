// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

import org.eclipse.swt.widgets.Display;

/** Longest time that the display thread did not answer, and in the log what it did for so long. */
public final class Watchdog implements AutoCloseable {
	/** After that long without an answer it looks what the display thread does; twice as long is told. */
	private static final int LONG_MS = 40;

	private final Display display;
	private final AtomicBoolean stop = new AtomicBoolean();
	private final AtomicLong longest = new AtomicLong();
	private final Thread thread = new Thread(this::watch, "watchdog");

	public Watchdog(Display display) {
		this.display = display;
		thread.setDaemon(true);
		thread.start();
	}

	private void watch() {
		try {
			while (!stop.get()) {
				CountDownLatch answer = new CountDownLatch(1);
				List<String> stacks = new ArrayList<>();
				long t0 = System.nanoTime();
				display.asyncExec(answer::countDown);
				for (long ms = LONG_MS; !answer.await(ms, TimeUnit.MILLISECONDS); ms = 10) {
					stacks.add(stack());
				}
				long ns = System.nanoTime() - t0;
				longest.accumulateAndGet(ns, Math::max);
				if (ns > 2_000_000L * LONG_MS) {
					System.out.printf(Locale.ROOT, "# no answer for %.0f ms:%n%s%n", ns / 1e6, String.join("\n", stacks));
				}
				Thread.sleep(5);
			}
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}

	/** What the display thread does at the moment, innermost calls first. */
	private String stack() {
		return Arrays.stream(display.getThread().getStackTrace()).limit(14)
				.map(e -> e.getClassName().replaceAll(".*\\.", "") + "." + e.getMethodName() + ":" + e.getLineNumber())
				.collect(Collectors.joining(" < ", "#   ", ""));
	}

	/** Since the last call. */
	public double longestMs() {
		return longest.getAndSet(0) / 1e6;
	}

	@Override
	public void close() {
		stop.set(true);
	}

	/** Time until something is so, asked for every millisecond. */
	public static double until(Bot bot, Runnable what, BooleanSupplier done) throws InterruptedException {
		long t0 = System.nanoTime();
		what.run();
		while (!bot.ui(done::getAsBoolean)) {
			Thread.sleep(1);
		}
		return (System.nanoTime() - t0) / 1e6;
	}

	/** A row of the table of results, with the longest time since the last one. */
	public void told(String what, String result) {
		row(what, "%s; display thread away %.0f ms", result, longestMs());
	}

	/** A row of the table of results. */
	public static void row(String what, String format, Object... values) {
		System.out.println("| " + what + " | " + String.format(Locale.ROOT, format, values) + " |");
	}

	public static String figures(List<Double> ms) {
		if (ms.isEmpty()) {
			return "none";
		}
		ms.sort(null);
		return String.format(Locale.ROOT, "median %.0f, 95 %% %.0f, most %.0f ms (%d)", ms.get(ms.size() / 2),
				ms.get((int) (0.95 * (ms.size() - 1))), ms.get(ms.size() - 1), ms.size());
	}
}
