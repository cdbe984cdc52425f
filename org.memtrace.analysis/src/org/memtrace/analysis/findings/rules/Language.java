// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.Place;
import org.memtrace.analysis.findings.facts.TraceFacts;

/** The programming language of the code that a fix would change. */
enum Language {
	C, CPP, FORTRAN, RUST, GO, PYTHON, JAVA, JAVASCRIPT,
	/** Known, and none of these. */
	OTHER,
	/** No source file is known, or it may be one of several. */
	UNKNOWN;

	private static final List<Map.Entry<String, Language>> BY_FILE = List.of(Map.entry("c", C),
			Map.entry("cc|cpp|cxx|c\\+\\+|cp|hpp|hh|hxx|h\\+\\+|tpp|ipp|inl", CPP),
			Map.entry("f|for|ftn|f77|f90|f95|f03|f08|f18", FORTRAN), Map.entry("rs", RUST), Map.entry("go", GO), Map.entry("py|pyx|pxd|pyi", PYTHON),
			Map.entry("java|kt|kts|scala|groovy|clj", JAVA), Map.entry("js|mjs|cjs|ts|jsx|tsx", JAVASCRIPT));
	/** Programs that run a language: what their memory is for stands in no file that the recorder knows. */
	private static final List<Map.Entry<String, Language>> BY_PROGRAM = List.of(Map.entry("(python|pypy)[0-9.]*t?d?", PYTHON),
			Map.entry("node(js)?|deno|bun|d8", JAVASCRIPT), Map.entry("java|javaw", JAVA),
			Map.entry("ruby[0-9.]*|perl[0-9.]*|php[0-9.]*|lua(jit)?[0-9.]*|R|Rscript|julia|dotnet|mono|beam(\\.smp)?|guile[0-9.]*|ghci|octave(-cli)?[0-9.]*"
					+ "|tclsh[0-9.]*|wish[0-9.]*|sbcl|racket", OTHER));

	/** Whether a person can write directives of OpenMP in it. */
	boolean hasOpenMp() {
		return this == C || this == CPP || this == FORTRAN;
	}

	/** Of a structure: that of the files of its site and of its loops, which must agree; that of the interpreter, where one runs. */
	static Language of(GroupFacts g, TraceFacts t) {
		String executable = t.property("executable").isEmpty() ? t.info().application() : t.property("executable");
		String program = executable.substring(executable.lastIndexOf('/') + 1);
		for (Map.Entry<String, Language> e : BY_PROGRAM) {
			if (program.matches(e.getKey())) {
				return e.getValue();
			}
		}
		String site = g.site.replaceFirst(":\\d+$", "");
		List<Language> all = Stream.concat(Stream.of(site), Stream.of(g.firstWritten, g.used).filter(Objects::nonNull).map(Place::file))
				.map(Language::ofFile).filter(l -> l != UNKNOWN).distinct().toList();
		return all.size() == 1 ? all.get(0) : all.size() == 2 && all.contains(C) && all.contains(CPP) ? CPP : UNKNOWN;
	}

	/** By the extension of a file; a header may be of C or C++, so it says nothing. */
	static Language ofFile(String file) {
		String name = file.substring(file.lastIndexOf('/') + 1);
		int dot = name.lastIndexOf('.');
		if (dot < 0 || name.contains("+0x")) {
			return UNKNOWN;
		}
		String extension = name.substring(dot + 1);
		if (extension.equals("C") || extension.equals("H")) {
			return CPP;
		}
		String lower = extension.toLowerCase(Locale.ROOT);
		if (lower.equals("h")) {
			return UNKNOWN;
		}
		return BY_FILE.stream().filter(e -> lower.matches(e.getKey())).map(Map.Entry::getValue).findFirst()
				.orElse(lower.matches("[a-z][a-z0-9]*") ? OTHER : UNKNOWN);
	}
}
