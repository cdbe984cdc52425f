// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;
import java.util.Locale;
import java.util.Objects;

import org.memtrace.analysis.findings.facts.ElementPadding;
import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.Place;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.memory.TypeMembers;

/**
 * Texts to paste, with the names of the program. The language follows from the file of the site: C, C++ or Fortran. Source: spec/insight.md
 * 3.4.
 */
public final class Fix {
	private enum Language {
		C, CPP, FORTRAN
	}

	private Fix() {
	}

	private static Language language(GroupFacts g) {
		String site = g.site.replaceFirst(":\\d+$", "");
		Place code = g.firstWritten != null ? g.firstWritten : g.used;
		// a stack, and memory that a library allocates, have no site in the program
		String file = (site.matches(".*\\.\\w+$") || code == null ? site : code.file()).toLowerCase(Locale.ROOT);
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

	/** The type of an element in a declaration of Fortran. It is real(8) where it is not known. */
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

	/** ", step (stencil.c:35)", nothing when it is not known. */
	private static String named(Place code) {
		return code == null ? "" : ", " + code;
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

	/** Small blocks have no names yet. */
	public static String nameBlocks(GroupFacts g, TraceFacts t) {
		Place code = g.used != null ? g.used : g.firstWritten;
		return mark(g) + "which blocks these are, a recording with smaller ones says:\n"
				+ "memtrace record --min-alloc 16 -- " + command(t) + "\n"
				+ (code == null ? "" : mark(g) + "the code that uses them: " + code + "\n");
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

	/** One array on one node. */
	public static String bind(GroupFacts g, TraceFacts t, int node) {
		return mark(g) + "to try it without a change of the program:\n" + mark(g) + "  numactl --membind=" + node + " " + command(t) + "\n"
				+ mbind(g, t, "MPOL_BIND", 1L << node);
	}

	/**
	 * A policy for one array, by a system call, before its pages are touched.
	 *
	 * @param mode name of the policy in numaif.h
	 * @param nodes a bit for each node
	 */
	public static String mbind(GroupFacts g, TraceFacts t, String mode, long nodes) {
		String v = variable(g);
		if (language(g) == Language.FORTRAN) {
			return "! to keep it: a function in C that calls mbind() for " + v + ", called after it is allocated and before it is filled\n";
		}
		return mark(g) + "for the memory as it is allocated now" + at(g) + "; before it is touched:\n#include <numaif.h>     " + mark(g)
				+ "link with -lnuma\nunsigned long " + v + "_nodes = 0x" + Long.toHexString(nodes) + ", " + v
				+ "_before = (unsigned long)" + v + " & " + (pageBytes(t) - 1) + ";     " + mark(g) + "whole pages\nmbind((char *)" + v + " - " + v
				+ "_before, bytes + " + v + "_before, " + mode + ", &" + v + "_nodes, 8 * sizeof(" + v + "_nodes), MPOL_MF_MOVE);\n";
	}

	/** A parallel loop that touches first. */
	public static String parallelInit(GroupFacts g, TraceFacts t) {
		String v = variable(g);
		String allocated = g.kind == StructureKind.HEAP && !g.site.isEmpty()
				? "; it is allocated in " + g.site.substring(g.site.lastIndexOf('/') + 1) : "";
		String where = mark(g) + "just before the loop that fills " + v + named(g.firstWritten) + allocated + ";\n" + mark(g)
				+ "with the schedule of the loop that uses it" + named(g.used) + ":\n";
		if (language(g) == Language.FORTRAN) {
			return where + fortranInit(g, t, v);
		}
		// the length by a name of its own: programs have an n, and it is seldom this one
		String length = "const long " + v + "_length = " + g.bytes / g.structures.size() + " / sizeof(" + v
				+ "[0]);     // elements, in this recording\n";
		String loop = "for (long i = 0; i < " + v + "_length; i++)\n\t" + v + "[i] = " + zero(g) + ";\n";
		String vector = language(g) == Language.CPP
				? "// a std::vector touches its memory in its constructor: use std::unique_ptr<" + type(g) + "[]>(new " + type(g) + "[n]) and this loop instead\n" : "";
		if (isOpenMp(t) || language(g) == Language.CPP) {
			return where + vector + length + "#pragma omp parallel for schedule(static)\n" + loop;
		}
		return where + vector + length + "// each thread k of K, in its start routine, before it begins to work:\nfor (long i = " + v + "_length * k / K; i < " + v
				+ "_length * (k + 1) / K; i++)\n\t" + v + "[i] = " + zero(g) + ";\n";
	}

	/** A loop over the last index of an array of any rank and any bounds; a block, because programs have an i, or none. */
	private static String fortranInit(GroupFacts g, TraceFacts t, String v) {
		String shape = t.structures().get(g.structures.get(0)).typeName().replaceFirst("^.*?(\\([^()=]*\\))?$", "$1");
		int rank = 1 + (int) shape.chars().filter(c -> c == ',').count();
		String element = v + "(" + ":, ".repeat(rank - 1) + "k)";
		String type = g.elementType.toLowerCase(Locale.ROOT);
		String set = type.startsWith("type") || type.startsWith("class") ? "! set the components of " + element + " here\n"
				: element + " = " + (type.startsWith("logical") ? ".false." : type.startsWith("character") ? "''" : "0") + "\n";
		return "block\n  integer :: k\n  !$omp parallel do schedule(static)\n  do k = lbound(" + v + ", " + rank + "), ubound(" + v + ", " + rank + ")\n    " + set
				+ "  end do\nend block\n";
	}

	/** A copy for each node. */
	public static String copies(GroupFacts g, TraceFacts t) {
		String v = variable(g);
		if (language(g) == Language.FORTRAN) {
			return "! to try it: numactl --interleave=all " + command(t) + "\n! to keep it: allocate a copy of " + v
					+ " for each node, filled by a thread of that node\n";
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
		case CPP -> "// the data of each thread on a line of its own" + at(g) + ":\nstruct alignas(64) Padded { " + type(g)
				+ " value; };\nPadded " + v + "[threads];\n"
				+ (isOpenMp(t) ? "// or let OpenMP do it: #pragma omp parallel for reduction(+:" + v + ")\n" : "");
		default -> "// the data of each thread on a line of its own" + at(g) + ":\nstruct { _Alignas(64) " + type(g) + " value; } " + v
				+ "[threads];\n"
				+ (isOpenMp(t) ? "// or let OpenMP do it: #pragma omp parallel for reduction(+:" + v + "[:n])\n" : "");
		};
	}

	/**
	 * A line for each of the members that different threads write, when they are members of one element; else as
	 * {@link #align(GroupFacts, TraceFacts)}.
	 *
	 * @param used what the threads write
	 */
	static String align(GroupFacts g, TraceFacts t, List<MemberPlace> used) {
		List<TypeMembers.Member> members = used.stream().map(MemberPlace::member).filter(Objects::nonNull).distinct().toList();
		boolean oneElement = used.stream().mapToLong(MemberPlace::element).distinct().count() == 1;
		// a member of a member is declared elsewhere; what has no type cannot be written down
		if (members.size() < 2 || !oneElement || language(g) == Language.FORTRAN
				|| members.stream().anyMatch(m -> m.name().contains(".") || m.type().isEmpty())) {
			return align(g, t);
		}
		String aligned = language(g) == Language.CPP ? "alignas(64) " : "_Alignas(64) ";
		StringBuilder text = new StringBuilder(
				"// each member that a thread of its own writes on a line of its own" + at(g) + ":\n" + g.elementType + " {\n");
		members.forEach(m -> text.append('\t').append(aligned).append(declaration(m)).append(";\n"));
		return text.append("\t// the other members, the first of them with ").append(aligned.strip()).append(", too\n};\n").toString();
	}

	/** "long sums[4]" */
	private static String declaration(TypeMembers.Member m) {
		int dimensions = m.type().indexOf('[', m.type().lastIndexOf('>') + 1);
		String type = dimensions < 0 ? m.type() : m.type().substring(0, dimensions);
		return type + (type.endsWith("*") ? "" : " ") + m.name() + (dimensions < 0 ? "" : m.type().substring(dimensions));
	}

	/** Of the machine on which it was recorded. */
	private static int pageBytes(TraceFacts t) {
		return Math.max(1, t.info().pageSizeBytes());
	}

	/** Whole pages for each thread. */
	public static String pages(GroupFacts g, TraceFacts t) {
		return language(g) == Language.FORTRAN ? "! make the part of each thread a multiple of " + pageBytes(t) + " bytes\n"
				: "// make the part of each thread a multiple of a page, beginning at a page" + at(g) + ":\n" + variable(g)
						+ " = aligned_alloc(" + pageBytes(t) + ", bytes);\n";
	}

	/** Away from the stack. */
	public static String heap(GroupFacts g, TraceFacts t) {
		return "// the array that is shared, on the heap instead of the stack:\n" + pointer(g, "data") + " = aligned_alloc("
				+ pageBytes(t) + ", bytes);\n"
				+ (isOpenMp(t) ? "#pragma omp parallel for schedule(static)\n" : "// each thread its own part:\n")
				+ "for (long i = 0; i < n; i++)\n\tdata[i] = 0;\n";
	}

	/** A buffer that stays. */
	public static String keepBuffer(GroupFacts g, TraceFacts t) {
		String v = variable(g);
		return switch (language(g)) {
		case FORTRAN -> "! allocate " + v + " once and keep it:\n" + fortranType(g) + ", allocatable, save :: " + v + "(:)\n!$omp threadprivate("
				+ v + ")\n";
		case CPP -> "// one buffer for each thread, kept between calls" + at(g) + ":\nstatic thread_local std::vector<" + type(g) + "> " + v
				+ ";\nif (" + v + ".size() < n)\n\t" + v + ".resize(n);\n";
		default -> "// one buffer for each thread, kept between calls" + at(g) + ":\nstatic _Thread_local " + pointer(g, v) + ";\nif (!" + v
				+ ")\n\t" + v
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
				? "OMP_PLACES=cores OMP_PROC_BIND=close " + command(t) + "\n"
				: "# in the program: pthread_setaffinity_np for " + t.thread(a) + " and " + t.thread(b) + "\n");
	}

	/** Both loops the same. */
	public static String sameSchedule(GroupFacts g, TraceFacts t) {
		return mark(g) + "the same in the loop that initialises " + variable(g) + named(g.firstWritten) + "\n" + mark(g)
				+ "and in the loops that use it" + named(g.used)
				+ ":\n" + (language(g) == Language.FORTRAN ? "!$omp parallel do schedule(static)\n" : "#pragma omp parallel for schedule(static)\n")
				+ mark(g) + "and bind the threads: OMP_PROC_BIND=close OMP_PLACES=cores " + command(t) + "\n";
	}

	/** Threads and pages on the same node. */
	public static String nodes(GroupFacts g, TraceFacts t) {
		String bind = isOpenMp(t)
				? mark(g) + "threads stay where they began:\n" + mark(g) + "  OMP_PROC_BIND=close OMP_PLACES=cores " + command(t) + "\n"
				: mark(g) + "threads stay where they began: pthread_setaffinity_np for each, before it touches its part\n";
		return bind + (language(g) == Language.FORTRAN ? ""
				: "// or move the pages, in each thread, for its part of " + variable(g) + at(g) + ":\n"
				+ "#include <numa.h>      // link with -lnuma\n#include <numaif.h>\nunsigned long node = 1UL << numa_node_of_cpu(sched_getcpu());\n"
				+ "mbind(part, bytes, MPOL_PREFERRED, &node, 64, MPOL_MF_MOVE);      // part begins at a page\n");
	}

	/** An element without what only fills it; members of members are declared elsewhere. */
	static String pack(GroupFacts g) {
		StringBuilder text = new StringBuilder(mark(g) + g.elementType + at(g) + " has " + g.members.bytes() + " bytes; it needs "
				+ g.padding.members + ":\n");
		List<TypeMembers.Member> members = g.members.members();
		if (language(g) == Language.FORTRAN || members.stream().anyMatch(m -> m.name().contains(".") || m.type().isEmpty())) {
			return text + mark(g) + "take out the members that only fill it, and the alignment\n";
		}
		text.append(g.elementType).append(" {      ").append(mark(g)).append("no alignment, and nothing that only fills\n");
		members.stream().filter(m -> !ElementPadding.isFiller(m)).forEach(m -> text.append('\t').append(declaration(m)).append(";\n"));
		return text + "};\n";
	}

	/** Even work. */
	public static String schedule(GroupFacts g, TraceFacts t) {
		String where = g.used == null ? "" : mark(g) + "the loop that uses " + variable(g) + named(g.used) + ":\n";
		return where + (language(g) == Language.FORTRAN ? "!$omp parallel do schedule(static, 8)     ! or schedule(dynamic), or collapse(2)\n"
				: isOpenMp(t) ? "#pragma omp parallel for schedule(static, 8)     // or schedule(dynamic), or collapse(2)\n"
						: "// give each thread k of K the rows k, k + K, k + 2 K, … instead of one block\n");
	}

	/** Rows instead of columns for each thread, and along them. */
	public static String rows(GroupFacts g, TraceFacts t) {
		String v = variable(g);
		String where = g.used == null ? at(g) : named(g.used);
		return language(g) == Language.FORTRAN
				? "! each thread has whole columns of " + v + ", and the first index belongs to the innermost loop" + where
						+ "\n!$omp parallel do schedule(static)\ndo j = 1, m\n  do i = 1, n\n    ... " + v + "(i, j)\n  end do\nend do\n"
				: "// each thread has whole rows of " + v + ", and the last index belongs to the innermost loop" + where + ":\n"
						+ (isOpenMp(t) ? "#pragma omp parallel for schedule(static)\nfor (long i = 0; i < n; i++)\n"
								: "for (long i = n * thread / threads; i < n * (thread + 1) / threads; i++)\n")
						+ "\tfor (long j = 0; j < m; j++)\n\t\t... " + v + "[i * m + j]\n";
	}

	/** Along memory. */
	public static String tiles(GroupFacts g, TraceFacts t) {
		String v = variable(g);
		return language(g) == Language.FORTRAN
				? "! the first index of " + v + " belongs to the innermost loop" + named(g.used) + "\ndo j = 1, m\n  do i = 1, n\n    ... " + v
				+ "(i, j)\n  end do\nend do\n"
				: "// the last index of " + v + " belongs to the innermost loop" + (g.used == null ? at(g) : named(g.used)) + ":\nfor (long i = 0; i < n; i++)\n\tfor (long j = 0; j < m; j++)\n\t\t... " + v
						+ "[i * m + j]\n";
	}
}
