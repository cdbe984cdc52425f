// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.perf;

import java.nio.charset.StandardCharsets;

import org.memtrace.model.MemtraceException;

/**
 * Takes the lines of {@code perf script}, one after the other, and hands them on when they are whole: a call chain stands below its
 * event, and gives it the innermost frame. Two objects are used in turn for all lines.
 *
 * @param <E> what the receiver may throw beside errors of the format; {@link RuntimeException} for nothing
 */
final class PerfChains<E extends Exception> {
	private final Receiver<E> receiver;
	private PerfLine held = new PerfLine();
	private long heldNumber = -1;
	private PerfLine next = new PerfLine();

	/** Gets what the lines say. */
	interface Receiver<E extends Exception> {
		/** An event or a sample, with the innermost frame of its call chain if it has one. The object changes afterwards. */
		void event(PerfLine line, long number) throws MemtraceException, E;

		/** Any other line but a frame. */
		void other(PerfLine.Kind kind, PerfLine line, long number) throws MemtraceException, E;
	}

	PerfChains(Receiver<E> receiver) {
		this.receiver = receiver;
	}

	/** A line: bytes {@code [start, end)}. @param number from 1 */
	void line(byte[] buffer, int start, int end, long number) throws MemtraceException, E {
		PerfLine.Kind kind = next.parse(new String(buffer, start, end - start, StandardCharsets.UTF_8));
		if (kind == PerfLine.Kind.FRAME) {
			if (heldNumber >= 0 && held.ip == 0) {
				held.ip = next.ip;
				held.function = next.function;
				held.object = next.object;
			}
			return;
		}
		finish();
		if (kind == PerfLine.Kind.EVENT || kind == PerfLine.Kind.SAMPLE) {
			PerfLine free = held;
			held = next;
			next = free;
			heldNumber = number;
		} else {
			receiver.other(kind, next, number);
		}
	}

	/** The event before has no more frames. */
	void finish() throws MemtraceException, E {
		if (heldNumber >= 0) {
			long number = heldNumber;
			heldNumber = -1;
			receiver.event(held, number);
		}
	}
}
