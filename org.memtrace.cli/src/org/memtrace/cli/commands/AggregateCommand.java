// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.engine.SignificantLevels;
import org.memtrace.aggregation.engine.SignificantLevels.Level;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.analysis.findings.TraceSummary;
import org.memtrace.analysis.overview.PartitionTable;
import org.memtrace.analysis.overview.PictureBuilder;
import org.memtrace.analysis.overview.RowHeights;
import org.memtrace.analysis.text.JsonText;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.analysis.text.Units;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.options.OpenedTrace;
import org.memtrace.cli.options.PartArguments;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.Json;
import org.memtrace.model.TimeUnit;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.TraceStore;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/** {@code memtrace aggregate TRACE}. */
public final class AggregateCommand implements Command {
	private static final int TEXT_BLOCKS = 30;

	@Override
	public int run(CommandLine line, Console console) throws Exception {
		PartArguments given = PartArguments.of(line, console);
		CommandLine args = given.args();
		try (TraceStore opened = TraceArgument.openOrFolder(args.argument(0), console)) {
			TraceStore store = TraceArgument.tree(opened, args);
			OpenedTrace trace = OpenedTrace.of(store, args, OpenedTrace.sides(args), given.parts(), console);
			trace.aggregate(args.getInt("rows"), args.has("equal-types"), RowHeights.byId(args.get("heights")), 0, console);
			String format = args.get("format");
			if (args.has("list") || args.has("curves")) {
				SignificantLevels levels = trace.levels(args, console.progress());
				levels(trace, levels, args.has("curves"), args.has("falling"), format, console.out());
				if (format.equals("csv")) {
					aside(trace, console);
				}
				return ExitCode.OK;
			}
			Partition partition = trace.partition(args, console.progress());
			switch (format) {
			case "json" -> json(trace, partition, console.out());
			case "csv" -> {
				console.out().print(!trace.sides.columnsAreTime()
						? PartitionTable.csv(partition, trace.names, trace.sides.columns(trace.machine))
						: PartitionTable.csv(partition, trace.names));
				aside(trace, console);
			}
			default -> text(trace, partition, console.out());
			}
		}
		return ExitCode.OK;
	}

	/** What is at no CPU of the machine, beside a table that has no place for sentences; also with --quiet. */
	private static void aside(OpenedTrace trace, Console console) {
		trace.notes().forEach(note -> console.err().println("Note: " + note));
	}

	/** The machine that is a side, and what is at no CPU of it. */
	private static void machine(OpenedTrace trace, JsonObject o) {
		if (trace.machine != null) {
			o.addProperty("machine", trace.machine.tree().topology().summary());
			JsonArray notes = new JsonArray();
			trace.notes().forEach(notes::add);
			o.add("notes", notes);
		}
	}

	private static void levels(OpenedTrace trace, SignificantLevels levels, boolean exact, boolean falling, String format, PrintStream out) {
		List<Level> list = exact ? levels.breakpoints() : levels.levels();
		if (format.equals("json")) {
			JsonArray rows = new JsonArray();
			for (Level l : list) {
				JsonObject row = new JsonObject();
				row.addProperty("p", l.p());
				qualities(row, l.partition());
				if (falling) {
					row.addProperty("information_left_percent", 100 - l.partition().lossPercent());
					row.addProperty("detail_left_percent", 100 - l.partition().reductionPercent());
				}
				rows.add(row);
			}
			JsonObject all = Json.of("memtrace.levels/1");
			machine(trace, all);
			all.addProperty("root_gain", levels.aggregator().rootGain());
			all.addProperty("root_loss", levels.aggregator().rootLoss());
			all.addProperty("normalised", levels.normalised());
			all.add(exact ? "breakpoints" : "significant", rows);
			print(all, out);
			return;
		}
		if (format.equals("csv")) {
			out.println("p,gain,loss,loss_percent,reduction_percent,blocks"
					+ (falling ? ",information_left_percent,detail_left_percent" : ""));
			for (Level l : list) {
				Partition e = l.partition();
				out.println(l.p() + "," + e.gain() + "," + e.loss() + "," + e.lossPercent() + "," + e.reductionPercent() + ","
						+ e.blockCount() + (falling ? "," + (100 - e.lossPercent()) + "," + (100 - e.reductionPercent()) : ""));
			}
			return;
		}
		if (trace.machine != null) {
			out.println(trace.machine.tree().topology().summary());
			trace.notes().forEach(out::println);
			out.println();
		}
		int w = falling ? 11 : 10;
		out.printf(Locale.ROOT, "%12s  %" + w + "s  %10s  %8s%n", exact ? "exact p" : "p", falling ? "information" : "loss",
				falling ? "detail" : "reduction", "blocks");
		for (Level l : list) {
			double loss = l.partition().lossPercent();
			double reduction = l.partition().reductionPercent();
			out.printf(Locale.ROOT, exact ? "%12.8f" : "%12.6f", l.p());
			out.printf(Locale.ROOT, "  %" + w + "s  %10s  %,8d%n", Units.percent(falling ? 100 - loss : loss),
					Units.percent(falling ? 100 - reduction : reduction), l.partition().blockCount());
		}
	}

