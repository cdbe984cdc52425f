// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.options;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Collectors;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.build.ModelParts;
import org.memtrace.aggregation.engine.AggregationOptions;
import org.memtrace.aggregation.engine.Aggregator;
import org.memtrace.aggregation.engine.InitialLevel;
import org.memtrace.aggregation.engine.PartLosses;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.engine.SignificantLevels;
import org.memtrace.aggregation.engine.TemporalAggregator;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.model.ModelSource;
import org.memtrace.aggregation.time.Slicing;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.machine.MachineFilters;
import org.memtrace.analysis.machine.MachineSide;
import org.memtrace.analysis.machine.MachineTopology;
import org.memtrace.analysis.machine.MachineTree;
import org.memtrace.analysis.machine.Sides;
import org.memtrace.analysis.overview.RowHeights;
import org.memtrace.analysis.overview.RowLayout;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.Nearest;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.output.Console;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.topology.Hwloc;

/** A trace, the part of it that a command line selects, and its aggregation. */
public final class OpenedTrace {
	public final TraceStore store;
	public final ModelSource source;
	public final ModelRequest request;
	public MicroscopicModel model;
	public NodeNames names;
	public RowLayout layout;
	public PartLosses losses;
	public Aggregator aggregator;
	SignificantLevels levels;
	/** What stands down and to the right. */
	public final Sides sides;
	/** The machine where it is one of them; null without. */
	public MachineSide machine;
	/** Of which the model is put together; null where it is made of the accesses or events. */
	private final ModelParts parts;

	private OpenedTrace(TraceStore store, ModelSource source, ModelRequest request, Sides sides, ModelParts parts) {
		this.store = store;
		this.source = source;
		this.request = request;
		this.sides = sides;
		this.parts = parts;
	}

	/** Reads the accesses or events of a trace and the options that select a part. */
	static OpenedTrace of(TraceStore store, CommandLine args, Console console) throws Exception {
		return of(store, args, sides(args), null, console);
	}

	/**
	 * Reads the accesses or events of a trace and the options that select a part, for commands without --across.
	 *
	 * @param parts of the model, whose options are those of the command line; null where it is made of the trace
	 */
	public static OpenedTrace of(TraceStore store, CommandLine args, Sides sides, ModelParts parts, Console console) throws Exception {
		Progress progress = console.progress();
		TraceInfo info = store.info();
		boolean accesses = store.accessCount() > 0;
		Metric metric = Metric.byId(args.get("metric"));
		if (metric == null && !args.get("metric").equals("auto")) {
			throw new UsageException("--metric is '" + args.get("metric") + "', not one of auto, "
					+ Arrays.stream(Metric.values()).map(Metric::id).collect(Collectors.joining(", ")));
		}
		Dimension view = view(args, accesses);
		if (view != BasicDimensions.EVENT_TYPE) {
			if (!accesses) {
				throw new MemtraceException(info.alias() + " has no accesses: nothing was recorded, or it is no memory trace, for"
						+ " which there is --view event_type");
			}
			if (metric != null && !metric.ofAccesses()) {
				throw new UsageException("--metric " + metric.id() + " needs --view event_type");
			}
			// the accesses of parts were filtered when they were made
			OpenedTrace trace = new OpenedTrace(store,
					new AccessModels(parts != null ? AccessOptions.load(store, console) : AccessOptions.table(args, store, console)),
					request(store, args, view, metric == null ? Metric.ACCESSES : metric), sides, parts);
			if (trace.sides.hasMachine()) {
				trace.machine(args, console);
			}
			return trace;
		}
		if (sides.hasMachine()) {
			throw new UsageException("--" + (args.get("across").equals("machine") ? "across" : "tree") + " machine is for accesses, not for events");
		}
		if (metric != null && !metric.ofEvents()) {
			throw new UsageException("--metric " + metric.id() + " needs another view than event_type");
		}
		FilterSet filters = AccessOptions.filters(args, store, console); // before the long work
		EventTable all = EventTable.load(store, progress);
		if (all.size() == 0) {
			throw new MemtraceException(info.alias() + " has no events");
		}
		EventTable table = AccessOptions.events(args, filters, all, console);
		if (table.size() == 0) {
			throw new UsageException("--filter leaves no event");
		}
		EventCategory needed = metric == Metric.STATE_TIME || metric == Metric.STATE_DURATION || metric == Metric.STATE_MEAN ? EventCategory.STATE
				: metric == Metric.VARIABLE_MEAN ? EventCategory.VARIABLE : null;
		if (needed != null && !table.has(needed)) {
			throw new MemtraceException(info.alias() + " has no " + needed.name().toLowerCase(Locale.ROOT) + "s for the metric "
					+ metric.id());
		}
		return new OpenedTrace(store, table, request(store, args, view, metric == null ? table.defaultMetric() : metric),
				Sides.MEMORY_TIME, null);
	}

