// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.find;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.memtrace.analysis.find.FindHit.Kind;
import org.memtrace.analysis.find.FindHit.Listed;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/** Things of one kind that are found by their names and details, such as traces or commands. One search at a time. */
public final class FindList {
	/**
	 * One of them.
	 *
	 * @param name as a person knows it
	 * @param detail what is searched, too
	 */
	public record Entry(String name, String detail) {
	}

	private final Kind kind;
	private final List<Entry> entries;
	private final NameSearch search;

	/** @param entries those that come first are the better ones, where they fit equally well */
	public FindList(Kind kind, List<Entry> entries) {
		this.kind = kind;
		this.entries = List.copyOf(entries);
		try {
			NameIndex names = NameIndex.of(entries.size(), i -> entries.get(i).name() + " " + entries.get(i).detail(), Progress.NONE);
			search = new NameSearch(names, i -> -i);
		} catch (CancelledException e) {
			throw new IllegalStateException(e); // nobody can
		}
	}

	/** The entries whose name and detail have all words; the first ones when nothing was typed. */
	public Found find(FindQuery query, int most, Progress progress) throws CancelledException {
		NameSearch.Result result = search.find(query.words(), most, progress);
		List<FindHit> hits = new ArrayList<>();
		for (NameSearch.Match m : result.best()) {
			Entry e = entries.get(m.index());
			hits.add(new FindHit(kind, e.name(), e.detail(), NameSearch.rank(e.name(), query.words(), m), m.weight(), new Listed(m.index())));
		}
		return new Found(hits, result.total() == 0 ? Map.of() : Map.of(kind, result.total()));
	}
}
