// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.rendering;

import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.analysis.overview.PictureOptions;
import org.memtrace.analysis.scene.PlotMargins;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.TitledScene;
import org.memtrace.analysis.statistics.DensityModel;
import org.memtrace.analysis.statistics.DensityPicture;
import org.memtrace.analysis.statistics.PieModel;
import org.memtrace.analysis.statistics.PiePicture;
import org.memtrace.analysis.statistics.PieRules;
import org.memtrace.analysis.statistics.Statistics.Sum;
import org.memtrace.analysis.statistics.Statistics;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.AccessOptions;
import org.memtrace.cli.options.OpenedTrace;
import org.memtrace.cli.options.TraceWindow;
import org.memtrace.cli.output.Console;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.TraceStore;

/** What the views Statistics and Density draw: {@code memtrace render --kind pie} and {@code --kind density}. */
public final class SumsRendering {
	private SumsRendering() {
	}

	private static Sum sum(Metric metric) throws UsageException {
		return switch (metric.kind()) {
		case ACCESSES -> Sum.ACCESSES;
		case READS -> Sum.READS;
		case WRITES -> Sum.WRITES;
		case EVENTS -> Sum.RECORDS;
		default -> throw new UsageException("a pie or a density has no --metric " + metric.id()
				+ ", but accesses, reads, writes or events");
		};
	}

	/**
	 * What {@code --by} names.
	 *
	 * @param automatic what auto means
	 * @param possible null among them is none
	 */
	private static Dimension chosen(CommandLine args, Dimension automatic, List<Dimension> possible) throws UsageException {
		String id = args.get("by");
		if (id.equals("auto")) {
			return automatic;
		}
		for (Dimension d : possible) {
			if (name(d).equals(id) || d == BasicDimensions.EVENT_TYPE && id.equals(BasicDimensions.TYPE.id())) {
				return d;
			}
		}
		throw new UsageException("--by " + id + " is not possible here, but "
				+ possible.stream().map(SumsRendering::name).collect(Collectors.joining(", ")));
	}

	private static String name(Dimension d) {
		return d == null ? "none" : d.id();
	}

	/** What {@code --sum} names, one of those that the trace has; null for auto. */
	private static Sum named(CommandLine args, List<Sum> possible) throws UsageException {
		String id = args.get("sum");
		if (id.equals("auto")) {
			return null;
		}
		return possible.stream().filter(s -> s.id().equals(id)).findFirst().orElseThrow(() -> new UsageException("--sum is '" + id
				+ "'; this trace has " + possible.stream().map(Sum::id).collect(Collectors.joining(", "))));
	}

	/** The parts of the whole as they are: {@code memtrace query --what sums}. */
	public static List<Statistics.Item> sums(TraceStore store, CommandLine args, Console console) throws MemtraceException, UsageException {
		Progress progress = console.progress();
		TraceWindow window = TraceWindow.of(args, store);
		int producer = args.has("producer") ? AccessOptions.query(args, store).producerFrom() : -1;
		List<Statistics.Item> items;
		if (store.accessCount() > 0) {
			Dimension by = chosen(args, Statistics.structures(), Statistics.keysOfAccesses());
			Sum sum = Objects.requireNonNullElse(named(args, Statistics.sumsOfAccesses()), Sum.ACCESSES);
			items = Statistics.of(AccessOptions.table(args, store, console), sum, by, window.fromNs(), window.toNs(), producer, progress);
		} else {
			Dimension by = chosen(args, BasicDimensions.EVENT_TYPE, Statistics.keysOfEvents());
			EventTable events = AccessOptions.events(args, store, console);
			Sum sum = Objects.requireNonNullElse(named(args, Statistics.sumsOfEvents(events)),
					events.has(EventCategory.STATE) ? Sum.STATE_TIME : Sum.EVENTS);
			items = Statistics.of(events, sum, by, window.fromNs(), window.toNs(), producer, progress);
		}
		return items.stream().sorted(Comparator.comparingDouble((Statistics.Item i) -> -i.value()).thenComparing(Statistics.Item::name)).toList();
	}

