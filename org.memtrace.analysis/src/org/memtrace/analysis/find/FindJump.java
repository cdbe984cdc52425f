// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.find;

import java.util.ArrayList;
import java.util.List;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.find.FindHit.Memory;
import org.memtrace.analysis.selection.ShownFor;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Structure;

/**
 * Shows in all views of a trace what was found: one step of the history, which has the marks, too, so that going back brings all back.
 * What a jump changes is the {@link TraceSelection#reason}. Used as {@link TraceSelection} is.
 */
public final class FindJump {
	private FindJump() {
	}

	/**
	 * Zooms to memory, and marks what was found in it. The window stays, unless the structure did not live in it or shares the memory with
	 * others that lived there at other times: then it is its life.
	 *
	 * @param name of what was found, for a person
	 * @param structure what the memory is of, or null
	 * @return whether there is something to show: memory that was never accessed is in no picture
	 */
	public static boolean zoom(String name, TraceInfo info, TraceSelection selection, Memory memory, Structure structure) {
		if (memory.producer() < 0) {
			return false;
		}
		jump(name, info, selection, inLife(selection, structure, memory.life()).withProducer(memory.producer()), memory.mark());
		return true;
	}

	/** Marks memory. What is shown stays, unless it is not in it: then the smallest part is shown that has both. */
	public static boolean mark(String name, TraceInfo info, TraceSelection selection, Memory memory, Structure structure) {
		if (memory.producer() < 0) {
			return false;
		}
		ViewState s = inLife(selection, structure, memory.life());
		int shown = s.producer();
		int all = shown < 0 ? shown : selection.commonProducer(Math.min(shown, memory.mark()), Math.max(shown, memory.mark()));
		jump(name, info, selection, s.withProducer(all), memory.mark());
		return true;
	}

	private static void jump(String what, TraceInfo info, TraceSelection selection, ViewState next, int... marks) {
		// a mark in what is shown is seen; nothing else is another
		String why = next.equals(selection.state()) ? selection.reason() : ShownFor.text(what, info, selection, next);
		selection.jump(next, marks, why);
	}

	/** @param always also when the window has some of its life */
	private static ViewState inLife(TraceSelection selection, Structure structure, boolean always) {
		ViewState s = selection.state();
		if (structure == null || !always && structure.birthNs() < s.toNs() && structure.deathNs() > s.fromNs()) {
			return s;
		}
		ViewState all = selection.initial();
		long from = Math.max(all.fromNs(), structure.birthNs());
		long to = Math.min(all.toNs(), structure.deathNs());
		return from < to ? selection.clip(from, to) : s.withWindow(all.fromNs(), all.toNs());
	}

	/** Only one thread; no other filter that leaves certain threads stays, as nothing would be left. */
	public static void onlyThread(String name, TraceInfo info, TraceSelection selection, int thread) {
		List<TraceFilter> now = new ArrayList<>();
		for (TraceFilter f : selection.state().filters().filters()) {
			if (f.excludes() || !(f.condition() instanceof Condition.Value v && v.isOf(BasicDimensions.THREAD))) {
				now.add(f);
			}
		}
		now.add(TraceFilter.only(Condition.thread(thread)));
		jump(name, info, selection, selection.state().withFilters(new FilterSet(now)), selection.marks());
	}

	/** Colours by threads. */
	public static void colourThreads(String name, TraceInfo info, TraceSelection selection) {
		jump(name, info, selection, selection.state().withViewpoint(BasicDimensions.THREAD), selection.marks());
	}
}
