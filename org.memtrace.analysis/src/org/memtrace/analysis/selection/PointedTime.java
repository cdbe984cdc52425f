// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.selection;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The time of a trace at which somebody points in one of its pictures, or none. All that show the trace with the same selection, or with
 * a copy of it, have the same one. It is no part of what is shown: it has no history, and nothing is computed again for it. Used by one
 * thread (in the workbench: the display thread); listeners are called on it.
 */
public final class PointedTime {
	/** Nobody points. */
	public static final long NONE = Long.MIN_VALUE;

	/** Follows it. */
	public interface Listener {
		/**
		 * Somebody points at another time.
		 *
		 * @param by who does; null nobody
		 * @param timeNs {@link #NONE} for none
		 */
		void pointed(Object by, long timeNs);
	}

	private final List<Listener> listeners = new CopyOnWriteArrayList<>();
	private Object by;
	private long timeNs = NONE;

	/** In nanoseconds, on the clock of the trace; {@link #NONE} for none. */
	public long timeNs() {
		return timeNs;
	}

	/** Who points; null nobody. */
	public Object by() {
		return by;
	}

	/** Somebody points at a time; who did before no longer does. */
	public void point(Object who, long atNs) {
		if (who == null || atNs == NONE) {
			throw new IllegalArgumentException("nobody, or no time");
		}
		set(who, atNs);
	}

	/** Somebody points no longer; nothing happens if another one does by now. */
	public void leave(Object who) {
		if (who != null && by == who) {
			set(null, NONE);
		}
	}

	private void set(Object who, long atNs) {
		if (by != who || timeNs != atNs) {
			by = who;
			timeNs = atNs;
			for (Listener l : listeners) {
				l.pointed(who, atNs);
			}
		}
	}

	public void addListener(Listener l) {
		listeners.add(l);
	}

	public void removeListener(Listener l) {
		listeners.remove(l);
	}
}