	/** The parts of the whole, merged and left out as the user did in the workbench. */
	public static Scene pie(OpenedTrace trace, CommandLine args, PictureOptions o, Progress progress) throws Exception {
		ModelRequest r = trace.request;
		PieRules rules = trace.store.readNote(PieRules.NOTE).map(b -> PieRules.parse(new String(b, StandardCharsets.UTF_8)))
				.orElse(PieRules.NONE);
		PieModel model;
		if (trace.source instanceof AccessModels accesses) {
			Dimension by = chosen(args, Statistics.structures(), Statistics.keysOfAccesses());
			Sum named = named(args, Statistics.sumsOfAccesses());
			Sum sum = named != null ? named : sum(r.metric());
			model = PieModel.of(sum, by, Statistics.of(accesses.table(), sum, by, r.fromNs(), r.toNs(), r.producer(), progress), rules);
		} else {
			EventTable events = (EventTable) trace.source;
			Sum named = named(args, Statistics.sumsOfEvents(events));
			Sum sum = named != null ? named : sum(r.metric(), events);
			if (sum == null) {
				throw new UsageException("a pie of events has --metric events, state-time or state-duration");
			}
			Dimension by = chosen(args, BasicDimensions.EVENT_TYPE, Statistics.keysOfEvents());
			model = PieModel.of(sum, by, Statistics.of(events, sum, by, r.fromNs(), r.toNs(), r.producer(), progress), rules);
		}
		PieModel pie = model.of(trace.store.info());
		String title = args.has("title") ? o.title : trace.store.info().alias() + ", "
				+ pie.counted() + " by " + pie.by().label();
		return TitledScene.build(title, o.warning, o.width, o.height, o.palette, o.meter, o.fontSize,
				(w, h) -> PiePicture.build(pie, Set.of(), true, w, h, o.palette, o.meter, o.fontSize).scene());
	}

	/** Null when there is no sum for a metric. */
	private static Sum sum(Metric metric, EventTable events) {
		return switch (metric.kind()) {
		case EVENTS -> Sum.EVENTS;
		case STATE_TIME -> Sum.STATE_TIME;
		case STATE_DURATION -> events.statesNest() ? Sum.STATE_DURATION : Sum.STATE_TIME;
		default -> null;
		};
	}

	/** How much happens when. */
	public static Scene density(OpenedTrace trace, CommandLine args, PictureOptions o, Progress progress)
			throws MemtraceException, UsageException {
		ModelRequest r = trace.request;
		int bins = DensityPicture.bins(o.width, o.fontSize, PlotMargins.NONE);
		DensityModel model;
		if (trace.source instanceof AccessModels accesses) {
			Sum sum = Objects.requireNonNullElse(named(args, DensityModel.sumsOfAccesses()), sum(r.metric()));
			Dimension by = chosen(args, sum == Sum.MEMORY ? BasicDimensions.NODE : BasicDimensions.TYPE, DensityModel.stacksOf(sum));
			model = DensityModel.of(accesses.table(), sum, by, r.fromNs(), r.toNs(), r.producer(), bins, progress);
		} else {
			model = DensityModel.of((EventTable) trace.source, chosen(args, BasicDimensions.EVENT_TYPE, DensityModel.stacksOfEvents()),
					r.fromNs(), r.toNs(), r.producer(), bins, progress);
		}
		String title = args.has("title") ? o.title : trace.store.info().alias() + ", "
				+ model.counted().toLowerCase(Locale.ROOT) + " over time" + (model.stack() == null ? "" : " " + DensityModel.label(model.stack()));
		return TitledScene.build(title, o.warning, o.width, o.height, o.palette, o.meter, o.fontSize,
				(w, h) -> DensityPicture.build(model, w, h, o.palette, o.meter, o.fontSize).scene());
	}
}