	private static void qualities(JsonObject o, Partition e) {
		o.addProperty("gain", e.gain());
		o.addProperty("loss", e.loss());
		o.addProperty("loss_percent", e.lossPercent());
		o.addProperty("reduction_percent", e.reductionPercent());
		o.addProperty("blocks", e.blockCount());
	}

	private static void text(OpenedTrace trace, Partition e, PrintStream out) {
		MicroscopicModel m = trace.model;
		TraceInfo info = trace.source.info();
		long origin = info.startNs();
		boolean across = !trace.sides.columnsAreTime();
		out.println(trace.source.info().alias() + " " + trace.description() + ", "
				+ Units.duration(info, trace.request.fromNs() - origin) + " to "
				+ Units.duration(info, trace.request.toNs() - origin)
				+ (across ? "" : " in " + Units.plural(m.sliceCount(), m.slices().isUniform() ? "slice" : "adaptive slice")) + ", "
				+ Units.plural(m.hierarchy().weight(0), ModelText.row(m)) + (across ? " × " + Units.plural(m.sliceCount(), "CPU") : ""));
		out.println(PictureBuilder.figures(e));
		if (trace.machine != null) {
			out.println(trace.machine.tree().topology().summary());
			trace.notes().forEach(out::println);
		}
		String losses = TraceSummary.lossWarning(trace.source.info());
		if (!losses.isEmpty()) {
			out.println("Attention: " + losses);
		}
		out.println();
		List<Integer> order = new ArrayList<>();
		double[] total = new double[e.blockCount()];
		double all = 0;
		for (int b = 0; b < e.blockCount(); b++) {
			for (double s : sums(m, e, b)) {
				total[b] += s;
			}
			all += total[b];
			if (total[b] > 0) {
				order.add(b);
			}
		}
		order.sort(Comparator.comparingDouble((Integer b) -> -total[b]).thenComparing(b -> b));
		String rows = m.viewpoint() == BasicDimensions.EVENT_TYPE ? "rows" : ModelText.row(m) + "s";
		out.printf("%-34s %s %7s %7s  %s%n", "Producer",
				across ? String.format("%-21s", "part of the machine") : String.format("%9s – %-9s", "from", "to"), rows, "share", "types");
		String counted = ModelText.metric(m.metric(), trace.source instanceof AccessModels, info.counts());
		double shown = 0;
		for (int b : order.subList(0, Math.min(TEXT_BLOCKS, order.size()))) {
			shown += total[b];
			String name = PartitionTable.producer(e, trace.names, b);
			out.printf(Locale.ROOT, "%-34s %s %,7d %7s  %s%n",
					name.length() > 34 ? name.substring(0, 16) + "…" + name.substring(name.length() - 17) : name,
					across ? String.format("%-21s", trace.machine.tree().names().name(e.columnNode(b)))
							: String.format("%9s – %-9s", Units.duration(info, m.slices().boundNs(e.firstSlice(b)) - origin),
									Units.duration(info, m.slices().boundNs(e.endSlice(b)) - origin)),
					m.hierarchy().weight(e.leafFrom(b), e.leafTo(b)), Units.percent(100 * total[b] / all),
					m.metric().isMean() ? means(info, m, e, b) : types(m, sums(m, e, b)));
		}
		if (order.size() > TEXT_BLOCKS) {
			out.println("and " + Units.plural(order.size() - TEXT_BLOCKS, "block") + " with "
					+ Units.percent(100 * (all - shown) / all) + " of the " + counted + "; --format csv prints all");
		}
		out.println(Units.plural(e.blockCount() - order.size(), "block") + " without " + counted);
	}

