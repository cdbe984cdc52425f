// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.commands;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.Json;
import org.memtrace.importer.parts.MergeOperation;
import org.memtrace.importer.tree.MergeRule;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.MemoryTrees;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/** {@code memtrace merge}. */
public final class MergeCommand implements Command {
	@Override
	public int run(CommandLine args, Console console) throws Exception {
		List<MergeRule> added = rules(args.getAll("add"));
		if (args.has("undo") && (args.has("clear") || !added.isEmpty()) || args.has("list")
				&& (args.has("undo") || args.has("clear") || !added.isEmpty())) {
			throw new UsageException("--list, --undo and --add exclude each other; --clear goes with --add");
		}
		try (TraceStore store = TraceArgument.open(args.argument(0), console)) {
			List<MergeRule> before = MergeOperation.rules(store);
			List<MergeRule> rules = new ArrayList<>(args.has("clear") ? List.of() : before);
			if (args.has("undo")) {
				if (rules.isEmpty()) {
					throw new UsageException("there is no rule to take back");
				}
				rules.remove(rules.size() - 1);
			}
			rules.addAll(added);
			if (!rules.equals(before)) {
				int producers = store.producers().size();
				MemoryTrees trees = MergeOperation.apply(store, rules, console.progress());
				console.hint(String.format(Locale.ROOT, "%,d event producers, before %,d", trees.virtual().size(), producers));
			}
			if (args.isJson()) {
				JsonObject o = Json.of("memtrace.merge/1");
				o.addProperty("trace", store.info().alias());
				o.addProperty("producers", store.producers().size());
				JsonArray list = new JsonArray();
				rules.forEach(rule -> list.add(rule.toString()));
				o.add("rules", list);
				console.out().println(Json.text(o));
				return ExitCode.OK;
			}
			for (int i = 0; i < rules.size(); i++) {
				console.out().println((i + 1) + "  " + rules.get(i));
			}
			if (rules.isEmpty()) {
				console.hint("no rules");
			}
		}
		return ExitCode.OK;
	}

	static List<MergeRule> rules(List<String> texts) throws UsageException {
		try {
			return MergeRule.parseAll(texts);
		} catch (IllegalArgumentException e) {
			throw new UsageException(e.getMessage());
		}
	}
}