	/** What --tree and --across ask for. */
	public static Sides sides(CommandLine args) throws UsageException {
		boolean down = args.get("tree").equals("machine");
		boolean across = args.get("across").equals("machine");
		if (down && across) {
			throw new UsageException("--tree machine and --across machine are both the machine; choose one of them");
		}
		if (!down && !across && args.has("topology")) {
			throw new UsageException("--topology needs --across machine or --tree machine");
		}
		return across ? Sides.MEMORY_MACHINE : down ? Sides.MACHINE_TIME : Sides.MEMORY_TIME;
	}

	private void machine(CommandLine args, Console console) throws Exception {
		if (!sides.suits(request.metric())) {
			throw new UsageException("--metric threads counts the threads of each page, which are no sum for a CPU: --tree machine needs another metric");
		}
		MachineTopology topology = TopologyOption.of(Hwloc.load(), store, args).topology();
		if (topology.pus().isEmpty()) {
			throw new MemtraceException(store.info().alias() + ": " + topology.origin() + " has no CPU");
		}
		MachineTopology shown = MachineFilters.shown(AccessOptions.filters(args, store, console), topology);
		machine = MachineSide.of(new MachineTree(shown), ((AccessModels) source).table(), request, store.info().alias(), console.progress());
	}

	/** What of the accesses is at no CPU of the machine, or at several, a sentence each; none without a machine. */
	public List<String> notes() {
		return machine == null ? List.of() : machine.notes();
	}

	/** What is at no CPU of it, in few words; empty when there is nothing. */
	public String leftOut() {
		return machine == null ? "" : machine.leftOut();
	}

	/** What --view means: the type is that of accesses where there are some, else that of events. */
	private static Dimension view(CommandLine args, boolean accesses) throws UsageException {
		String id = args.get("view");
		if (id.equals("auto") || id.equals(BasicDimensions.TYPE.id())) {
			return accesses ? BasicDimensions.TYPE : BasicDimensions.EVENT_TYPE;
		}
		if (id.equals(BasicDimensions.EVENT_TYPE.id())) {
			return BasicDimensions.EVENT_TYPE;
		}
		Dimension view = Dimensions.find(id, Use.COLOUR);
		if (view == null) {
			throw new UsageException("--view is '" + id + "', not one of auto, " + Dimensions.ids(Use.COLOUR));
		}
		return view;
	}

	private static ModelRequest request(TraceStore store, CommandLine args, Dimension view, Metric metric)
			throws UsageException, MemtraceException {
		TraceWindow window = TraceWindow.of(args, store);
		Pattern types = null;
		if (args.has("types")) {
			try {
				types = Pattern.compile(args.get("types"));
			} catch (PatternSyntaxException e) {
				throw new UsageException("--types is no regular expression: " + e.getDescription());
			}
		}
		int producer = args.has("subtree") ? producer(store.producers(), args.get("subtree")) : ModelRequest.WHOLE_TREE;
		return new ModelRequest(view, metric,
				(int) args.getInt("slices"), Slicing.byId(args.get("slicing")), window.fromNs(), window.toNs(), producer, types);
	}

	/** Producer by name or number. */
	public static int producer(ProducerTree tree, String name) throws UsageException {
		List<String> known = new ArrayList<>();
		for (int id = 0; id < tree.size(); id++) {
			if (tree.name(id).equals(name)) {
				return id;
			}
			if (known.size() < 1000 && !tree.isLeaf(id) && tree.level(id) <= 2) {
				known.add(tree.name(id));
			}
		}
		if (name.matches("[0-9]{1,9}") && Integer.parseInt(name) < tree.size()) {
			return Integer.parseInt(name);
		}
		String near = Nearest.of(name, known);
		throw new UsageException("the trace has no event producer '" + name + "'" + (near == null ? "" : "; did you mean '" + near
				+ "'?"));
	}

