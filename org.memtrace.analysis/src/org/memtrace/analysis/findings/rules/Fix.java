// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.Locale;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;

/** Texts to paste, with the names of the program. The language follows from the file of the site: C, C++ or Fortran. Source: spec/insight.md 3.4. */
public final class Fix {
	private enum Language {
		C, CPP, FORTRAN
	}

	private Fix() {
	}

	private static Language language(GroupFacts g) {
		String file = g.site.replaceFirst(":\\d+$", "").toLowerCase(Locale.ROOT);
		if (file.matches(".*\\.(f|for|f77|f90|f95|f03|f08)$")) {
			return Language.FORTRAN;
		}
		return file.matches(".*\\.(cc|cpp|cxx|c\\+\\+|hpp|hh|h\\+\\+)$") ? Language.CPP : Language.C;
	}

	/** The name as a variable, in Fortran without its module or COMMON block; what is no name of a variable becomes "data". */
	private static String variable(GroupFacts g) {
		String name = language(g) == Language.FORTRAN ? g.name.replaceFirst("^\\w+::", "") : g.name;
		return name.matches("[A-Za-z_][A-Za-z_0-9]*(\\[i\\])?") ? name.replace("[i]", "") : "data";
	}

	/** The type of an element as it is declared, or "T". */
	private static String type(GroupFacts g) {
		return g.elementType.isEmpty() ? "T" : g.elementType;
	}

	/** "double *x": a star follows a star without a blank. */
	private static String pointer(GroupFacts g, String variable) {
		return type(g) + (type(g).endsWith("*") ? "*" : " *") + variable;
	}

	/** The same in a declaration of Fortran; real(8) where it is not known. */
	private static String fortranType(GroupFacts g) {
		return g.elementType.isEmpty() ? "real(8)" : g.elementType.replaceFirst("^type (\\w+)$", "type($1)");
	}

	/** What sets an element to zero: of a structure all members. */
	private static String zero(GroupFacts g) {
		String t = g.elementType;
		boolean plain = t.isEmpty() || t.endsWith("*") || t.startsWith("enum ")
				|| t.matches("(_Bool|bool|(un)?signed|char|short|int|long|float|double|_Complex|complex|\\w+_t)( (_Bool|(un)?signed|char|short|int|long|float|double))*");
		return plain ? "0" : language(g) == Language.CPP ? "{}" : "(" + t + "){ 0 }";
	}

	private static boolean isOpenMp(TraceFacts t) {
		return t.threads().stream().anyMatch(x -> x.startRoutine().matches("OpenMP worker|.*gomp.*|.*kmp.*"));
	}

	private static String at(GroupFacts g) {
		return g.site.isEmpty() ? "" : " (" + g.site.substring(g.site.lastIndexOf('/') + 1) + ")";
	}

	/** How the program was started. */
	private static String command(TraceFacts t) {
		String command = t.property("command");
		return command.isEmpty() ? "PROGRAM" : command;
	}

	private static String mark(GroupFacts g) {
		return switch (language(g)) {
		case FORTRAN -> "! ";
		default -> "// ";
		};
	}

	/** Several nodes, one array: pages in turn. */
	public static String interleave(GroupFacts g, TraceFacts t) {
		String v = variable(g);
		String run = mark(g) + "to try it without a change of the program:\n" + mark(g) + "  numactl --interleave=all " + command(t) + "\n";
		return run + switch (language(g)) {
		case FORTRAN -> "! to keep it: initialise " + v + " in parallel with schedule(static, 512), so that pages go round the threads\n";
		default -> mark(g) + "to keep it" + at(g) + ":\n#include <numa.h>      " + mark(g) + "link with -lnuma\n" + v
				+ " = numa_alloc_interleaved(bytes);\n";
		};
	}

	/** A parallel loop that touches first. */
	public static String parallelInit(GroupFacts g, TraceFacts t) {
		String v = variable(g);
		String where = mark(g) + "before the first loop that writes " + v + at(g) + ",\n" + mark(g) + "with the schedule of the loop that uses it:\n";
		if (language(g) == Language.FORTRAN) {
			return where + "!$omp parallel do schedule(static)\ndo i = 1, n\n  " + v + "(i) = 0\nend do\n";
		}
		// the length by a name of its own: programs have an n, and it is seldom this one
		String length = "const long " + v + "_length = " + g.bytes / g.structures.size() + " / sizeof(" + v + "[0]);     // elements, in this recording\n";
		String loop = "for (long i = 0; i < " + v + "_length; i++)\n\t" + v + "[i] = " + zero(g) + ";\n";
		String vector = language(g) == Language.CPP
				? "// a std::vector touches its memory in its constructor: use std::unique_ptr<" + type(g) + "[]>(new " + type(g) + "[n]) and this loop instead\n" : "";
		if (isOpenMp(t) || language(g) == Language.CPP) {
			return where + vector + length + "#pragma omp parallel for schedule(static)\n" + loop;
		}
		return where + vector + length + "// each thread k of K, in its start routine, before it begins to work:\nfor (long i = " + v + "_length * k / K; i < " + v
				+ "_length * (k + 1) / K; i++)\n\t" + v + "[i] = " + zero(g) + ";\n";
	}

	/** A copy for each node. */
	public static String copies(GroupFacts g, TraceFacts t) {
		String v = variable(g);
		if (language(g) == Language.FORTRAN) {
			return "! to try it: numactl --interleave=all " + command(t) + "\n! to keep it: allocate a copy of " + v + " for each node, filled by a thread of that node\n";
		}
		return "#include <numa.h>      // link with -lnuma\n// once, after " + v + " was filled" + at(g) + ":\nfor (int k = 0; k <= numa_max_node(); k++) {\n\tcopy[k] = numa_alloc_onnode(bytes, k);\n\tmemcpy(copy[k], "
				+ v + ", bytes);\n}\n// in each thread, instead of " + v + ":\ncopy[numa_node_of_cpu(sched_getcpu())]\n";
	}

