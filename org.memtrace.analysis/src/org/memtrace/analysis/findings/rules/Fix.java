// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

import org.memtrace.analysis.findings.facts.ElementPadding;
import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.Place;
import org.memtrace.analysis.findings.facts.ProgramCommand;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.memory.TypeMembers;

/**
 * What to change, with the names of the program. Words are always there. Code only for cases that the suite of fixes has pasted, built, run
 * and compared ({@link FixCode}): a text that nobody ran can crash a program, or write over its data.
 *
 * @param words whole sentences: what to change, where, and what must be true for it; empty without a fix
 * @param command a shell line that tries it without a change of the program; empty without one
 * @param code text to paste, with comments that say where each part belongs; empty without one
 * @param tested the case that the suite has tried, as its table names it; empty without code
 */
public record Fix(String words, String command, String code, String tested) {
	/** No fix. */
	public static final Fix NONE = words("");
	/** A table that is larger is not made eight times as large to keep its elements apart. */
	private static final long FEW = 65536;
	private static final String NUMACTL = "numactl --interleave=all";

	/** Words alone. */
	public static Fix words(String sentences) {
		return new Fix(sentences, "", "", "");
	}

	private Fix command(String line) {
		return new Fix(words, line, code, tested);
	}

	private Fix code(FixCode.Text text) {
		return text == null ? this : new Fix(words + " " + text.words(), command, text.code(), text.tested());
	}

	/** All of it as one text: what a terminal, a table or a clipboard has. */
	public String text() {
		return List.of(words, command, code.stripTrailing()).stream().filter(s -> !s.isEmpty()).collect(Collectors.joining("\n"));
	}

	private static boolean isOpenMp(TraceFacts t) {
		return t.threads().stream().anyMatch(x -> x.startRoutine().matches("OpenMP worker|.*gomp.*|.*kmp.*"));
	}

	/** Whether the threads of this structure can be told by directives. */
	private static boolean hasDirectives(GroupFacts g, TraceFacts t) {
		return isOpenMp(t) && Language.of(g, t).hasOpenMp();
	}

	private static String directive(GroupFacts g, TraceFacts t, String clauses) {
		return "'" + (Language.of(g, t) == Language.FORTRAN ? "!$omp parallel do " : "#pragma omp parallel for ") + clauses + "'";
	}

	/** "field (work.c:7)" */
	private static String named(GroupFacts g) {
		String site = g.site.substring(g.site.lastIndexOf('/') + 1);
		return g.label + (g.label.contains(site) ? "" : " (" + site + ")");
	}

	/** "the loop in step (stencil.c:35) that uses field", as far as it is known. */
	private static String loop(Place code, String does, GroupFacts g) {
		return "the loop" + (code == null ? "" : " in " + code) + " that " + does + " " + g.label;
	}

	private static boolean hasNodes(TraceFacts t) {
		return t.nodes() > 1;
	}

	/** What stands before the program, where the recorded machine has several nodes. */
	private static Fix onNodes(String words, String before, TraceFacts t) {
		if (!hasNodes(t)) {
			return words(words);
		}
		String line = ProgramCommand.with(before, t.info().properties());
		return line.isEmpty() ? words(words + " To try it without a change of the program, put '" + before
				+ "' before the program in the command of "
				+ ProgramCommand.starter(t.info().properties()) + ".") : words(words).command(line);
	}

	/** A mapping may be a file: what is written to it is written to the file. */
	private static String beware(GroupFacts g) {
		return g.kind == StructureKind.MMAP ? " If " + g.label + " is a mapped file, do not write to it: that changes the file, or ends the program;"
				+ " let the threads read their parts first, and map it without MAP_POPULATE." : "";
	}

	/** Small blocks have no names yet. */
	public static Fix nameBlocks(GroupFacts g, TraceFacts t) {
		Place code = g.used != null ? g.used : g.firstWritten;
		return words("Which blocks these are, a recording with smaller ones says."
				+ (code == null ? "" : " The code that uses them is " + code + "."))
				.command(ProgramCommand.with("memtrace record --min-alloc 16 --", t.info().properties()));
	}

