// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

import org.memtrace.model.CallFrame;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.MemoryArea;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.TraceStore;

/**
 * Whose memory a structure is. A finding is for a person who can change the program. Nobody who records {@code xz}, or a program in Python,
 * can change how these use their memory; nor what a run time system or an allocator does with what it keeps for others.
 */
final class Ownership {
	private static final Pattern LIBRARY = Pattern.compile("(lib.*|ld-.*|ld)\\.so.*");
	/** Folders of the packages of a system, and of those of languages. */
	private static final Pattern INSTALLED = Pattern.compile("/(usr/(s?bin|games|lib[^/]*|share)|s?bin|lib[^/]*|snap|nix/store|gnu/store)/.*"
			+ "|.*/(site-packages|dist-packages|lib-dynload|node_modules|gems)/.*");
	/** Interpreters, virtual machines and compilers, wherever they are, and what starts other programs. */
	private static final Pattern RUNTIME = Pattern.compile("(python|pypy|perl|ruby|node|nodejs|deno|bun|java|javac|julia|php|lua|luajit|guile|R|Rscript"
			+ "|octave|mono|dotnet|beam\\.smp|erl|ghc|sbcl|go|rustc|cargo|cc1|cc1plus|cc1obj|f951|lto1|lto-wrapper|collect2"
			+ "|mpirun|mpiexec|mpiexec\\.hydra|orterun|orted|prterun|prted|prun|srun|hydra_pmi_proxy|sh|dash|bash|zsh|ksh|make|ninja|env|time|timeout"
			+ "|taskset|numactl|xargs|sudo|su)[-0-9.]*");
	private static final Pattern RUNTIME_LIBRARY = Pattern.compile("lib(python|jvm|node|v8|ruby|perl|R|julia|php|lua|luajit|guile|mono|coreclr|clrjit"
			+ "|mpi|mpi_\\w+|open-rte|open-pal|pmix|prrte|ucp|ucs|uct|ucm|fabric|psm2|hwloc|gomp|omp|iomp5|tbb|tbbmalloc|jemalloc|tcmalloc\\w*"
			+ "|mimalloc|rustc_driver|LLVM)[-0-9._\\w]*\\.so.*");
	/** Functions with which allocators and run time systems get memory from the kernel, also where they are a part of the program. */
	private static final Pattern ALLOCATOR = Pattern.compile("(\\w*je_)?(os_)?(pages_map|extent_alloc_mmap|chunk_alloc_mmap)(\\.\\w+)*"
			+ "|_?mi_(os|unix|prim)_\\w+|unix_mmap\\w*|TCMalloc_SystemAlloc|\\w*SysAllocator::\\w+|sysmalloc\\w*(\\.\\w+)*|new_heap|alloc_new_heap"
			+ "|_?PyObject_ArenaMmap|_PyObject_Arena\\w*|x_cgo_mmap|runtime\\.(sys\\w+|mmap\\w*|persistentalloc\\w*|\\(\\*mheap\\).*)"
			+ "|v8::.*(Allocat|Reserve|VirtualMemory|PageAllocator).*|os::(pd_)?\\w*(reserve|commit)_memory\\w*|rml::.*|GC_unix_\\w+|zend_mm_\\w+");
	/** Their tables. */
	private static final Pattern ALLOCATOR_DATA = Pattern.compile("(\\w*je_)?arena_emap_global|\\w*je_(arenas|base\\w*|tsd\\w*)|_?mi_\\w+|tcmalloc\\w*");
	/** Run time systems that use memory of their own, and functions of them that give it to whoever calls them. */
	private static final Pattern RUNTIME_MEMORY = Pattern.compile("lib(mpi|mpi_\\w+|open-rte|open-pal|pmix|prrte|ucp|ucs|uct|ucm|fabric|psm2|gomp|omp|iomp5)"
			+ "[-0-9._]*\\.so.*|mca_\\w+\\.so");
	/** Static data of the packages that come with Go, and of Rust's: they are linked into the program. */
	private static final Pattern LANGUAGE_DATA = Pattern.compile("(archive|bufio|bytes|cmp|compress|container|context|crypto|database|debug|embed"
			+ "|encoding|errors|expvar|flag|fmt|go|hash|html|image|index|internal|io|iter|log|maps|math|mime|net|os|path|plugin|reflect|regexp"
			+ "|runtime|slices|sort|strconv|strings|structs|sync|syscall|testing|text|time|unicode|unique|unsafe|vendor)(/[^.]*)?\\.[A-Za-z_].*"
			+ "|go:.*|(std|core|alloc)::.*");
	private static final Pattern GIVES = Pattern.compile("P?MPI_(Alloc_mem|Win_allocate\\w*)|(k?omp|kmp|GOMP)_\\w*alloc\\w*");
	/** Frames from the allocation on in which a function of an allocator is looked for. */
	private static final int DEPTH = 4;

	private final TraceStore store;
	private final List<MemoryArea> areas;
	private final Map<Integer, Boolean> stacks = new HashMap<>();

	/** By name, the paths of files whose code is known: the map of memory has names only. */
	private final Map<String, String> paths = new HashMap<>();

