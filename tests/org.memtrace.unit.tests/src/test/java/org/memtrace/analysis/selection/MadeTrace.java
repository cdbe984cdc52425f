// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.selection;

import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;

/** A trace of some structures, without accesses to read. */
record MadeTrace(TraceInfo info, ProducerTree producers, TraceSelection selection) implements SelectedTrace {
	static MadeTrace of(long startNs, long endNs, String alias, Instant recorded, Map<String, String> properties, String... structures) {
		ProducerTree tree = PageTree.of(structures);
		return new MadeTrace(new TraceInfo(3, alias, "x.db", TraceInfo.TYPE_MEMTRACE, "/app", "host a&b=c?", "Linux", 4, 0, tree.size(), startNs,
				endNs, recorded, 4096, "", properties), tree, new TraceSelection(tree, startNs, endNs));
	}

	@Override
	public String name() {
		return info.alias();
	}

	@Override
	public List<ThreadInfo> threads() {
		return List.of();
	}

	@Override
	public boolean hasAccesses() {
		return true;
	}

	@Override
	public int memberOf(int producer) {
		int id = producer;
		while (id > 0 && producers.kind(id) != ProducerKind.STRUCTURE) {
			id = producers.parent(id);
		}
		return id > 0 ? id : -1;
	}
}
