// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.selection;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/**
 * What was made last, so that going to and fro is immediate. Who asks for what another one makes waits for that one, and goes on when that
 * one gives up. Safe for all threads.
 */
public final class Kept<K, V> {
	/** Makes what is not there. */
	public interface Maker<K, V> {
		V make(K key, Progress progress) throws MemtraceException;
	}

	private static final long ASK_EVERY_MS = 50;

	private final int most;
	private final Maker<K, V> maker;
	private final Set<K> making = new HashSet<>();
	private final Map<K, V> kept = new LinkedHashMap<>(16, 0.75f, true);

	/** @param most things that are kept; the one that was not asked for longest goes first */
	public Kept(int most, Maker<K, V> maker) {
		this.most = most;
		this.maker = maker;
	}

	/** What belongs to the key, made now if it is not there. */
	public V get(K key, Progress progress) throws MemtraceException {
		synchronized (this) {
			while (true) {
				V known = kept.get(key);
				if (known != null) {
					return known;
				}
				progress.check();
				if (making.add(key)) {
					break;
				}
				try {
					wait(ASK_EVERY_MS);
				} catch (InterruptedException e) {
					Thread.currentThread().interrupt();
					throw new CancelledException();
				}
			}
		}
		V made = null;
		try {
			made = maker.make(key, progress);
			return made;
		} finally {
			synchronized (this) {
				making.remove(key);
				if (made != null) {
					kept.put(key, made);
					if (kept.size() > most) {
						kept.remove(kept.keySet().iterator().next());
					}
				}
				notifyAll();
			}
		}
	}
}