	private static double[] sums(MicroscopicModel m, Partition e, int b) {
		return m.sums(e.leafFrom(b), e.leafTo(b), e.firstSlice(b), e.endSlice(b));
	}

	/** Values of a block: sums, or means when the metric is one. */
	private static double[] values(MicroscopicModel m, Partition e, int b) {
		return m.values(e.leafFrom(b), e.leafTo(b), e.firstSlice(b), e.endSlice(b));
	}

	/** The three largest means of a block. */
	private static String means(TraceInfo info, MicroscopicModel m, Partition e, int b) {
		double[] means = values(m, e, b);
		return IntStream.range(0, means.length).boxed().filter(k -> means[k] != 0)
				.sorted(Comparator.comparingDouble((Integer k) -> -Math.abs(means[k]))).limit(3)
				.map(k -> m.types().get(k).name() + " "
						+ (m.metric() == Metric.STATE_MEAN ? Units.duration(info, means[k]) : Units.digits(means[k])))
				.collect(Collectors.joining(", "));
	}

	private static String types(MicroscopicModel m, double[] sums) {
		double total = 0;
		List<Integer> order = new ArrayList<>();
		for (int k = 0; k < sums.length; k++) {
			total += sums[k];
			if (sums[k] > 0) {
				order.add(k);
			}
		}
		double all = total;
		order.sort(Comparator.comparingDouble((Integer k) -> -sums[k]).thenComparing(k -> k));
		String text = order.stream().limit(3).map(k -> ModelText.type(m.types().get(k))
				+ (order.size() > 1 ? " " + Units.percent(100 * sums[k] / all) : "")).collect(Collectors.joining(", "));
		return order.size() > 3 ? text + ", …" : text;
	}

	private static void json(OpenedTrace trace, Partition e, PrintStream out) {
		MicroscopicModel m = trace.model;
		JsonObject o = Json.of("memtrace.aggregate/1");
		o.addProperty("trace", trace.source.info().alias());
		o.addProperty("losses", trace.source.info().properties().getOrDefault("losses", "0"));
		o.addProperty("view", m.viewpoint().id());
		o.addProperty("metric", m.metric().id());
		o.addProperty("counts", trace.source.info().counts().id());
		TimeUnit unit = trace.source.info().timeUnit();
		o.addProperty("time_unit", unit.id());
		boolean across = !trace.sides.columnsAreTime();
		o.addProperty(unit.column("start_ns"), trace.request.fromNs());
		o.addProperty(unit.column("end_ns"), trace.request.toNs());
		if (!across) {
			o.addProperty("slices", m.sliceCount());
			JsonArray bounds = new JsonArray();
			for (int i = 0; i <= m.sliceCount(); i++) {
				bounds.add(m.slices().boundNs(i));
			}
			o.add(unit.column("slice_bounds_ns"), bounds);
		}
		String rows = m.places() == MicroscopicModel.Places.ROWS ? "cpus" : "pages";
		o.addProperty(rows, m.hierarchy().weight(0));
		machine(trace, o);
		o.addProperty("p", e.p());
		qualities(o, e);
		o.addProperty("rows_kept_whole", e.tree().limitedCount());
		JsonArray types = new JsonArray();
		m.types().forEach(t -> types.add(t.name()));
		o.add("types", types);
		JsonArray blocks = new JsonArray();
		for (int b = 0; b < e.blockCount(); b++) {
			JsonObject block = new JsonObject();
			block.addProperty("producer", PartitionTable.producer(e, trace.names, b));
			block.addProperty("producer_id", m.hierarchy().producer(e.node(b)));
			block.addProperty(rows, m.hierarchy().weight(e.leafFrom(b), e.leafTo(b)));
			if (across) {
				block.addProperty("part", trace.machine.tree().names().name(e.columnNode(b)));
				block.addProperty("part_cpus", trace.machine.tree().cpus(e.columnNode(b)));
			} else {
				block.addProperty("first_slice", e.firstSlice(b));
				block.addProperty("end_slice", e.endSlice(b));
			}
			block.addProperty("gain", e.gain(b));
			block.addProperty("loss", e.loss(b));
			JsonArray values = new JsonArray();
			for (double s : values(m, e, b)) {
				values.add(s);
			}
			block.add("values", values);
			blocks.add(block);
		}
		o.add("partition", blocks);
		print(o, out);
	}

	private static void print(JsonObject o, PrintStream out) {
		out.println(JsonText.LINE.toJson(o));
	}
}
