// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve.answer;

import java.util.Set;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.gantt.GanttFold;
import org.memtrace.analysis.gantt.GanttModel;
import org.memtrace.analysis.gantt.GanttOptions;
import org.memtrace.analysis.gantt.GanttPicture;
import org.memtrace.analysis.gantt.GanttRows;
import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.analysis.gantt.GanttSource;
import org.memtrace.analysis.gantt.GanttSources;
import org.memtrace.analysis.scene.PlotMargins;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.selection.Kept;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.statistics.DensityModel;
import org.memtrace.analysis.statistics.DensityPicture;
import org.memtrace.analysis.statistics.Statistics.Sum;
import org.memtrace.analysis.text.JsonText;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.serve.http.Query;
import org.memtrace.serve.http.Refused;

/** How much happens when, and what each row did when. Safe for all threads. */
final class Charts {
	private static final int MOST_SOURCES = 2;

	private record Gantt(FilterSet filters, Dimension by) {
	}

	private final ServedTrace trace;
	private final Kept<Gantt, GanttModel> models = new Kept<>(MOST_SOURCES, this::model);

	Charts(ServedTrace trace) {
		this.trace = trace;
	}

	private GanttModel model(Gantt key, Progress progress) throws MemtraceException {
		return new GanttModel(GanttSources.of(trace.accesses(key.filters(), progress), key.by(), progress));
	}

	private static Palette palette(Query q) throws Refused {
		return q.word("theme", "light", Set.of("light", "dark")).equals("dark") ? Palette.DARK : Palette.LIGHT;
	}

	/** A curve for each type of the colours, stacked. */
	String density(Query q, Progress progress) throws MemtraceException, Refused {
		ViewState s = States.of(trace, q);
		int width = q.number("w", 1000, 200, 8000);
		int height = q.number("h", 250, 100, 4000);
		double font = q.real("font", 12, 6, 40);
		Dimension by = DensityModel.stacksOf(Sum.ACCESSES).contains(s.viewpoint()) ? s.viewpoint() : trace.selection().initial().viewpoint();
		DensityModel model = DensityModel.of(trace.accesses(s.filters(), progress), Sum.ACCESSES, by, s.fromNs(), s.toNs(), s.producer(),
				DensityPicture.bins(width, font, PlotMargins.NONE), progress);
		DensityPicture picture = DensityPicture.build(model, width, height, palette(q), TextMeter.DEFAULT, font);
		return json(picture.scene(), s, picture.plotX(), picture.plotWidth(), new JsonObject());
	}

	/** A row for each structure, thread or CPU; rows above {@code first} are left out. */
	String gantt(Query q, Progress progress) throws MemtraceException, Refused {
		ViewState s = States.of(trace, q);
		Grouping grouping = Grouping.valueOf(q.word("rows", "PRODUCER", Set.of("PRODUCER", "THREAD", "CPU")));
		GanttOptions o = new GanttOptions();
		o.width = q.number("w", 1000, 200, 8000);
		o.height = q.number("h", 500, 100, 8000);
		o.fontSize = q.real("font", 12, 6, 40);
		o.rowHeight = Math.rint(1.5 * o.fontSize);
		o.palette = palette(q);
		o.originNs = trace.info().startNs();
		o.fromNs = s.fromNs();
		o.toNs = s.toNs();
		o.firstRow = q.number("first", 0, 0, 10_000_000);
		GanttModel model = models.get(new Gantt(s.filters(), s.viewpoint()), progress);
		GanttSource source = model.source();
		if (!source.knows(grouping)) {
			throw Refused.missing("the trace knows no " + (grouping == Grouping.CPU ? "CPUs" : "threads"));
		}
		int root = s.producer();
		GanttFold fold = grouping == Grouping.PRODUCER ? GanttFold.initial(trace.producers()) : GanttFold.folded();
		if (root > 0) {
			fold = fold.with(GanttSource.ALL, root, true);
		}
		GanttRows rows = GanttRows.of(new GanttRows.Request(source, grouping, root, fold, GanttRows.Order.ADDRESS, true), progress);
		o.firstRow = Math.min(o.firstRow, Math.max(0, rows.count() - 1));
		GanttPicture picture = GanttPicture.build(model, rows, o, progress);
		JsonObject more = new JsonObject();
		more.addProperty("rows", rows.count());
		more.addProperty("first", picture.firstRow());
		more.addProperty("shown", picture.wholeRows());
		return json(picture.scene(), s, picture.plotX(), picture.plotWidth(), more);
	}

	private String json(Scene scene, ViewState s, double plotX, double plotWidth, JsonObject more) {
		more.addProperty("from", s.fromNs() - trace.info().startNs());
		more.addProperty("to", s.toNs() - trace.info().startNs());
		JsonArray plot = new JsonArray();
		plot.add(plotX);
		plot.add(plotWidth);
		more.add("plot", plot);
		String text = JsonText.LINE.toJson(more);
		return text.substring(0, text.length() - 1) + ",\"scene\":" + SceneNumbers.json(scene) + "}";
	}
}
