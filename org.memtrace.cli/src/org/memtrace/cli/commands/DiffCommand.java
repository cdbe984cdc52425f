// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.diff.DiffHtml;
import org.memtrace.analysis.diff.DiffJUnit;
import org.memtrace.analysis.diff.DiffJson;
import org.memtrace.analysis.diff.DiffMap.Quantity;
import org.memtrace.analysis.diff.DiffMap.Values;
import org.memtrace.analysis.diff.DiffMap;
import org.memtrace.analysis.diff.DiffPicture;
import org.memtrace.analysis.diff.DiffText;
import org.memtrace.analysis.diff.FailIf;
import org.memtrace.analysis.diff.PlaceTimes;
import org.memtrace.analysis.diff.RegionDiff;
import org.memtrace.analysis.diff.RegionUse;
import org.memtrace.analysis.diff.Run;
import org.memtrace.analysis.diff.TraceDiff;
import org.memtrace.analysis.export.OutputFile;
import org.memtrace.analysis.findings.Advisor;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.analysis.overview.PictureOptions;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.TitledScene;
import org.memtrace.analysis.text.Units;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.PictureFile;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;

/** {@code memtrace diff A... -- B...}: exit code 1 when a condition holds. */
public final class DiffCommand implements Command {
	private static final int WORSE = 1;
	private static final String AUTO = "auto";
	private static final List<String> BY = List.of("region", "region,structure");

	@Override
	public int run(CommandLine given, Console console) throws Exception {
		CommandLine args = given.withOptionsAnywhere();
		List<String> before = new ArrayList<>();
		List<String> after = new ArrayList<>();
		List<String> all = args.arguments();
		int at = all.indexOf("--");
		if (at >= 0) {
			before.addAll(all.subList(0, at));
			after.addAll(all.subList(at + 1, all.size()));
		} else if (all.size() == 2) {
			before.add(all.get(0));
			after.add(all.get(1));
		}
		if (before.isEmpty() || after.isEmpty()) {
			throw new UsageException("diff needs traces before and after a change: memtrace diff A B, or memtrace diff A... -- B...");
		}
		List<FailIf> conditions = new ArrayList<>();
		for (String text : args.getAll("fail-if")) {
			conditions.add(FailIf.of(text));
		}
		Thresholds thresholds = Thresholds.STANDARD;
		for (String assignment : args.getAll("set")) {
			thresholds = thresholds.with(assignment);
		}
		if (args.has("by") && !BY.contains(args.get("by"))) {
			throw new UsageException("--by is '" + args.get("by") + "'; it is region, or region,structure");
		}
		boolean byRegion = args.has("by") || args.has("region");
		if (byRegion && !args.get("format").equals("text")) {
			throw new UsageException("--by and --region are for --format text; the other formats have all regions with their structures");
		}
		Path picture = args.getPath("picture");
		if (picture != null) {
			PictureFile.check(picture);
		}
		TraceDiff diff = new TraceDiff(runs(before, thresholds, console), runs(after, thresholds, console), thresholds);
		checkRegions(diff, args, byRegion);
		if (picture != null) {
			draw(diff, before, after, picture, args, console);
		}
		List<FailIf.Outcome> outcomes = conditions.stream().map(c -> c.judge(diff)).toList();
		String text = text(diff, args, byRegion, outcomes);
		Path output = args.getPath("output");
		if (output == null) {
			console.out().print(text);
		} else {
			OutputFile.write(output, temporary -> Files.writeString(temporary, text), StandardCopyOption.REPLACE_EXISTING);
		}
		for (FailIf.Outcome o : outcomes) {
			if (o.failed() && (output != null || !args.get("format").equals("text"))) {
				console.hint("--fail-if '" + o.condition().text() + "': " + o.reason());
			}
		}
		return outcomes.stream().anyMatch(FailIf.Outcome::failed) ? WORSE : ExitCode.OK;
	}

