// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.tree;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

import org.memtrace.model.memory.Lives;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.tree.RankNames;

/** Names of event producers: no two are alike. */
public final class ProducerLabels {
	/** What the heap segment of the allocator is called. */
	public static final String BRK_NAME = "heap (small blocks)";

	private final RankNames names;
	private final Lives lives;
	private final Map<String, Integer> usedLabels = new HashMap<>();

	ProducerLabels(RankNames names, Lives lives) {
		this.names = names;
		this.lives = lives;
	}

	/** Another tree begins. */
	void clear() {
		usedLabels.clear();
	}

	String label(Structure s) {
		return names.shown(s, nameOf(s));
	}

	private String nameOf(Structure s) {
		if (s.isWholeHeap()) {
			return BRK_NAME;
		}
		if (!s.name().isBlank()) {
			return lives.count(s.id()) > 1 ? s.plainName() : s.name().strip();
		}
		return s.kind().name().toLowerCase(Locale.ROOT) + " "
				+ (s.site().isBlank() ? Long.toHexString(s.startAddress()) : s.shortSite());
	}

	/** The label, or with the first free number behind it. '=' would break FrameSoc's colour files. */
	String unique(String label) {
		String base = label.replace('=', ':').replaceAll("\\p{Cntrl}", " ");
		Integer count = usedLabels.putIfAbsent(base, 1);
		if (count == null) {
			return base;
		}
		String candidate;
		do {
			candidate = base + " #" + ++count;
		} while (usedLabels.containsKey(candidate));
		usedLabels.put(base, count);
		usedLabels.put(candidate, 1);
		return candidate;
	}
}
