// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.parts;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.importer.tree.MemoryTreeBuilder;
import org.memtrace.importer.tree.MergeRule;
import org.memtrace.model.CallFrame;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.MemoryTrees;

/**
 * Changes the merging rules of a stored trace: its trees are made again from its pages, as if it had been imported with these rules. Only
 * the trees change; accesses, and what is known of each structure, stay.
 */
public final class MergeOperation {
	private MergeOperation() {
	}

	/** The rules that the trace follows, in the order in which they were added. */
	public static List<MergeRule> rules(TraceStore store) throws MemtraceException {
		return MergeRule.parseAll(layout(store).rules());
	}

	/**
	 * Makes the trees again. Afterwards the store has to be closed and the trace opened again ({@link TraceStore#replaceTrees}).
	 *
	 * @param rules all rules, in order; the last one undone are those of before without the last
	 * @return the new trees
	 */
	public static MemoryTrees apply(TraceStore store, List<MergeRule> rules, Progress progress) throws MemtraceException {
		MemoryLayout layout = layout(store).withRules(rules.stream().map(MergeRule::toString).toList());
		Map<Integer, List<CallFrame>> stacks = new HashMap<>(); // thousands of structures have the same one
		MemoryTrees trees = MemoryTreeBuilder.build(layout, store.structures(), id -> {
			List<CallFrame> frames = stacks.get(id);
			if (frames == null) {
				frames = store.stack(id);
				stacks.put(id, frames);
			}
			return frames;
		}, progress);
		store.replaceTrees(trees, layout.rules(), progress);
		return trees;
	}

	private static MemoryLayout layout(TraceStore store) throws MemtraceException {
		return store.layout().orElseThrow(() -> new StoreException(store.info().alias()
				+ " cannot be merged: it was not imported by memtrace, so it is not known what its event producers are made of"));
	}
}