	/** Several nodes, one array: pages in turn. */
	public static Fix interleave(GroupFacts g, TraceFacts t) {
		return onNodes("On a machine with several NUMA nodes, let the pages of " + named(g)
				+ " go round the nodes: set the policy MPOL_INTERLEAVE for"
				+ " it (mbind, for whole pages) before " + loop(g.firstWritten, "first writes", g) + "." + beware(g), NUMACTL, t);
	}

	/** One array on one node. */
	public static Fix bind(GroupFacts g, int node) {
		return words("Set the policy MPOL_BIND with node " + node + " for " + named(g) + " (mbind, for whole pages) before "
				+ loop(g.firstWritten, "first writes", g) + ".");
	}

	/** Threads write first what they use later. */
	public static Fix parallelInit(GroupFacts g, TraceFacts t) {
		Language language = Language.of(g, t);
		if (g.kind == StructureKind.MMAP || g.writes == 0) {
			return words("Let each thread read its own part of " + named(g) + " before anything else goes through all of it"
					+ (g.firstWritten != null || g.used == null ? "" : ", as " + loop(g.used, "uses", g) + " divides it") + "." + beware(g));
		}
		String use = loop(g.used, "uses", g);
		String where = g.firstWritten == null ? "the loop that first writes " + g.label : loop(g.firstWritten, "first writes", g);
		String made = "";
		if (language == Language.CPP && g.kind == StructureKind.HEAP) {
			made = (isPlain(g.elementType) ? "If " + named(g) + " is a std::vector, the thread that makes it, or resizes it, writes"
					: "If " + named(g) + " is a std::vector or comes from new, the constructor of " + g.elementType + " writes")
					+ " all of it: let the constructor, or the allocator of the vector, leave the memory as it is, so that the parallel loop writes it first."
					+ " To write it once more is slower.";
			if (g.firstWritten != null && g.firstWritten.function().startsWith("std::")) {
				return words(made);
			}
			made += " If not: ";
		}
		if (hasDirectives(g, t)) {
			return words(made + (made.isEmpty() ? "Divide " : "divide ") + where + " as " + use + ": put " + directive(g, t,
					"schedule(static)") + " before it, with the same number of threads."
					+ " That is right if its iterations do not depend on each other.");
		}
		return words(made + (made.isEmpty() ? "Let" : "let") + " each thread write its own part of " + named(g)
				+ " before it begins to work, as " + use + " divides it, instead of " + where
				+ " in one thread.");
	}

	/** A number, a pointer or an enumeration: no constructor. */
	private static boolean isPlain(String type) {
		return type.isEmpty() || type.endsWith("*") || type.startsWith("enum ")
				|| type.matches("(_Bool|bool|(un)?signed|char|short|int|long|float|double|_Complex|complex|\\w+_t)"
						+ "( (_Bool|(un)?signed|char|short|int|long|float|double))*");
	}

	/** A copy for each node. */
	public static Fix copies(GroupFacts g, TraceFacts t) {
		return onNodes("On a machine with several NUMA nodes, make a copy of " + named(g) + " (" + Words.bytes(g.liveBytes)
				+ ") for each node, after "
				+ loop(g.firstWritten, "first writes", g) + ", by a thread of that node, and let " + loop(g.used, "uses", g)
				+ " read the copy of its node. That is right as long as nobody writes " + g.label + " after that.", NUMACTL, t);
	}

	/** A line for each thread. */
	public static Fix align(GroupFacts g, TraceFacts t) {
		String type = g.elementType.isEmpty() ? "its type" : g.elementType;
		if (Language.of(g, t) == Language.FORTRAN) {
			return words("Give each thread a line of 64 bytes of " + named(g) + ": a first index of 8 elements of 8 bytes, of which only the first one is"
					+ " used. Or let each thread add up in a variable of its own, with a clause reduction, and store it once.");
		}
		if (g.bytes > FEW) {
			return words("Let neighbouring elements of " + named(g) + " belong to one thread: whole blocks of it for each thread in "
					+ loop(g.used, "uses", g) + (hasDirectives(g, t) ? ", with schedule(static) and no size of a chunk" : "")
					+ ". Threads then share a line at the borders of the blocks only.");
		}
		return words("Give what each thread writes of " + named(g) + " a line of 64 bytes: let an element be a structure that has " + type
				+ " as a member and is aligned to 64 bytes, and use the member where the element was used. Or let each thread count in a local variable,"
				+ " and store it once, at the end.");
	}

