// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import org.memtrace.model.CloseLook;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;

/**
 * What {@code record --zoom} saw of a group of structures.
 *
 * @param lines cache lines with samples
 * @param falselySharedLines lines that several threads write, or that one writes and others read, none of them the same four bytes, and
 *            that go to and fro between threads
 * @param handOvers of the line with most of them among the falsely shared ones: how often another thread came; a lower bound
 * @param lineOffset of that line in its structure, in bytes; negative when the line begins before the structure
 * @param lastedNs time between the first and the last sample of that line
 * @param writers of that line, the one that writes the first byte first
 * @param readers of that line, which write nothing in it and read nothing that others write, in the same order
 */
public record CloseFacts(int lines, int falselySharedLines, long handOvers, long lineOffset, long lastedNs, List<User> writers,
		List<User> readers) {
	/** A thread that is seen to write a line less often may have initialised it only. */
	private static final long OFTEN = 2;
	/** A thread that is seen to read a line less often may have asked once, and may read elsewhere what others write. */
	private static final long READS = 16;
	/** Share of the samples of four bytes that are not by their main user, from which on several threads use them. */
	private static final double FOREIGN = 0.1;
	/** Fewer changes are phases: one thread after the other. */
	private static final long HAND_OVERS = 4;
	private static final long SAMPLES_PER_HAND_OVER = 100;

	/**
	 * A thread that writes a line, or reads it.
	 *
	 * @param thread its index
	 * @param offsets where in the line it does so, ascending; multiples of four bytes
	 */
	public record User(int thread, List<Integer> offsets) {
	}

	/** Gives the leaf of a structure that holds an address, -1 none. */
	interface Leaves {
		int at(int structure, long address);
	}

	/** Finds the structures of the lines, and looks at these. */
	static final class Collector {
		private final CloseLook.Line[] lines;
		private final List<ThreadInfo> threads;
		private final List<Structure> structures;
		private final int[] groupOf;
		/** Structure of each line, -1 none. */
		private final int[] structureOf;

		Collector(CloseLook look, List<ThreadInfo> threads, List<Structure> structures, int[] groupOf) {
			lines = look.lines().toArray(new CloseLook.Line[0]);
			this.threads = threads;
			this.structures = structures;
			this.groupOf = groupOf;
			structureOf = new int[lines.length];
			Arrays.fill(structureOf, -1);
			structures.forEach(this::claim);
		}

		/** The lines that overlap a structure are its, unless a better one has them. */
		private void claim(Structure s) {
			if (rank(s) < 0) {
				return;
			}
			long first = s.startAddress() & -CloseLook.LINE_BYTES;
			for (int i = find(s.image(), first); i < lines.length && lines[i].image() == s.image()
					&& Long.compareUnsigned(lines[i].address(), s.endAddress()) < 0; i++) {
				boolean alive = s.birthNs() <= lines[i].toNs() && s.deathNs() >= lines[i].fromNs();
				if (alive && (structureOf[i] < 0 || better(s, structures.get(structureOf[i]), lines[i].address()))) {
					structureOf[i] = s.id();
				}
			}
		}

		/** Index of the first line at an address or behind it. */
		private int find(int image, long address) {
			int lo = 0;
			int hi = lines.length;
			while (lo < hi) {
				int mid = (lo + hi) >>> 1;
				boolean before = lines[mid].image() != image ? lines[mid].image() < image
						: Long.compareUnsigned(lines[mid].address(), address) < 0;
				lo = before ? mid + 1 : lo;
				hi = before ? hi : mid;
			}
			return lo;
		}

		private static int rank(Structure s) {
			return List.of(StructureKind.STATIC, StructureKind.HEAP, StructureKind.MMAP).indexOf(s.kind());
		}

		/** Of several structures in a line: by kind, then the one with more of it, then the smaller one. */
		private static boolean better(Structure s, Structure than, long line) {
			if (rank(s) != rank(than)) {
				return rank(s) < rank(than);
			}
			long more = bytes(s, line) - bytes(than, line);
			return more != 0 ? more > 0 : s.sizeBytes() < than.sizeBytes();
		}

		private static long bytes(Structure s, long line) {
			return Math.min(s.endAddress() - line, CloseLook.LINE_BYTES) - Math.max(s.startAddress() - line, 0);
		}

		void collect(List<GroupFacts> groups, Leaves leaves) {
			Map<Integer, List<Integer>> byGroup = new TreeMap<>();
			for (int i = 0; i < lines.length; i++) {
				if (structureOf[i] >= 0 && groupOf[structureOf[i]] >= 0) {
					byGroup.computeIfAbsent(groupOf[structureOf[i]], k -> new ArrayList<>()).add(i);
				}
			}
			byGroup.forEach((group, list) -> look(groups.get(group), list, leaves));
		}

		private void look(GroupFacts g, List<Integer> list, Leaves leaves) {
			int found = 0;
			int worst = -1;
			g.falseLeaves.clear();
			g.worst = null;
			for (int i : list) {
				if (!isFalselyShared(lines[i])) {
					continue;
				}
				found++;
				int leaf = leaves.at(structureOf[i], lines[i].address());
				if (leaf >= 0) {
					g.falseLeaves.set(leaf);
				}
				worst = worst < 0 || lines[i].handOvers() > lines[worst].handOvers() ? i : worst;
			}
			if (worst < 0) {
				g.close = new CloseFacts(list.size(), 0, 0, 0, 0, List.of(), List.of());
				return;
			}
			CloseLook.Line line = lines[worst];
			List<User> writers = users(line, u -> u.writes() > 0 && writes(line, u.taskId()) >= OFTEN);
			List<User> readers = users(line, u -> isReader(line, u.taskId()));
			g.worst = new GroupFacts.Line(threads.size());
			g.worst.address = line.address();
			g.worst.samples = (int) Math.min(Integer.MAX_VALUE, line.samples());
			g.worst.records = g.worst.samples;
			List<User> apart = new ArrayList<>(writers); // whose words must be on other lines
			apart.addAll(writers.size() > 1 ? List.of() : readers);
			for (User w : apart) {
				g.worst.writers.set(w.thread());
				g.worst.offset[w.thread()] = w.offsets().get(0);
			}
			g.close = new CloseFacts(list.size(), found, line.handOvers(), line.address() - structures.get(structureOf[worst]).startAddress(),
					line.toNs() - line.fromNs(), writers, readers);
		}

		/** Threads that use a line in some way, as far as they are known. */
		private List<User> users(CloseLook.Line line, Predicate<CloseLook.Use> how) {
			Map<Long, List<Integer>> offsets = new TreeMap<>();
			for (CloseLook.Use u : line.uses()) {
				if (how.test(u)) {
					offsets.computeIfAbsent(u.taskId(), k -> new ArrayList<>()).add(u.offset());
				}
			}
			List<User> users = new ArrayList<>();
			offsets.forEach((task, list) -> {
				int thread = thread(line, task);
				if (thread >= 0) {
					users.add(new User(thread, list));
				}
			});
			users.sort((a, b) -> Integer.compare(a.offsets().get(0), b.offsets().get(0)));
			return users;
		}

		/** Of several threads with one task id the last one that lived while the line was used. */
		private int thread(CloseLook.Line line, long task) {
			int found = -1;
			for (ThreadInfo t : threads) {
				boolean lives = t.birthNs() <= line.toNs() && t.deathNs() >= line.fromNs();
				if (t.image() == line.image() && t.taskId() == task && (found < 0 || lives)) {
					found = t.index();
				}
			}
			return found;
		}
	}

	private static long writes(CloseLook.Line line, long task) {
		return line.uses().stream().filter(u -> u.taskId() == task).mapToLong(CloseLook.Use::writes).sum();
	}

	/** Whether a thread only reads a line, often, and hardly ever what others write in it. */
	private static boolean isReader(CloseLook.Line line, long task) {
		Set<Integer> written = line.uses().stream().filter(u -> u.writes() > 0).map(CloseLook.Use::offset).collect(Collectors.toSet());
		long all = 0;
		long common = 0;
		for (CloseLook.Use u : line.uses()) {
			all += u.taskId() == task ? u.reads() : 0;
			common += u.taskId() == task && written.contains(u.offset()) ? u.reads() : 0;
		}
		return writes(line, task) == 0 && all >= READS && common < FOREIGN * all;
	}

	/** Whether several threads write a line, or one does beside others that read it, have none of its words in common, and take turns. */
	static boolean isFalselyShared(CloseLook.Line line) {
		long writers = line.uses().stream().map(CloseLook.Use::taskId).distinct().filter(t -> writes(line, t) >= OFTEN).count();
		long readers = line.uses().stream().map(CloseLook.Use::taskId).distinct().filter(t -> isReader(line, t)).count();
		if (writers < 1 || writers + readers < 2 || line.handOvers() < Math.max(HAND_OVERS, line.samples() / SAMPLES_PER_HAND_OVER)) {
			return false;
		}
		Map<Integer, List<CloseLook.Use>> byOffset = new TreeMap<>();
		line.uses().forEach(u -> byOffset.computeIfAbsent(u.offset(), k -> new ArrayList<>()).add(u));
		return byOffset.values().stream().noneMatch(CloseFacts::isCommon);
	}

	/** Whether several threads use the same bytes, and one writes them. */
	private static boolean isCommon(Collection<CloseLook.Use> uses) {
		long all = uses.stream().mapToLong(CloseLook.Use::most).sum();
		long main = uses.stream().mapToLong(CloseLook.Use::most).max().orElse(0);
		return uses.stream().anyMatch(u -> u.writes() > 0) && all - main > 0 && all - main >= FOREIGN * all;
	}
}