	private final List<Structure> structures;
	private final Set<Integer> lookedAt = new HashSet<>();
	private final Set<Integer> seen = new HashSet<>();

	Ownership(TraceStore store, List<MemoryArea> areas, List<CallFrame> code) throws MemtraceException {
		this.store = store;
		this.areas = areas;
		this.structures = store.structures();
		paths.put(name(store.info().application()), store.info().application());
		code.forEach(f -> paths.putIfAbsent(name(f.object()), f.object()));
	}

	private static String name(String path) {
		return path.substring(path.lastIndexOf('/') + 1);
	}

	/** Whether a file is a shared library. */
	static boolean isLibrary(String path) {
		return LIBRARY.matcher(name(path)).matches();
	}

	/** Whether a file is of a package that is installed, or a run time system, a compiler or a launcher. */
	static boolean isOthers(String path) {
		return INSTALLED.matcher(path).matches() || RUNTIME.matcher(name(path)).matches() || RUNTIME_LIBRARY.matcher(name(path)).matches();
	}

	/** Whether a structure is of a program that the user of the trace did not write, or kept by an allocator or run time system for others. */
	boolean isOthers(Structure s) throws MemtraceException {
		if (s.kind() == StructureKind.STATIC) {
			return ALLOCATOR_DATA.matcher(s.name()).matches() || LANGUAGE_DATA.matcher(s.name()).matches() || isOthers(path(areaOf(s), s.image()));
		}
		if (s.kind() == StructureKind.STACK || s.kind() == StructureKind.BRK) {
			return isOthers(path(executable(s.image()), s.image()));
		}
		if (s.kind() != StructureKind.HEAP && s.kind() != StructureKind.MMAP || s.stack() < 0) {
			return false;
		}
		Boolean known = stacks.get(s.stack());
		if (known == null) {
			known = isOthers(store.stack(s.stack()), s.kind());
			stacks.put(s.stack(), known);
		}
		return known;
	}

	/**
	 * By the frames of the allocation, the innermost one first: the first code that is not of a library decides, but what a run time system
	 * allocates while it is called is its own.
	 */
	static boolean isOthers(List<CallFrame> stack, StructureKind kind) {
		if (kind == StructureKind.MMAP && stack.stream().limit(DEPTH).anyMatch(f -> ALLOCATOR.matcher(f.function()).matches())) {
			return true;
		}
		boolean runtime = false;
		for (CallFrame f : stack) {
			if (GIVES.matcher(f.function()).matches()) {
				runtime = false;
			} else if (RUNTIME_MEMORY.matcher(name(f.object())).matches()) {
				runtime = true;
			}
			// a library of the user has source lines, or is not installed
			if (!f.object().isEmpty() && !isOthers(f.object()) && (!isLibrary(f.object()) || !f.file().isEmpty())) {
				return runtime;
			}
		}
		return stack.stream().anyMatch(f -> !f.object().isEmpty());
	}

	/**
	 * Whether it lies in a part of a file that is only read, or may: of a library that was loaded later, the map of memory has nothing, and
	 * its constants are not seen.
	 */
	boolean isConstant(Structure s) {
		if (s.kind() != StructureKind.STATIC) {
			return false;
		}
		List<MemoryArea> own = areas.stream().filter(a -> a.image() == s.image()).toList();
		List<MemoryArea> around = own.stream().filter(a -> Long.compareUnsigned(a.start(), s.startAddress()) <= 0
				&& Long.compareUnsigned(s.startAddress(), a.end()) < 0).toList();
		return !own.isEmpty() && around.isEmpty() || around.stream().anyMatch(a -> a.name().endsWith(" (constants)"));
	}

	/** The name of the file that a structure is data of: the last one before it, since what is zero at first has no file. */
	private String areaOf(Structure s) {
		return areas.stream().filter(a -> a.image() == s.image() && isFile(a) && Long.compareUnsigned(a.start(), s.startAddress()) <= 0)
				.max(Comparator.comparing(MemoryArea::start, Long::compareUnsigned)).map(Ownership::fileOf).orElse("");
	}

	/** Files have a kind of section behind their name: "xz (data)". */
	private static boolean isFile(MemoryArea a) {
		return a.name().endsWith(")") && a.name().contains(" (");
	}

	private static String fileOf(MemoryArea a) {
		return a.name().substring(0, a.name().lastIndexOf(" ("));
	}

	/** The path of a file of an image; its name where no code of it is known: neither of an access nor of an allocation. */
	private String path(String name, int image) throws MemtraceException {
		if (!name.isEmpty() && !paths.containsKey(name) && lookedAt.add(image)) {
			for (Structure s : structures) {
				if (s.image() == image && s.stack() >= 0 && seen.add(s.stack())) {
					store.stack(s.stack()).forEach(f -> paths.putIfAbsent(name(f.object()), f.object()));
				}
			}
		}
		return paths.getOrDefault(name, name);
	}

	/** The name of the program of an image: the file with the lowest address; empty when it is not known. */
	private String executable(int image) {
		return areas.stream().filter(a -> a.image() == image && isFile(a) && !isLibrary(a.name()))
				.min(Comparator.comparing(MemoryArea::start, Long::compareUnsigned)).map(Ownership::fileOf).orElse("");
	}
}
