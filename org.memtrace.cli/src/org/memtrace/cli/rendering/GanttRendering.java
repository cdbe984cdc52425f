// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.rendering;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.analysis.gantt.GanttFold;
import org.memtrace.analysis.gantt.GanttModel;
import org.memtrace.analysis.gantt.GanttOptions;
import org.memtrace.analysis.gantt.GanttPicture;
import org.memtrace.analysis.gantt.GanttRows;
import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.analysis.gantt.GanttSource;
import org.memtrace.analysis.gantt.GanttSources;
import org.memtrace.analysis.gantt.GanttType;
import org.memtrace.analysis.gantt.Marker;
import org.memtrace.analysis.gantt.Markers;
import org.memtrace.analysis.overview.PictureOptions;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.options.OpenedTrace;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.tree.ProducerTree;

/** The Gantt chart of a trace, with the markers that are stored in it: {@code memtrace render --kind gantt}. */
public final class GanttRendering {
	private GanttRendering() {
	}

	public static GanttPicture build(OpenedTrace trace, CommandLine args, PictureOptions common, Progress progress)
			throws MemtraceException {
		ModelRequest request = trace.request;
		GanttSource source = trace.source instanceof AccessModels accesses ? GanttSources.of(accesses.table(), request.viewpoint(), progress)
				: GanttSources.of((EventTable) trace.source);
		Grouping grouping = Grouping.valueOf(args.get("rows").toUpperCase(Locale.ROOT));
		if (!source.knows(grouping)) {
			throw new MemtraceException("the trace knows no " + (grouping == Grouping.CPU ? "CPUs" : "threads"));
		}
		ProducerTree tree = source.producers();
		int root = request.producer() >= 0 ? request.producer() : tree.subtreeEnd(0) == tree.size() ? 0 : -1;
		GanttFold fold = grouping == Grouping.PRODUCER ? GanttFold.initial(tree) : GanttFold.folded();
		if (root > 0) {
			fold = fold.with(GanttSource.ALL, root, true);
		}
		if (args.has("unfold")) {
			for (int group = 0; group < source.groups(grouping).size(); group++) {
				for (int id = Math.max(0, root); id < (root < 0 ? tree.size() : root + 1); id = tree.subtreeEnd(id)) {
					fold = fold.withSubtree(tree, group, id, true);
				}
			}
		}
		GanttRows rows = GanttRows.of(new GanttRows.Request(source, grouping, root, fold, GanttRows.Order.ADDRESS, true), progress);
		GanttOptions o = new GanttOptions();
		o.width = common.width;
		o.height = common.height;
		o.fontSize = common.fontSize;
		o.rowHeight = Math.rint(1.5 * common.fontSize);
		o.palette = common.palette;
		o.title = common.title;
		o.warning = common.warning;
		o.originNs = common.originNs;
		o.fromNs = request.fromNs();
		o.toNs = request.toNs();
		List<GanttType> types = source.types();
		for (int t = 0; t < types.size(); t++) {
			o.hiddenTypes.set(t, request.types() != null && !request.types().matcher(types.get(t).name()).find());
		}
		byte[] markers = trace.store.readNote(Markers.note(AddressSpace.byId(args.get("tree")))).orElse(null);
		List<Marker> all = new ArrayList<>(markers == null ? List.of() : Markers.read(markers));
		all.addAll(Markers.ofRegions(trace.store));
		o.markers = all;
		return GanttPicture.build(new GanttModel(source), rows, o, progress);
	}
}
