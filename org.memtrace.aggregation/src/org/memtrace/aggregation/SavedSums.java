// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.BitSet;
import java.util.function.Consumer;

import org.memtrace.aggregation.base.SavedNumbers;
import org.memtrace.aggregation.base.SavedSections;
import org.memtrace.aggregation.time.AccessTimes;
import org.memtrace.aggregation.time.TimeDensity;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;

/**
 * Sums of all accesses of a trace that are saved with it, so that they need not be read: facts about all of them, when how much happened,
 * an {@link AccessCube}, and who touched pages first. All answers are the same with and without. Safe for all threads.
 */
public final class SavedSums {
	public static final String FACTS = "facts";
	public static final String TOTALS = "totals";
	public static final String CUBE = "cube";
	public static final String TOUCHES = "touches";

	/**
	 * Facts about all accesses.
	 *
	 * @param maxNode largest NUMA node, -1 if none
	 * @param maxSharing largest number of threads on a page, -1 if there are no accesses
	 * @param inner producers with accesses of their own that have others below them
	 * @param times all times, null when they are more than {@link TimeDensity#GRID}
	 */
	public record Facts(int maxNode, int maxSharing, BitSet inner, AccessTimes times, TimeDensity density) {
	}

	/** Computes something besides the sums, from all accesses, that is saved with them. */
	@FunctionalInterface
	public interface Addition {
		/** Nothing else. */
		Addition NONE = sums -> true;

		/**
		 * Computes and saves it. The table is answered from the sums meanwhile.
		 *
		 * @param sums that are complete, and not found by others before this returns
		 * @return false when accesses could not be read: nothing is kept
		 */
		boolean add(SavedSums sums) throws MemtraceException;
	}

	private final SavedSections sections;

	/**
	 * Nothing is read yet.
	 *
	 * @param stamp of the content of the store
	 * @param told gets a sentence when something is damaged
	 */
	public SavedSums(TraceStore store, String stamp, Consumer<String> told) {
		this.sections = new SavedSections(store, stamp, told);
	}

	/** With which other things can be saved that are made of all accesses. */
	public SavedSections sections() {
		return sections;
	}

	/** Whether something was found that is not what was written. */
	boolean isDamaged() {
		return sections.isDamaged();
	}

	/** Null when they are not there, as with the other sections. */
	public Facts facts() {
		return sections.get(FACTS, in -> {
			int maxNode = (int) in.signed();
			int maxSharing = (int) in.signed();
			BitSet inner = BitSet.valueOf(in.unsignedLongs());
			AccessTimes times = in.unsigned() == 1 ? new AccessTimes(in.deltaLongs(), in.deltaLongs()) : null;
			return new Facts(maxNode, maxSharing, inner, times, TimeDensity.read(in));
		});
	}

	/** Facts that are not saved yet: {@link #put(Facts)} is the last one, without it nothing is looked for. */
	void keep(Facts facts) {
		sections.keep(FACTS, facts);
	}

	void put(Facts facts) throws MemtraceException {
		long[] inner = facts.inner.toLongArray();
		SavedNumbers.Out out = sections.out().signed(facts.maxNode).signed(facts.maxSharing).unsigned(inner,
				inner.length).unsigned(facts.times == null ? 0
				: 1);
		if (facts.times != null) {
			facts.times.write(out);
		}
		facts.density.write(out);
		sections.put(FACTS, facts, out);
	}

	/** Sums over all of the time. */
	public AccessCube totals() {
		return sections.get(TOTALS, AccessCube::read);
	}

	/** Sums by cells of time. */
	public AccessCube cube() {
		return sections.get(CUBE, AccessCube::read);
	}

	void put(AccessCube cube) throws MemtraceException {
		put(CUBE, cube);
		put(TOTALS, cube.totals());
	}

	private void put(String name, AccessCube cube) throws MemtraceException {
		SavedNumbers.Out out = sections.out();
		cube.write(out);
		sections.put(name, cube, out);
	}

	public FirstTouches touches() {
		Facts facts = facts();
		return facts == null ? null : sections.get(TOUCHES, in -> FirstTouches.read(in, facts.times));
	}

	void put(FirstTouches touches, AccessTimes times) throws MemtraceException {
		SavedNumbers.Out out = sections.out();
		touches.write(out, times);
		sections.put(TOUCHES, touches, out);
	}
}