	/**
	 * A line for each of the members that different threads write, when they are members of one element; else as
	 * {@link #align(GroupFacts, TraceFacts)}.
	 *
	 * @param used what the threads write
	 */
	static Fix align(GroupFacts g, TraceFacts t, List<MemberPlace> used) {
		List<TypeMembers.Member> members = used.stream().map(MemberPlace::member).filter(Objects::nonNull).distinct()
				.sorted(java.util.Comparator.comparingLong(TypeMembers.Member::offset)).toList();
		boolean oneElement = used.stream().mapToLong(MemberPlace::element).distinct().count() == 1;
		// a member of a member is declared elsewhere
		if (members.size() < 2 || !oneElement || members.stream().anyMatch(m -> m.name().contains("."))) {
			return align(g, t);
		}
		return words("Keep " + list(members.stream().map(TypeMembers.Member::name).toList()) + " of " + g.elementType
				+ " 64 bytes or more apart from each other, and from what other threads use of " + named(g)
				+ ". That changes the size of " + g.elementType + ": no file, no other program and no library that is not built again may know it.")
				.code(FixCode.apart(g, t, members));
	}

	/** "a, b and c" */
	static String list(List<String> names) {
		int n = names.size();
		return n < 2 ? String.join("", names) : String.join(", ", names.subList(0, n - 1)) + " and " + names.get(n - 1);
	}

	/** Whole pages for each thread. */
	public static Fix pages(GroupFacts g, TraceFacts t) {
		int page = Math.max(1, t.info().pageSizeBytes());
		return words("On a machine with several NUMA nodes, let " + named(g) + " begin at a page, and let the part of each thread in "
				+ loop(g.used, "uses", g) + " be a multiple of " + page + " bytes.");
	}

	/** Away from the stack. */
	public static Fix heap(GroupFacts g, TraceFacts t) {
		return words("Allocate what the threads share of " + named(g) + " on the heap" + (g.used == null ? "" : " (" + g.used + " uses it)")
				+ ", in whole pages of " + Math.max(1, t.info().pageSizeBytes()) + " bytes, and let each thread write its own part first"
				+ (hasDirectives(g, t) ? ", in a loop with the schedule of the loop that uses it" : "") + ". Free it when the function returns.");
	}

	/** A buffer that stays. */
	public static Fix keepBuffer(GroupFacts g, TraceFacts t) {
		BlockSizes sizes = BlockSizes.of(g, t);
		Language language = Language.of(g, t);
		boolean one = t.threads().stream().filter(x -> x.image() == g.image).count() < 2;
		String who = one ? "" : " for each thread";
		String how = sizes.least() == sizes.most() ? "keep one buffer of " + Words.bytes(sizes.most()) + who
				: "keep one buffer of the largest size, " + Words.bytes(sizes.most()) + "," + (one ? "" : who + ",")
						+ " or let it grow when a larger one is needed";
		String many = sizes.perThread() <= 1 ? "In this recording no thread had two of them at a time; the kept one must hold nothing that is still needed."
				: "A thread had up to " + sizes.perThread() + " of them at a time: it needs as many.";
		Fix fix = words(capital(sizes.of(named(g))) + ": " + how + ". " + many
				+ (language == Language.CPP && !one ? " A static thread_local object is freed when its thread ends." : ""));
		FixCode.Keep keep = FixCode.keep(g, t, sizes);
		return keep == null ? fix : fix.command(ProgramCommand.with(keep.environment(), t.info().properties())).code(keep.text());
	}

	private static String capital(String s) {
		return s.substring(0, 1).toUpperCase(java.util.Locale.ROOT) + s.substring(1);
	}

	/** Private copies, summed up. */
	public static Fix reduction(GroupFacts g, TraceFacts t) {
		return words("Let each thread count in a copy of its own of what these pages hold of " + named(g) + ", and add the copies to " + g.label
				+ (hasDirectives(g, t) ? " after " + loop(g.used, "uses", g) + ", or let the clause reduction do it, if the copies fit on the stack"
						: " after the threads have ended") + ". Sums of floating-point numbers then differ in their last digits.");
	}

