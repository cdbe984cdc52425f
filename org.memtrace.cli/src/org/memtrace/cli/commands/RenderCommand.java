// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.engine.SignificantLevels;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.findings.TraceSummary;
import org.memtrace.analysis.gantt.GanttPicture;
import org.memtrace.analysis.overview.CurvePicture.Direction;
import org.memtrace.analysis.overview.CurvePicture;
import org.memtrace.analysis.overview.FirstTouchLayer;
import org.memtrace.analysis.overview.PictureBuilder;
import org.memtrace.analysis.overview.PictureOptions.Colouring;
import org.memtrace.analysis.overview.PictureOptions;
import org.memtrace.analysis.overview.RowHeights;
import org.memtrace.analysis.overview.TimePicture;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.text.Units;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.OpenedTrace;
import org.memtrace.cli.options.PartArguments;
import org.memtrace.cli.options.PictureFile;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.rendering.GanttRendering;
import org.memtrace.cli.rendering.SumsRendering;
import org.memtrace.model.store.TraceStore;

/** {@code memtrace render -o FILE TRACE}. */
public final class RenderCommand implements Command {
	private static final Map<String, TimePicture.Kind> TIME_KINDS = Map.of("profile", TimePicture.Kind.PROFILE, "mode",
			TimePicture.Kind.MODE, "time-parts", TimePicture.Kind.PARTS);

	@Override
	public int run(CommandLine line, Console console) throws Exception {
		Path file = line.getPath("output");
		if (file == null) {
			throw new UsageException("-o is missing: the name of the picture, ending in .svg, .png or .pdf");
		}
		PictureFile.check(file);
		PartArguments given = PartArguments.of(line, console);
		CommandLine args = given.args();
		checkMachine(args);
		if (given.parts() != null && List.of("gantt", "pie", "density").contains(args.get("kind"))) {
			throw new UsageException("--kind " + args.get("kind") + " needs the accesses themselves, not parts of a model; give the trace");
		}
		try (TraceStore opened = TraceArgument.openOrFolder(args.argument(0), console)) {
			TraceStore store = TraceArgument.tree(opened, args);
			OpenedTrace trace = OpenedTrace.of(store, args, OpenedTrace.sides(args), given.parts(), console);
			PictureOptions options = options(store, trace, args);
			Scene scene;
			String figures;
			switch (args.get("kind")) {
			case "ocelotl", "parts", "curves" -> {
				Partition partition = blocks(trace, args, options, console);
				figures = PictureBuilder.figures(partition);
				scene = args.get("kind").equals("curves") ? curves(trace, partition, args, options, console)
						: PictureBuilder.whole(partition, trace.names, trace.layout, options).scene();
				scene = args.get("kind").equals("curves") ? curves(trace, partition, args, options, console)
						: PictureBuilder.whole(partition, trace.names, trace.layout, options).scene();
			}
			case "gantt" -> {
				GanttPicture picture = GanttRendering.build(trace, args, options, console.progress());
				scene = picture.scene();
				figures = Units.plural(picture.rows().count(), "row") + ", " + Units.plural(picture.records(console.progress()), "record")
						+ " drawn";
			}
			case "pie" -> {
				scene = SumsRendering.pie(trace, args, options, console.progress());
				figures = args.get("sum").equals("auto") ? trace.request.metric().id() : args.get("sum");
			}
			case "density" -> {
				scene = SumsRendering.density(trace, args, options, console.progress());
				figures = args.get("sum").equals("auto") ? trace.request.metric().id() : args.get("sum");
			}
			default -> {
				trace.aggregateTime(console.progress());
				Partition partition = trace.partition(args, console.progress());
				scene = TimePicture.build(partition, TIME_KINDS.get(args.get("kind")), options);
				figures = TimePicture.figures(partition);
			}
			}
			PictureFile.write(scene, file, options.title, args.getNumber("scale"), console);
			console.hint(file + ": " + figures);
			trace.notes().forEach(console::hint);
		}
		return ExitCode.OK;
	}

	/** Finds the blocks, and completes the options of their picture. */
	private static Partition blocks(OpenedTrace trace, CommandLine args, PictureOptions options, Console console) throws Exception {
		// the height of the blocks: without title, axis and legend
		double resolution = args.getNumber("resolution");
		trace.aggregate(resolution > 0 ? options.height * 0.86 / resolution : 0, args.has("equal-types"),
				RowHeights.byId(args.get("heights")), options.height * 0.86 / options.fontSize, console);
		options.title = title(trace, args);
		Partition partition = trace.partition(args, console.progress());
		options.colouring = args.get("kind").equals("parts") ? Colouring.PARTS : Colouring.DOMINANT_TYPE;
		options.minBlockHeight = args.get("hatching").equals("no") ? 0 : options.minBlockHeight;
		options.losses = trace.losses;
		if (trace.source instanceof AccessModels accesses && trace.machine == null
				&& FirstTouchLayer.Shown.valueOf(args.get("first-touch").toUpperCase(Locale.ROOT)).in(trace.request.viewpoint())) {
			options.firstTouch = FirstTouchLayer.of(accesses.table(), console.progress());
		}
		return partition;
	}

	private static PictureOptions options(TraceStore store, OpenedTrace trace, CommandLine args) {
		PictureOptions options = new PictureOptions();
		options.width = (int) args.getInt("width");
		options.height = (int) args.getInt("height");
		options.fontSize = 12 * Math.max(0.9, Math.min(1.5, Math.sqrt(Math.min(options.width / 1200.0, options.height / 800.0))));
		options.palette = args.get("theme").equals("dark") ? Palette.DARK : Palette.LIGHT;
		options.originNs = store.info().startNs();
		options.ticks = store.info().isInTicks();
		options.counts = store.info().counts();
		options.title = title(trace, args);
		options.columns = trace.sides.columns(trace.machine);
		options.warning = Stream.of(TraceSummary.lossWarning(store.info()), trace.leftOut()).filter(s -> !s.isEmpty())
				.collect(Collectors.joining(", "));
		return options;
	}

	private static String title(OpenedTrace trace, CommandLine args) {
		return args.has("title") ? args.get("title") : trace.source.info().alias() + " " + trace.description();
	}

	/** The machine is a side of pictures of the partition only. */
	private static void checkMachine(CommandLine args) throws UsageException {
		String kind = args.get("kind");
		if (OpenedTrace.sides(args).hasMachine() && !List.of("ocelotl", "parts", "curves").contains(kind)) {
			throw new UsageException("--kind " + kind + " has no machine; --across machine and --tree machine are for ocelotl, parts and curves");
		}
		if (OpenedTrace.sides(args).hasMachine() && args.get("first-touch").equals("yes")) {
			throw new UsageException("--first-touch is for pictures of memory over time");
		}
	}

	private static Scene curves(OpenedTrace trace, Partition partition, CommandLine args, PictureOptions o, Console console)
			throws Exception {
		SignificantLevels levels = trace.levels(args, console.progress());
		double mark = levels.normalised() ? SignificantLevels.normalisedP(trace.aggregator, partition.p()) : partition.p();
		return CurvePicture.build(levels, mark, args.has("falling") ? Direction.FALLING : Direction.RISING, o.width, o.height,
				o.palette, o.meter, o.fontSize, o.title, PictureBuilder.figures(partition)).scene();
	}
}
