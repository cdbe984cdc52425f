// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.output;

import java.io.PrintStream;
import java.util.Locale;
import java.util.function.LongSupplier;

import org.memtrace.model.Progress;

/** Progress in one line of a terminal: step, share done, rate, remaining time. Rewritten at most ten times a second. */
public final class ConsoleProgress implements Progress {
	private static final long REDRAW_NS = 100_000_000L;
	/** What takes less is not shown at all. */
	private static final long PATIENCE_NS = 400_000_000L;
	private final PrintStream terminal;
	private final LongSupplier nanoTime;
	private String step = "";
	private long total;
	private String unit = "";
	private long done;
	private long startNs;
	private long drawnNs;
	private boolean visible;
	private volatile boolean cancelled;

	/**
	 * @param terminal null: show nothing
	 * @param nanoTime the clock
	 */
	public ConsoleProgress(PrintStream terminal, LongSupplier nanoTime) {
		this.terminal = terminal;
		this.nanoTime = nanoTime;
	}

	@Override
	public void begin(String newStep, long newTotal) {
		begin(newStep, newTotal, "");
	}

	@Override
	public void beginBytes(String newStep, long newTotal) {
		begin(newStep, newTotal, "B");
	}

	private synchronized void begin(String newStep, long newTotal, String newUnit) {
		boolean waiting = visible;
		clear();
		step = newStep;
		total = newTotal;
		unit = newUnit;
		done = 0;
		startNs = nanoTime.getAsLong();
		drawnNs = startNs;
		if (waiting) { // somebody watches: a step may be one call that takes long
			terminal.print("\r\033[K" + step);
			terminal.flush();
			visible = true;
		}
	}

	@Override
	public synchronized void worked(long units) {
		done += units;
		if (terminal == null) {
			return;
		}
		long now = nanoTime.getAsLong();
		if (now - drawnNs >= REDRAW_NS && now - startNs >= PATIENCE_NS) {
			drawnNs = now;
			terminal.print("\r\033[K" + line(now - startNs));
			terminal.flush();
			visible = true;
		}
	}

	private String line(long elapsedNs) {
		double seconds = elapsedNs / 1e9;
		StringBuilder s = new StringBuilder(step);
		if (total > 0) {
			double share = Math.min(1, (double) done / total);
			s.append(String.format(Locale.ROOT, "  %3.0f %%", 100 * share));
			s.append("  ").append(count(done / seconds)).append("/s");
			if (share > 0.01 && seconds > 1) {
				s.append("  ").append(remaining(seconds * (1 - share) / share)).append(" left");
			}
		} else if (done > 0) {
			s.append("  ").append(count(done)).append("  ").append(count(done / seconds)).append("/s");
		}
		return s.toString();
	}

	private String count(double n) {
		if (n >= 1e9) {
			return String.format(Locale.ROOT, "%.1f G%s", n / 1e9, unit);
		}
		if (n >= 1e6) {
			return String.format(Locale.ROOT, "%.1f M%s", n / 1e6, unit);
		}
		return n >= 1e3 ? String.format(Locale.ROOT, "%.1f k%s", n / 1e3, unit)
				: String.format(Locale.ROOT, "%.0f%s", n, unit.isEmpty() ? "" : " " + unit);
	}

	private static String remaining(double seconds) {
		long s = Math.round(seconds);
		return s >= 3600 ? s / 3600 + " h " + s % 3600 / 60 + " min" : s >= 60 ? s / 60 + " min " + s % 60 + " s" : s + " s";
	}

	/** Takes the line away, before something else is printed. */
	public synchronized void clear() {
		if (visible) {
			terminal.print("\r\033[K");
			terminal.flush();
			visible = false;
		}
	}

	void cancel() {
		cancelled = true;
	}

	@Override
	public boolean isCancelled() {
		return cancelled;
	}
}
