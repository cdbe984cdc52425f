// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.binding;

import java.util.BitSet;

import org.memtrace.analysis.text.TextColumns;
import org.memtrace.model.ThreadInfo;

/** Threads and CPUs in words. */
final class BindingNames {
	private static final int NAME = 24;

	private BindingNames() {
	}

	/** Number and name of a thread; with several processes, the process, too. */
	static String name(SharingGraph graph, int thread) {
		ThreadInfo t = graph.threads().get(thread);
		String process = graph.processes().size() > 1 ? "p" + t.image() + " " : "";
		return process + thread + " " + TextColumns.cut(t.name(), NAME);
	}

	/** Such as {@code CPUs 0-3,8}; "not known" without any. */
	static String cpus(BitSet set) {
		if (set.isEmpty()) {
			return "not known";
		}
		StringBuilder b = new StringBuilder(set.cardinality() == 1 ? "CPU " : "CPUs ");
		for (int from = set.nextSetBit(0); from >= 0;) {
			int to = set.nextClearBit(from) - 1;
			b.append(from).append(to > from ? "-" + to : "");
			from = set.nextSetBit(to + 1);
			b.append(from >= 0 ? "," : "");
		}
		return b.toString();
	}
}