	/** Two threads on one node. */
	public static Fix bindTogether(GroupFacts g, TraceFacts t, int a, int b) {
		String words = "Bind " + t.thread(a) + " and " + t.thread(b) + ", which hand on " + named(g) + ", to CPUs that share a cache or a node: ";
		return isOpenMp(t) ? onNodes(words + "OpenMP does it with OMP_PLACES=cores and OMP_PROC_BIND=close.",
				"OMP_PLACES=cores OMP_PROC_BIND=close", t)
				: words(words + "lscpu -e shows them, taskset -p binds a thread of a running program, sched_setaffinity does it from within.");
	}

	/** Both loops the same. */
	public static Fix sameSchedule(GroupFacts g, TraceFacts t) {
		String words = "Divide " + loop(g.firstWritten, "first writes", g) + " as " + loop(g.used, "uses", g);
		String how = ": let both divide the same index of it, with the clause schedule(static) and the same number of threads, and bind the threads.";
		return hasDirectives(g, t) ? onNodes(words + how, "OMP_PLACES=cores OMP_PROC_BIND=close", t)
				: words(words + ": the same thread must get the same part, on the same CPU.");
	}

	/** Threads and pages on the same node. */
	public static Fix nodes(GroupFacts g, TraceFacts t) {
		String words = "Let the threads that use " + named(g) + " stay on the node of its pages: bind them before "
				+ loop(g.firstWritten, "first writes", g)
				+ "; or let each thread move the whole pages of its part (move_pages, or mbind with MPOL_MF_MOVE).";
		return isOpenMp(t) ? onNodes(words, "OMP_PLACES=cores OMP_PROC_BIND=close", t) : words(words);
	}

	/** An element without what only fills it. */
	static Fix pack(GroupFacts g) {
		String fillers = list(g.members.members().stream().filter(ElementPadding::isFiller).map(TypeMembers.Member::name).toList());
		return words("Take " + (fillers.isEmpty() ? "" : fillers + " and ") + "the alignment out of " + g.elementType
				+ ", the type of " + named(g) + ": it has "
				+ Words.count(g.members.bytes(), "byte") + ", its members need " + g.padding.members + ". That is right if nothing uses "
				+ (fillers.isEmpty() ? "the room" : fillers) + ", and if no file, no other program and no library that is not built again knows its size.");
	}

	/** Even work. */
	public static Fix schedule(GroupFacts g, TraceFacts t) {
		return words(hasDirectives(g, t) ? "Give " + loop(g.used, "uses", g) + " the clause schedule(static, 8) or schedule(dynamic), or collapse(2) where"
				+ " two loops are nested. Sums of floating-point numbers then differ in their last digits."
				: "In " + loop(g.used, "uses", g) + ", give thread k of K the rows k, k + K, k + 2 K and so on instead of one block, or let the threads take"
						+ " small parts in turn.");
	}

	/** Rows instead of columns for each thread, and along them. */
	public static Fix rows(GroupFacts g, TraceFacts t) {
		boolean fortran = Language.of(g, t) == Language.FORTRAN;
		return words("In " + sweep(g, t) + ", give each thread whole " + (fortran ? "columns" : "rows")
				+ " of it, and exchange the loops so that the "
				+ (fortran ? "first" : "last") + " index belongs to the innermost one. That is right if no iteration needs what a later one of the old order"
				+ " has not done yet.");
	}

	/** The loop that jumps: named only where instructions tell it, or one function has nearly all uses; others go along memory. */
	private static String sweep(GroupFacts g, TraceFacts t) {
		if (g.steps != null && g.steps.most() != null) {
			return "the loop in " + g.steps.most().where() + " that jumps through " + g.label;
		}
		return g.usedNearlyAlone ? loop(g.used, "uses", g) : "the loop that jumps through " + named(g);
	}

	/** Along memory. */
	public static Fix tiles(GroupFacts g, TraceFacts t) {
		boolean fortran = Language.of(g, t) == Language.FORTRAN;
		return words("In " + sweep(g, t) + ", exchange the loops so that the " + (fortran ? "first" : "last")
				+ " index of it belongs to the innermost one, or go through tiles that fit into the cache. That is right if no iteration needs what a later"
				+ " one of the old order has not done yet.");
	}
}