	/**
	 * Builds the model and prepares its aggregation. What is divided does not depend on the heap: where it is too small that is an
	 * error. Where pages are kept together although they were asked for, a line says so.
	 *
	 * @param rows rows that can be told apart, 0 for all pages
	 * @param equalTypes whether each type is divided by its total
	 * @param heights how high the rows are
	 * @param fonts height of the picture in heights of its font; with heights that need more, more rows can be told apart. 0 if there is none
	 */
	public void aggregate(double rows, boolean equalTypes, RowHeights heights, double fonts, Console console) throws MemtraceException {
		Progress progress = console.progress();
		boolean grouped = heights != RowHeights.LINES && source instanceof AccessModels && groupsAreEnough(rows);
		if (parts != null) {
			model = ofParts(grouped, progress);
		} else {
			Hierarchy pages = source.hierarchy(request.producer(), progress);
			model = sides.model(source, request, grouped ? pages.grouped(source.producers()) : pages, machine, progress);
		}
		names = sides.rowsAreMemory() ? new NodeNames(model.hierarchy(), source.producers(), store.structures()) : machine.tree().names();
		layout = heights == RowHeights.READABLE ? RowLayout.of(model, names) : heights.layout(model.hierarchy(), names, 1);
		losses = PartLosses.of(model, layout.largeSections(), equalTypes);
		double least = rows > 0 ? 1 / (rows * (fonts > 0 ? Math.max(1, layout.height(1) / fonts) : 1)) : 0;
		AggregationOptions options = sides.options(model, layout, machine, least, AggregationOptions.DETAIL_BUDGET_BYTES)
				.withEqualTypes(equalTypes);
		if (options.minHeight() > least) {
			console.err().println(String.format(Locale.ROOT, "Note: memory is divided into rows of at least 1/%,d of the picture, not finer: "
					+ (!sides.columnsAreTime() ? "%d CPUs would take more than %,d MB; --subtree divides it further"
							: "one p of %d slices would take more than a second or more than %,d MB; --subtree or fewer --slices divide it further"),
					Math.round(1 / options.minHeight()), model.sliceCount(), AggregationOptions.DETAIL_BUDGET_BYTES / 1_000_000));
		}
		long needed = sides.tableBytes(model, machine, options);
		long heap = Runtime.getRuntime().maxMemory();
		if (needed > heap / 2) {
			throw new MemtraceException(String.format(Locale.ROOT, "%s: dividing memory that far takes tables of %,d MB, and the JVM has %,d MB"
					+ " in all; set MEMTRACE_VMARGS=-Xmx%dm, or ask for fewer rows or slices", source.info().alias(), needed / 1_000_000,
					heap / 1_000_000, 3 * needed / 1_000_000));
		}
		aggregator = sides.prepare(model, machine, options, progress);
	}

	/** Whether rows of pictures do not show single pages where there are many. */
	public static boolean groupsAreEnough(double rows) {
		return rows > 0 && rows <= Hierarchy.MOST_ROWS_OF_GROUPS;
	}

	/** @param grouped whether the model of the trace itself would be one of groups, if it has many pages */
	private MicroscopicModel ofParts(boolean grouped, Progress progress) throws MemtraceException {
		MicroscopicModel made = parts.model(((AccessModels) source).table(), request, progress);
		if (parts.isGrouped() != grouped && made.hierarchy().leafCount() > Hierarchy.MOST_SINGLE_LEAVES) {
			throw new MemtraceException(source.info().alias() + (grouped ? ": the parts have values of single pages, for more rows than are asked"
					+ " for; make them again without --rows 0" : ": the parts have values of groups of pages, and single pages are asked for; make"
							+ " them again with --rows 0"));
		}
		return made;
	}

	/** Builds the model and prepares its aggregation over time alone. */
	public void aggregateTime(Progress progress) throws MemtraceException {
		model = parts != null ? ofParts(false, progress) : source.model(request, progress);
		aggregator = TemporalAggregator.prepare(model, progress);
	}

	/** Significant values for --precision and --normalised. */
	public SignificantLevels levels(CommandLine args, Progress progress) throws MemtraceException, UsageException {
		if (levels == null) {
			levels = SignificantLevels.compute(aggregator, args.getNumber("precision"), args.has("normalised"), progress);
		}
		return levels;
	}

	/** Partition for --p. */
	public Partition partition(CommandLine args, Progress progress) throws Exception {
		String p = args.get("p");
		InitialLevel strategy = InitialLevel.byId(args.get("initial"));
		if (strategy == null) {
			throw new UsageException("--initial is '" + args.get("initial") + "', not one of "
					+ Arrays.stream(InitialLevel.values()).map(InitialLevel::id).collect(Collectors.joining(", ")));
		}
		if (p.equals("auto") && strategy == InitialLevel.BALANCED) {
			return SignificantLevels.balanced(aggregator, losses, progress).partition();
		} else if (p.equals("auto")) {
			SignificantLevels all = levels(args, progress);
			return all.levels().get(all.initial(strategy)).partition();
		}
		double value;
		try {
			value = Double.parseDouble(p);
		} catch (NumberFormatException e) {
			value = -1;
		}
		if (!(value >= 0 && value <= 1)) {
			throw new UsageException("--p is '" + p + "', not a number between 0 and 1 or auto");
		}
		return aggregator.partition(SignificantLevels.plainP(aggregator, value, args.has("normalised")), progress);
	}

	/** Dimension, metric and window in words. */
	public String description() {
		String subtree = request.producer() < 0 ? "" : " · " + source.producers().name(request.producer());
		return "by " + (request.viewpoint() == BasicDimensions.TYPE ? "sharing" : request.viewpoint().label()) + ", "
				+ ModelText.metric(request.metric(), source instanceof AccessModels, source.info().counts()) + subtree
				+ switch (sides) {
				case MEMORY_TIME -> "";
				case MEMORY_MACHINE -> " · memory across the machine";
				case MACHINE_TIME -> " · the machine over time";
				};
	}
}
