// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.memtrace.importer.reader.ImportOption;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.record.ShellWords;
import org.memtrace.importer.tree.MergeRule;
import org.memtrace.model.store.DatabaseKind;

/**
 * What to import and how, as a form asks for it; immutable.
 *
 * @param input as {@link ImportOperation} takes it
 * @param name empty: its own
 * @param rules texts of {@link MergeRule}
 * @param projections also write the traces that the original FrameSoc expects
 * @param mocaFramesoc file to write as Moca does, or null
 * @param output database of its own, null: the catalogue
 */
public record ImportSettings(List<Path> input, String name, boolean strict, int fanout, DatabaseKind kind, List<String> rules,
		boolean projections, Path mocaFramesoc, Path output) {
	public ImportSettings {
		input = List.copyOf(input);
		rules = List.copyOf(rules);
	}

	/** With the defaults. */
	public static ImportSettings of(Path... input) {
		return new ImportSettings(List.of(input), "", false, ImportRequest.DEFAULT_FANOUT, DatabaseKind.SQLITE, List.of(), false,
				null, null);
	}

	public ImportSettings withName(String now) {
		return new ImportSettings(input, now, strict, fanout, kind, rules, projections, mocaFramesoc, output);
	}

	/** What is wrong, one sentence; null when nothing is as far as one can see before it is done. */
	public String problem() {
		if (input.isEmpty()) {
			return "Choose what to import.";
		}
		for (String rule : rules) {
			try {
				MergeRule.parse(rule);
			} catch (IllegalArgumentException e) {
				return e.getMessage();
			}
		}
		if (output != null && Files.exists(output)) {
			return output + " exists; a database is never overwritten.";
		}
		if (output != null && kind == DatabaseKind.H2 && !output.toString().endsWith(".mv.db")) {
			return "The file of an H2 database must be called *.mv.db.";
		}
		return mocaFramesoc != null && Files.exists(mocaFramesoc) ? mocaFramesoc + " exists; it is not overwritten." : null;
	}

	/** The command as one would type it. */
	public String shellText() {
		List<String> words = new ArrayList<>(List.of("memtrace", "import"));
		if (output != null) {
			words.addAll(List.of("-o", output.toString()));
		}
		if (!name.isEmpty()) {
			words.addAll(List.of("--name", name));
		}
		if (strict) {
			words.add("--strict");
		}
		if (fanout != ImportRequest.DEFAULT_FANOUT) {
			words.addAll(List.of("--fanout", Integer.toString(fanout)));
		}
		if (kind != DatabaseKind.SQLITE) {
			words.addAll(List.of("--dbms", kind.name().toLowerCase(Locale.ROOT)));
		}
		rules.forEach(rule -> words.addAll(List.of("--merge", rule)));
		if (projections) {
			words.add("--projections");
		}
		if (mocaFramesoc != null) {
			words.addAll(List.of("--moca-framesoc", mocaFramesoc.toString()));
		}
		input.forEach(path -> words.add(path.toString()));
		return ShellWords.join(words);
	}

	/** The import of these settings. */
	public ImportOperation operation(ImportRequest.Target target) {
		ImportOperation operation = new ImportOperation(input, java.io.InputStream.nullInputStream(), target).setName(name).setStrict(strict)
				.setFanout(fanout).setMergeRules(MergeRule.parseAll(rules));
		if (projections) {
			operation.require(ImportOption.PROJECTIONS);
		}
		return mocaFramesoc == null ? operation : operation.setMocaFramesoc(mocaFramesoc);
	}
}
