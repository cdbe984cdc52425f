// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import com.google.gson.JsonObject;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.findings.TraceSummary;
import org.memtrace.analysis.overview.PictureOptions;
import org.memtrace.analysis.profile.FlamePicture;
import org.memtrace.analysis.profile.Profile.By;
import org.memtrace.analysis.profile.Profile.Group;
import org.memtrace.analysis.profile.Profile.Order;
import org.memtrace.analysis.profile.Profile.Request;
import org.memtrace.analysis.profile.Profile.Row;
import org.memtrace.analysis.profile.Profile;
import org.memtrace.analysis.profile.ProfileText;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.TitledScene;
import org.memtrace.analysis.text.TablePrinter;
import org.memtrace.analysis.text.Units;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.AccessOptions;
import org.memtrace.cli.options.OpenedTrace;
import org.memtrace.cli.options.PictureFile;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.options.TraceWindow;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.Json;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.TraceStore;

/** {@code memtrace profile TRACE...}. */
public final class ProfileCommand implements Command {
	private static final String FOLDED = "folded";

	@Override
	public int run(CommandLine args, Console console) throws Exception {
		String format = args.get("format");
		List<String> traces = args.arguments();
		Path file = args.getPath("output");
		if (traces.size() > 1 && (format.equals(FOLDED) || file != null)) {
			throw new UsageException((file != null ? "-o draws" : "--format folded is that of") + " one trace");
		}
		if (file != null) {
			PictureFile.check(file);
		}
		if (traces.size() > 1) {
			curve(traces, args, console);
			return ExitCode.OK;
		}
		Profile profile = profile(traces.get(0), args, By.byId(args.get("by")), args.has("contexts") || format.equals(FOLDED)
				|| file != null, console);
		long most = args.has("limit") ? args.getInt("limit") : Long.MAX_VALUE;
		if (file != null) {
			draw(profile, file, args, console);
		} else if (format.equals("text")) {
			console.out().print(ProfileText.text(profile, most));
		} else if (format.equals(FOLDED)) {
			console.out().print(ProfileText.folded(profile));
		} else {
			rows(profile, format, most, console);
		}
		return ExitCode.OK;
	}

	private static void draw(Profile profile, Path file, CommandLine args, Console console) throws Exception {
		PictureOptions o = new PictureOptions();
		o.palette = args.get("theme").equals("dark") ? Palette.DARK : Palette.LIGHT;
		String title = profile.info().alias() + ", time in states by calling context";
		Scene scene = TitledScene.build(title, TraceSummary.lossWarning(profile.info()), (int) args.getInt("width"), (int) args.getInt("height"),
				o.palette, o.meter, o.fontSize, (w, h) -> FlamePicture.build(profile, w, h, o.palette, o.meter, o.fontSize).scene());
		PictureFile.write(scene, file, title, 1, console);
		console.hint(file + ": " + Units.plural(profile.producers(), "producer") + " with states");
	}

	private static Profile profile(String trace, CommandLine args, By by, boolean contexts, Console console) throws Exception {
		try (TraceStore store = TraceArgument.open(trace, console)) {
			TraceInfo info = store.info();
			TraceWindow window = TraceWindow.of(args, info);
			EventTable table = AccessOptions.events(args, store, console);
			if (!table.has(EventCategory.STATE)) {
				throw new MemtraceException(info.alias() + " has no states, such as functions that begin and end: there is nothing to profile"
						+ (store.accessCount() > 0 ? "; 'memtrace summary' tells what a memory trace shows" : ""));
			}
			int producer = args.has("subtree") ? OpenedTrace.producer(store.producers(), args.get("subtree")) : -1;
			return Profile.of(table, new Request(by, contexts, Order.byId(args.get("sort")), window.fromNs(), window.toNs(), producer,
					args.getNumber("reference") / 100), console.progress());
		}
	}

	private static void rows(Profile profile, String format, long most, Console console) {
		JsonObject head = Json.of("memtrace.profile/1");
		head.addProperty("trace", profile.info().alias());
		head.addProperty("time_unit", profile.info().timeUnit().id());
		head.addProperty("by", profile.request().by().id());
		head.addProperty("reference_percent", 100 * profile.request().reference());
		String[] columns = ProfileText.columns(profile.info());
		try (TablePrinter table = new TablePrinter(console.out(), format, head, columns)) {
			for (Group g : profile.groups()) {
				for (Row r : g.rows().subList(0, (int) Math.min(most, g.rows().size()))) {
					table.row(ProfileText.values(g, r));
				}
				table.row(ProfileText.valuesOfNone(g));
			}
		}
	}

	/** SCI of each region against the number of threads. */
	private static void curve(List<String> traces, CommandLine args, Console console) throws Exception {
		List<Profile> profiles = new ArrayList<>();
		for (String trace : traces) {
			profiles.add(profile(trace, args, By.ALL, false, console));
		}
		JsonObject head = Json.of("memtrace.profile-curve/1");
		head.addProperty("reference_percent", args.getNumber("reference"));
		List<String> columns = new ArrayList<>(List.of("region"));
		for (Profile p : profiles) {
			String column = "sci_" + p.producers();
			columns.add(columns.contains(column) ? column + "_" + p.info().alias() : column);
		}
		try (TablePrinter table = new TablePrinter(console.out(), args.get("format"), head, columns.toArray(String[]::new))) {
			long most = args.has("limit") ? args.getInt("limit") : Long.MAX_VALUE;
			ProfileText.curve(profiles).stream().limit(most).forEach(table::row);
		}
	}
}
