// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.memory.StructureKind;

/**
 * What kind of a case a fix is for: code is given only for cases that the suite of fixes has tried ({@link FixCode}).
 *
 * @param language of the code that would be changed
 * @param threads who starts the threads of the process
 * @param memory kind of the memory
 * @param blocks how many blocks of the place were seen, and whether they have one size
 */
record FixCase(Language language, Threads threads, StructureKind memory, Blocks blocks) {
	/** Who starts threads. */
	enum Threads {
		NONE, OPENMP, POSIX, CPP,
		/** Of several kinds, or some whose start routine has no name. */
		UNKNOWN
	}

	/** Blocks of one place. */
	enum Blocks {
		ONE, EQUAL, SEVERAL
	}

	static FixCase of(GroupFacts g, TraceFacts t) {
		BlockSizes sizes = BlockSizes.of(g, t);
		return new FixCase(Language.of(g, t), threads(g, t), g.kind,
				sizes.count() == 1 ? Blocks.ONE : sizes.least() == sizes.most() ? Blocks.EQUAL : Blocks.SEVERAL);
	}

	/** As a line of the table of cases has it: {@code c,posix,heap,several}. */
	String key() {
		return Stream.of(language, threads, memory, blocks).map(e -> e.name().toLowerCase(Locale.ROOT)).collect(Collectors.joining(","));
	}

	private static Threads threads(GroupFacts g, TraceFacts t) {
		List<Threads> all = t.threads().stream().filter(x -> x.image() == g.image && !x.main()).map(FixCase::starter).distinct().toList();
		return all.isEmpty() ? Threads.NONE : all.size() == 1 ? all.get(0) : Threads.UNKNOWN;
	}

	private static Threads starter(ThreadInfo thread) {
		String start = thread.startRoutine();
		if (start.isEmpty()) {
			return Threads.UNKNOWN;
		}
		if (start.matches("OpenMP worker|.*gomp.*|.*kmp.*")) {
			return Threads.OPENMP;
		}
		if (start.matches(".*(execute_native_thread_routine|std::thread|std::__1::__thread|__thread_proxy).*")) {
			return Threads.CPP;
		}
		// start routines of runtime systems are no functions of the program
		return start.matches("\\w+") ? Threads.POSIX : Threads.UNKNOWN;
	}
}
