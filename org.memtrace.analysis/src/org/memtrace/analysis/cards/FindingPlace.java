// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.cards;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.findings.Finding;
import org.memtrace.analysis.selection.ShownFor;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;

/**
 * Where a finding is in a trace, and how a selection goes there: to its time and memory, coloured by what shows it, filtered to its
 * structures when others lie between them, with its pages marked. Immutable.
 */
public final class FindingPlace {
	private final Finding finding;
	private final ProducerTree tree;
	/** Producers of its structures, in the order of the tree; empty when they are not in this tree. */
	private final int[] structures;
	private final int[] pages;

	/** @param tree producers of the trace, by virtual addresses; of another tree only time and colours are known */
	public FindingPlace(Finding finding, ProducerTree tree) {
		this.finding = finding;
		this.tree = tree;
		structures = subtrees(tree, new HashSet<>(finding.structures()));
		Set<Integer> ids = new HashSet<>(finding.structures());
		pages = finding.leaves().stream().mapToInt(Integer::intValue)
				.filter(leaf -> leaf < tree.size() && tree.kind(leaf) == ProducerKind.PAGE && ids.contains(tree.structure(leaf))).toArray();
	}

	/** The largest subtrees of a tree that are of one of these structures and of no other, in its order. */
	public static int[] subtrees(ProducerTree tree, Set<Integer> ids) {
		List<Integer> found = new ArrayList<>();
		for (int id = 0; id < tree.size();) {
			int s = tree.structure(id);
			if (s >= 0 && ids.contains(s)) {
				found.add(id);
			}
			id = s >= 0 ? tree.subtreeEnd(id) : id + 1;
		}
		return found.stream().mapToInt(Integer::intValue).toArray();
	}

	/** What to mark: the pages that it names, else its structures. */
	public int[] marks() {
		return pages.length > 0 ? pages.clone() : structures.clone();
	}

	/**
	 * Goes there, as one step of the history; what it changes is the {@link TraceSelection#reason}.
	 *
	 * @param name of the finding, for a person
	 * @param former filter of the finding that was shown before, which is replaced; null without
	 * @return the filter that was added; null without
	 */
	public TraceFilter show(String name, TraceInfo info, TraceSelection selection, TraceFilter former) {
		ViewState s = selection.state();
		ViewState next = selection.clip(Math.max(finding.fromNs(), selection.initial().fromNs()),
				Math.min(finding.toNs(), selection.initial().toNs()))
				.withP(ViewState.AUTOMATIC_P);
		Dimension by = Dimensions.find(finding.view(), Dimension.Use.COLOUR);
		if (by != null) {
			next = next.withViewpoint(by);
		}
		FilterSet filters = former == null ? s.filters() : s.filters().without(former);
		TraceFilter own = null;
		int producer = selection.initial().producer();
		if (structures.length > 0) {
			producer = selection.commonProducer(structures[0], structures[structures.length - 1]);
			if (structures.length > 1) {
				own = TraceFilter.only(Condition.Subtree.of(tree, structures));
				filters = filters.with(own);
			}
		}
		next = next.withProducer(producer).withFilters(filters);
		selection.jump(next, marks(), ShownFor.text("finding " + name, info, selection, next));
		return own;
	}
}
