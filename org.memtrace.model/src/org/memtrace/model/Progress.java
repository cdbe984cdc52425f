// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import java.util.function.BooleanSupplier;

/**
 * Progress and cancellation of one operation. An operation calls {@link #begin} once for each of its steps, then
 * {@link #worked} with increments of the announced unit. Implementations must be cheap (an operation may call
 * {@code worked} for each batch) and safe to be called from several threads.
 */
public interface Progress {
	/** Ignores everything and is never cancelled. */
	Progress NONE = cancelledWhen(() -> false);

	/** Shows nothing, and is cancelled as soon as the condition holds. It is asked on the threads of the operation. */
	static Progress cancelledWhen(BooleanSupplier condition) {
		return new Progress() {
			@Override
			public void begin(String step, long total) {
			}

			@Override
			public void worked(long units) {
			}

			@Override
			public boolean isCancelled() {
				return condition.getAsBoolean();
			}
		};
	}

	/**
	 * A new step begins.
	 *
	 * @param step what is done, for a person, such as "Reading accesses"
	 * @param total units of work, or -1 when not known
	 */
	void begin(String step, long total);

	/** Begins a step whose units are bytes. Whoever shows it can then tell a rate in bytes per second. */
	default void beginBytes(String step, long total) {
		begin(step, total);
	}

	/** {@code units} more of the current step are done. */
	void worked(long units);

	/** Whether the user asked to stop. */
	boolean isCancelled();

	/** Throws when the user asked to stop; call it at least ten times a second. */
	default void check() throws CancelledException {
		if (isCancelled()) {
			throw new CancelledException();
		}
	}
}
