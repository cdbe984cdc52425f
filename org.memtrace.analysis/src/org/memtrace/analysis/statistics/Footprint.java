// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.statistics;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.Lives;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.tree.ProducerTree;

/**
 * How much of each structure had been touched at the end of each monitoring interval, while it lived. What is touched becomes resident, and
 * stays so until the program or the kernel gives it back, which no trace tells by structure: so this is what a structure has resident at
 * most, of the memory that was seen. What the kernel says of the whole process is in {@link Interval.Measured#residentBytes}.
 */
public final class Footprint {
	/** Gets the structures of which more or less is touched than at the end of the interval before. */
	@FunctionalInterface
	public interface Visitor {
		/**
		 * Gets one.
		 *
		 * @param structure its id; of several blocks of one name and place that of the first one
		 * @param touchedBytes 0 when it has died
		 */
		void visit(Interval interval, int structure, long touchedBytes) throws MemtraceException;
	}

	/** That so many bytes come or go. */
	private record Change(long atNs, int structure, long bytes) {
	}

	private Footprint() {
	}

	/** Gives them in the order of intervals of each image, then of structures. */
	public static void visit(AccessTable table, AccessFilter filter, Progress progress, Visitor visitor) throws MemtraceException {
		List<Structure> structures = table.structures();
		ProducerTree tree = table.producers();
		Lives lives = Lives.of(structures);
		Map<Integer, List<Change>> byImage = new HashMap<>();
		PageUse.visit(table, filter, progress, p -> {
			int s = tree.structure(p.producer());
			if (s < 0) {
				return;
			}
			List<Change> changes = byImage.computeIfAbsent(structures.get(s).image(), key -> new ArrayList<>());
			long bytes = tree.endAddress(p.producer()) - tree.startAddress(p.producer());
			long death = 0;
			for (int block : lives.at(s, tree.startAddress(p.producer()), tree.endAddress(p.producer()))) {
				death = Math.max(death, structures.get(block).deathNs());
			}
			changes.add(new Change(p.firstNs(), s, bytes));
			changes.add(new Change(Math.max(death, p.firstNs()), s, -bytes));
		});
		for (Map.Entry<Integer, List<Change>> of : byImage.entrySet()) {
			of.getValue().sort(Comparator.comparingLong(Change::atNs));
		}
		Map<Integer, Integer> next = new HashMap<>();
		Map<Integer, Long> touched = new HashMap<>();
		for (Interval i : table.store().intervals().stream().sorted(Comparator.comparingInt(Interval::image)
				.thenComparingLong(Interval::endNs)).toList()) {
			progress.check();
			List<Change> changes = byImage.getOrDefault(i.image(), List.of());
			TreeSet<Integer> changed = new TreeSet<>();
			int n = next.getOrDefault(i.image(), 0);
			for (; n < changes.size() && changes.get(n).atNs < i.endNs(); n++) {
				touched.merge(changes.get(n).structure, changes.get(n).bytes, Long::sum);
				changed.add(changes.get(n).structure);
			}
			next.put(i.image(), n);
			for (int s : changed) {
				visitor.visit(i, s, touched.get(s));
			}
		}
	}
}
