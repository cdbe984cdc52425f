// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.WeakHashMap;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Hierarchy;
import org.memtrace.aggregation.MicroscopicModel;
import org.memtrace.aggregation.ModelRequest;
import org.memtrace.aggregation.ModelSource;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/**
 * Microscopic models that were made last, so that going to and fro between viewpoints and zooms is immediate. At most 350 MB and
 * a fifth of the heap; safe for all threads.
 */
final class Models {
	private record Key(ModelRequest request, ModelSource source, boolean grouped) {
	}

	/** Of the largest heap. */
	private static final int SHARE = 5;
	private static final int MOST_HIERARCHIES = 4;

	private static final long MOST_BYTES = 350_000_000;

	private final long mostBytes = Math.min(MOST_BYTES, Runtime.getRuntime().maxMemory() / SHARE);
	private final Map<Key, MicroscopicModel> models = new LinkedHashMap<>(16, 0.75f, true);
	private final Map<ModelSource, Map<Integer, Hierarchy>> hierarchies = new WeakHashMap<>();
	private long bytes;

	/**
	 * The model, made when it is not there.
	 *
	 * @param grouped whether groups of pages are enough where there are many; time alone is aggregated from the pages
	 */
	MicroscopicModel get(ModelSource source, ModelRequest request, boolean grouped, Progress progress) throws MemtraceException {
		Key key = new Key(request, source, grouped);
		synchronized (this) {
			MicroscopicModel known = models.get(key);
			if (known != null) {
				return known;
			}
		}
		Hierarchy pages = hierarchy(source, request.producer(), progress);
		MicroscopicModel made = source.model(request, grouped && source instanceof AccessTable ? pages.grouped(source.producers())
				: pages, progress);
		synchronized (this) {
			if (models.putIfAbsent(key, made) == null) {
				bytes += made.memoryBytes();
			}
			Iterator<MicroscopicModel> eldest = models.values().iterator();
			while (bytes > mostBytes && models.size() > 1) {
				bytes -= eldest.next().memoryBytes();
				eldest.remove();
			}
		}
		return made;
	}

	/** Whether another model of that size would push none out. */
	synchronized boolean hasRoomFor(long more) {
		return bytes + more <= mostBytes;
	}

	private Hierarchy hierarchy(ModelSource source, int producer, Progress progress) throws MemtraceException {
		synchronized (this) {
			Hierarchy known = hierarchies.getOrDefault(source, Map.of()).get(producer);
			if (known != null) {
				return known;
			}
		}
		Hierarchy made = source.hierarchy(producer, progress);
		synchronized (this) {
			Map<Integer, Hierarchy> kept = hierarchies.computeIfAbsent(source, s -> new HashMap<>());
			if (kept.size() >= MOST_HIERARCHIES) {
				kept.clear();
			}
			kept.put(producer, made);
		}
		return made;
	}

	/** Forgets everything: another trace is shown. */
	synchronized void clear() {
		models.clear();
		hierarchies.clear();
		bytes = 0;
	}
}
