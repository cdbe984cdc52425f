// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.memory.TypeMembers;

/**
 * Texts to paste. There is one only for a case in the table {@code fixes.csv} beside this class. releng/check-fixes.sh reads the same
 * table: for
 * each line it records a program, takes the text from the advice, pastes it, builds it with sanitizers and compares output. None of
 * the texts
 * writes into the memory of the program or changes how much of it an allocation has, so a wrong guess about the program costs nothing.
 */
final class FixCode {
	/**
	 * A text.
	 *
	 * @param words what it does, and what must be true: whole sentences
	 * @param code with a comment before each part that says where it belongs
	 * @param tested its line in the table, without the program
	 */
	record Text(String words, String code, String tested) {
	}

	/**
	 * How the allocator keeps freed memory.
	 *
	 * @param environment the same as variables of the environment, for the GNU C library
	 * @param text null where the case was not tried
	 */
	record Keep(String environment, Text text) {
	}

	/** Blocks that the GNU C library gets from the kernel one by one have this size or more. */
	private static final long LARGE = 128 << 10;
	/** Largest block that the heap of a thread that is not the first can hold in the GNU C library: 64 MiB without the others and its head. */
	private static final long LARGEST = 48L << 20;
	/** Freed memory that the program may keep at most. */
	private static final long MOST_KEPT = 1L << 30;
	/**
	 * Share of the blocks that must be touched: the allocator clears blocks of calloc whole when they are not fresh. To clear a page
	 * costs less than half of what its fault costs, and not all that is touched is seen.
	 */
	private static final double TOUCHED = 0.4;
	private static final int LINE = 64;

	private static final Set<String> TABLE = read("fixes.csv");

	private FixCode() {
	}

	/** Lines of the table without their program: TEXT,LANGUAGE,THREADS,MEMORY,BLOCKS. */
	static Set<String> cases() {
		return TABLE;
	}

	private static Set<String> read(String name) {
		try (InputStream in = FixCode.class.getResourceAsStream(name)) {
			return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().filter(l -> !l.isBlank() && !l.startsWith("#"))
					.map(l -> l.replaceFirst("^((?:[^,]*,){4}[^,]*).*$", "$1")).collect(Collectors.toUnmodifiableSet());
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}

	private static Text tested(String text, GroupFacts g, TraceFacts t, String words, String code) {
		String key = text + "," + FixCase.of(g, t).key();
		return TABLE.contains(key) ? new Text(words, code, key) : null;
	}

	/** Blocks of the C library that are freed stay with the program; null where that is not the cause, or would be too much. */
	static Keep keep(GroupFacts g, TraceFacts t, BlockSizes sizes) {
		long kept = Long.highestOneBit(Math.max(1, 2 * g.liveBytes - 1)) << 1;	// the next power of two
		if (g.kind != StructureKind.HEAP || sizes.least() < LARGE || sizes.most() > LARGEST || kept > MOST_KEPT
				|| touched(g, t) < TOUCHED) {
			return null;
		}
		kept = Math.max(kept, 64L << 20);
		String what = "keep in the heap what is freed of blocks of " + Words.bytes(sizes.least()) + " and more, up to " + Words.bytes(kept)
				+ ", instead of giving its pages back to the kernel and clearing them again";
		return new Keep("GLIBC_TUNABLES=glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=" + kept,
				tested("keep", g, t, "Or let the allocator of the GNU C library " + what
						+ ": that is the code here, and the command tries it without a change."
						+ " More memory then stays with the program.",
						"// at the top of the file that has main:\n#include <malloc.h>\n// as the first statements of main:\nmallopt(M_MMAP_MAX, 0);\n"
								+ "mallopt(M_TRIM_THRESHOLD, " + kept + ");\n"));
	}

	/**
	 * How much of the blocks is touched, at least as far as it was seen: of blocks that live for less than an interval only one at an
	 * address is seen in it, so what all of them touch in an interval is compared with what lives at a time, too.
	 */
	private static double touched(GroupFacts g, TraceFacts t) {
		double live = Math.max(1, g.liveBytes / (double) Math.max(1, t.info().pageSizeBytes()));
		return Math.max(g.touchedShare(), g.parts / (Math.max(1, g.firstIntervals.cardinality()) * live));
	}

	/** Room between members of a structure that threads of their own write: without a name, so that nothing initialises or uses it. */
	static Text apart(GroupFacts g, TraceFacts t, List<TypeMembers.Member> members) {
		List<TypeMembers.Member> all = g.members.members().stream()
				.sorted(java.util.Comparator.comparingLong(TypeMembers.Member::offset)).toList();
		boolean fortran = Language.of(g, t) == Language.FORTRAN;
		long end = 0;
		for (TypeMembers.Member m : all) {
			if (m.offset() < end || m.type().isEmpty()) {
				return null;	// a union, or members that share bytes
			}
			end = m.offset() + m.bytes();
		}
		// members of members and of base classes are declared elsewhere
		if (fortran || all.stream().anyMatch(m -> m.name().contains(".")) || !all.containsAll(members)) {
			return null;
		}
		StringBuilder code = new StringBuilder();
		int last = all.indexOf(members.get(members.size() - 1));
		for (int i = all.indexOf(members.get(0)); i <= last + 1 && i < all.size(); i++) {
			TypeMembers.Member m = all.get(i);
			// before each of them, and before what follows one of them
			if (i > 0 && (members.contains(m) || members.contains(all.get(i - 1)))) {
				code.append("// in the declaration of ").append(g.elementType.replaceFirst("^(struct|class) ", ""))
						.append(", before ").append(m.name()).append(":\nunsigned : 32").append(", : 32".repeat(LINE / 4 - 1)).append(";\n");
			}
		}
		return tested("apart", g, t, "The code here puts 64 bytes without a name between them.", code.toString());
	}
}