	private static String text(TraceDiff diff, CommandLine args, boolean byRegion, List<FailIf.Outcome> outcomes) {
		return switch (args.get("format")) {
		case "json" -> DiffJson.json(diff, outcomes);
		case "junit" -> DiffJUnit.xml(diff, outcomes);
		case "html" -> DiffHtml.html(diff, outcomes);
		default -> byRegion ? DiffText.regions(diff, args.get("region"), args.has("region") || args.get("by").equals(BY.get(1)), outcomes)
				: DiffText.text(diff, outcomes);
		};
	}

	private static void checkRegions(TraceDiff diff, CommandLine args, boolean byRegion) throws UsageException {
		List<String> named = diff.regions().stream().map(RegionDiff::name).toList();
		if (byRegion && named.isEmpty()) {
			throw new UsageException("no recording has regions: the program names them with memtrace_begin() and memtrace_end()");
		}
		if (args.has("region") && !named.contains(args.get("region"))) {
			throw new UsageException("--region is '" + args.get("region") + "'; the regions are " + String.join(", ", named));
		}
	}

	private static void draw(TraceDiff diff, List<String> before, List<String> after, Path file, CommandLine args, Console console)
			throws Exception {
		String thread = args.get("thread");
		int role = thread == null ? -1 : diff.roles().indexOf(thread);
		if (thread != null && role < 0) {
			throw new UsageException("no thread is called " + thread + ": there are " + String.join(", ", diff.roles()));
		}
		DiffMap map = new DiffMap(diff, times(diff, diff.before(), before, console), times(diff, diff.after(), after, console));
		DiffMap.Choice usual = map.usual();
		String of = args.get("picture-of");
		Quantity quantity = !of.equals(AUTO) ? Quantity.byId(of) : thread != null ? Quantity.FIRST_TOUCH : usual.quantity();
		if (thread != null && quantity != Quantity.FIRST_TOUCH) {
			throw new UsageException("--thread is about --picture-of first-touch");
		}
		boolean beginning = args.get("window").equals(AUTO) ? quantity == Quantity.FIRST_TOUCH : args.get("window").equals("beginning");
		Values values = map.values(new DiffMap.Choice(quantity, role < 0 ? usual.role() : role, args.get("align").equals("start"), beginning));
		PictureOptions o = new PictureOptions();
		o.palette = args.get("theme").equals("dark") ? Palette.DARK : Palette.LIGHT;
		String title = String.join(", ", TraceDiff.programs(diff.after())) + ": where and when it differs";
		Scene scene = TitledScene.build(title, diff.warnings().isEmpty() ? "" : "Attention: " + String.join("; ", diff.warnings()),
				(int) args.getInt("width"), (int) args.getInt("height"), o.palette, o.meter, o.fontSize,
				(w, h) -> DiffPicture.build(map, values, null, w, h, o.palette, o.meter, o.fontSize).scene());
		PictureFile.write(scene, file, title, 1, console);
		console.hint(file + ": " + Units.plural(values.fields().size(), "structure") + ", " + quantity.id());
	}

	private static List<PlaceTimes> times(TraceDiff diff, List<Run> runs, List<String> traces, Console console) throws MemtraceException {
		List<PlaceTimes> times = new ArrayList<>();
		for (int i = 0; i < runs.size(); i++) {
			try (TraceStore store = TraceArgument.open(traces.get(i), console)) {
				times.add(PlaceTimes.of(diff, runs.get(i), store, store.accessSource(console.progress()), console.progress()));
			}
		}
		return times;
	}

	private static List<Run> runs(List<String> traces, Thresholds thresholds, Console console) throws MemtraceException {
		List<Run> runs = new ArrayList<>();
		for (String trace : traces) {
			try (TraceStore store = TraceArgument.open(trace, console)) {
				if (store.accessCount() == 0) {
					throw new MemtraceException(store.info().alias() + " has no memory accesses: diff is about the memory of a program");
				}
				Advisor advisor = Advisor.of(store, store.accessSource(console.progress()), thresholds, console.progress());
				RegionUse regions = RegionUse.of(advisor.facts(), store, store.accessSource(console.progress()), console.progress());
				runs.add(new Run(trace, advisor, regions));
			}
		}
		return runs;
	}
}