	/** A line for each thread. */
	public static String align(GroupFacts g, TraceFacts t) {
		String v = variable(g);
		return switch (language(g)) {
		case FORTRAN -> "! give each thread a line of 64 bytes: the first index has 8 reals of 8 bytes, only the first one is used\n" + fortranType(g) + " :: " + v
				+ "(8, threads)\n! or: !$omp parallel do reduction(+:" + v + ")\n";
		case CPP -> "// the data of each thread on a line of its own" + at(g) + ":\nstruct alignas(64) Padded { " + type(g) + " value; };\nPadded " + v + "[threads];\n"
				+ (isOpenMp(t) ? "// or let OpenMP do it: #pragma omp parallel for reduction(+:" + v + ")\n" : "");
		default -> "// the data of each thread on a line of its own" + at(g) + ":\nstruct { _Alignas(64) " + type(g) + " value; } " + v + "[threads];\n"
				+ (isOpenMp(t) ? "// or let OpenMP do it: #pragma omp parallel for reduction(+:" + v + "[:n])\n" : "");
		};
	}

	/** Whole pages for each thread. */
	public static String pages(GroupFacts g, TraceFacts t) {
		return language(g) == Language.FORTRAN ? "! make the part of each thread a multiple of 4096 bytes\n"
				: "// make the part of each thread a multiple of a page, beginning at a page" + at(g) + ":\n" + variable(g)
						+ " = aligned_alloc(4096, bytes);\n";
	}

	/** Away from the stack. */
	public static String heap(GroupFacts g, TraceFacts t) {
		return "// the array that is shared, on the heap instead of the stack:\n" + pointer(g, "data") + " = aligned_alloc(4096, bytes);\n"
				+ (isOpenMp(t) ? "#pragma omp parallel for schedule(static)\n" : "// each thread its own part:\n") + "for (long i = 0; i < n; i++)\n\tdata[i] = 0;\n";
	}

	/** A buffer that stays. */
	public static String keepBuffer(GroupFacts g, TraceFacts t) {
		String v = variable(g);
		return switch (language(g)) {
		case FORTRAN -> "! allocate " + v + " once and keep it:\n" + fortranType(g) + ", allocatable, save :: " + v + "(:)\n!$omp threadprivate(" + v + ")\n";
		case CPP -> "// one buffer for each thread, kept between calls" + at(g) + ":\nstatic thread_local std::vector<" + type(g) + "> " + v
				+ ";\nif (" + v + ".size() < n)\n\t" + v + ".resize(n);\n";
		default -> "// one buffer for each thread, kept between calls" + at(g) + ":\nstatic _Thread_local " + pointer(g, v) + ";\nif (!" + v + ")\n\t" + v
				+ " = malloc(bytes);\n";
		};
	}

	/** Private copies, summed up. */
	public static String reduction(GroupFacts g, TraceFacts t) {
		String v = variable(g);
		return language(g) == Language.FORTRAN ? "!$omp parallel do reduction(+:" + v + ")\n"
				: isOpenMp(t) ? "#pragma omp parallel for reduction(+:" + v + "[:n])\n"
						: "// each thread k counts in a copy of its own; sum the copies after the threads have ended:\n" + pointer(g, "mine") + " = calloc(n, sizeof(" + type(g) + "));\n";
	}

	/** Two threads on one node. */
	public static String bindTogether(GroupFacts g, TraceFacts t, int a, int b) {
		return "# both threads on CPUs of one node; see the nodes with: numactl --hardware\n" + (isOpenMp(t)
				? "OMP_PLACES=cores OMP_PROC_BIND=close " + command(t) + "\n" : "# in the program: pthread_setaffinity_np for " + t.thread(a) + " and " + t.thread(b) + "\n");
	}

	/** Both loops the same. */
	public static String sameSchedule(GroupFacts g, TraceFacts t) {
		return (language(g) == Language.FORTRAN ? "! the same in the loop that initialises " + variable(g) + " and in the loops that use it:\n!$omp parallel do schedule(static)\n"
				: "// the same in the loop that initialises " + variable(g) + " and in the loops that use it" + at(g)
						+ ":\n#pragma omp parallel for schedule(static)\n")
				+ mark(g) + "and bind the threads: OMP_PROC_BIND=close OMP_PLACES=cores " + command(t) + "\n";
	}

	/** Even work. */
	public static String schedule(GroupFacts g, TraceFacts t) {
		return language(g) == Language.FORTRAN ? "!$omp parallel do schedule(static, 8)     ! or schedule(dynamic), or collapse(2)\n"
				: isOpenMp(t) ? "#pragma omp parallel for schedule(static, 8)     // or schedule(dynamic), or collapse(2)\n"
						: "// give each thread k of K the rows k, k + K, k + 2 K, … instead of one block\n";
	}

	/** Along memory. */
	public static String tiles(GroupFacts g, TraceFacts t) {
		String v = variable(g);
		return language(g) == Language.FORTRAN
				? "! the first index of " + v + " belongs to the innermost loop\ndo j = 1, m\n  do i = 1, n\n    ... " + v + "(i, j)\n  end do\nend do\n"
				: "// the last index of " + v + " belongs to the innermost loop" + at(g) + ":\nfor (long i = 0; i < n; i++)\n\tfor (long j = 0; j < m; j++)\n\t\t... " + v
						+ "[i * m + j]\n";
	}
}
