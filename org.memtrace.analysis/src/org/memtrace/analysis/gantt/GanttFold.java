// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import org.memtrace.analysis.text.Parts;

import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;

/**
 * Which rows of a Gantt chart are unfolded and which are hidden. Immutable: a change gives another one.
 */
public final class GanttFold {
	/** Rows that a chart shows at first, if its tree is such that it can choose. */
	private static final int FIRST_ROWS = 60;

	/** Unfolded producers by group. A group that is not here is folded. */
	private final Map<Integer, BitSet> unfolded;
	/** Rows that are hidden; when they are unfolded, their children are shown in their place. */
	private final BitSet hidden;
	/** Producers that are hidden with everything below them. */
	private final BitSet hiddenSubtrees;

	private GanttFold(Map<Integer, BitSet> unfolded, BitSet hidden, BitSet hiddenSubtrees) {
		this.unfolded = unfolded;
		this.hidden = hidden;
		this.hiddenSubtrees = hiddenSubtrees;
	}

	/** Nothing is unfolded, nothing hidden. */
	public static GanttFold folded() {
		return new GanttFold(Map.of(), new BitSet(), new BitSet());
	}

	/**
	 * What is useful at first: data structures in a memory trace, else as many levels as a person sees at once. Rows of threads
	 * and CPUs are folded.
	 */
	public static GanttFold initial(ProducerTree tree) {
		BitSet open = new BitSet();
		boolean memory = false;
		for (int id = 0; id < tree.size() && !memory; id = isAround(tree, id) ? id + 1 : tree.subtreeEnd(id)) {
			memory = tree.kind(id) == ProducerKind.STRUCTURE || tree.kind(id) == ProducerKind.STACK
					|| tree.kind(id) == ProducerKind.RANGE || tree.kind(id) == ProducerKind.GROUP;
			if (isAround(tree, id)) {
				open.set(id);
			}
		}
		if (!memory) {
			open.clear();
			levels(tree, open);
		} else {
			// images after the first memory
			for (int id = 0; id < tree.size(); id = open.get(id) ? id + 1 : tree.subtreeEnd(id)) {
				if (isAround(tree, id)) {
					open.set(id);
				}
			}
		}
		return new GanttFold(Map.of(GanttSource.ALL, open), new BitSet(), new BitSet());
	}

	/** Roots and images, and groups of structures: how many there are changes nothing for those that are rows. */
	private static boolean isAround(ProducerTree tree, int id) {
		return tree.kind(id) == ProducerKind.ROOT || tree.kind(id) == ProducerKind.IMAGE
				|| tree.kind(id) == ProducerKind.GROUP && Parts.isOpen(tree, id);
	}

	/** Unfolds level by level while there are few rows; roots always. */
	private static void levels(ProducerTree tree, BitSet open) {
		int shown = 0;
		for (int id = 0; id < tree.size() && shown <= FIRST_ROWS; id = tree.subtreeEnd(id)) {
			shown++;
		}
		BitSet level = new BitSet();
		for (int id = 0; id < tree.size(); id = tree.subtreeEnd(id)) {
			level.set(id);
		}
		while (!level.isEmpty()) {
			BitSet next = new BitSet();
			for (int id = level.nextSetBit(0); id >= 0; id = level.nextSetBit(id + 1)) {
				for (int c = tree.firstChild(id); c >= 0; c = tree.nextSibling(c)) {
					next.set(c);
				}
			}
			shown += next.cardinality();
			if (shown > FIRST_ROWS && !open.isEmpty() || shown > 100 * FIRST_ROWS) {
				return;
			}
			open.or(level);
			level = next;
		}
	}

	/** Whether the children of a row are shown. */
	public boolean isUnfolded(int group, int producer) {
		BitSet of = unfolded.get(group);
		return of != null && of.get(producer);
	}

	public boolean isHidden(int producer) {
		return hidden.get(producer);
	}

	public boolean isSubtreeHidden(int producer) {
		return hiddenSubtrees.get(producer);
	}

	/** Whether anything is hidden. */
	public boolean hidesSomething() {
		return !hidden.isEmpty() || !hiddenSubtrees.isEmpty();
	}

	/** Unfolds or folds a row. */
	public GanttFold with(int group, int producer, boolean open) {
		BitSet now = copy(group);
		now.set(producer, open);
		return with(group, now);
	}

	/** Unfolds or folds a row and all below it. */
	public GanttFold withSubtree(ProducerTree tree, int group, int producer, boolean open) {
		BitSet now = copy(group);
		now.set(producer, tree.subtreeEnd(producer), open);
		return with(group, now);
	}

	/** Unfolds all above a producer, so that it has a row, and shows those of them that are hidden. */
	public GanttFold reveal(ProducerTree tree, int group, int producer) {
		BitSet now = copy(group);
		BitSet stillHidden = (BitSet) hiddenSubtrees.clone();
		BitSet rows = (BitSet) hidden.clone();
		stillHidden.clear(producer);
		rows.clear(producer);
		for (int p = tree.parent(producer); p != ProducerTree.NO_PARENT; p = tree.parent(p)) {
			now.set(p);
			stillHidden.clear(p);
		}
		return new GanttFold(put(group, now), rows, stillHidden);
	}

	/** Hides the row of a producer; when it is unfolded, what is below it stays. */
	public GanttFold hide(int producer) {
		BitSet now = (BitSet) hidden.clone();
		now.set(producer);
		return new GanttFold(unfolded, now, hiddenSubtrees);
	}

	/** Hides a producer with all below it. */
	public GanttFold hideSubtree(int producer) {
		BitSet now = (BitSet) hiddenSubtrees.clone();
		now.set(producer);
		return new GanttFold(unfolded, hidden, now);
	}

	/** Shows all that was hidden. */
	public GanttFold unhideAll() {
		return new GanttFold(unfolded, new BitSet(), new BitSet());
	}

	private BitSet copy(int group) {
		BitSet of = unfolded.get(group);
		return of == null ? new BitSet() : (BitSet) of.clone();
	}

	private GanttFold with(int group, BitSet now) {
		return new GanttFold(put(group, now), hidden, hiddenSubtrees);
	}

	private Map<Integer, BitSet> put(int group, BitSet now) {
		Map<Integer, BitSet> map = new HashMap<>(unfolded);
		map.put(group, now);
		return map;
	}
}
