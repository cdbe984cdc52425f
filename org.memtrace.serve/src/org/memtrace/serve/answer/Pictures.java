// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve.answer;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import org.memtrace.aggregation.AccessDetails;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.engine.SignificantLevels;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.findings.TraceSummary;
import org.memtrace.analysis.overview.BlockInfo;
import org.memtrace.analysis.overview.Picture;
import org.memtrace.analysis.overview.PictureBuilder;
import org.memtrace.analysis.overview.PictureOptions;
import org.memtrace.analysis.selection.Kept;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.text.JsonText;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.serve.http.Query;
import org.memtrace.serve.http.Refused;

/** The picture of memory over time: what is drawn, what is at a point, and where a drag leads. Safe for all threads. */
final class Pictures {
	private static final int MOST_DESCRIBED = 6;
	private static final int MOST_DRAWN = 8;
	/** Shorter drags mean all of that direction. */
	private static final int MIN_DRAG = 6;

	/** @param state with the p that was asked for */
	private record Key(ViewState state, int width, int height, double font, boolean dark) {
	}

	private record Drawn(Described described, Picture picture, double p) {
	}

	private final ServedTrace trace;
	private final Kept<ViewState, Described> described;
	private final Kept<Key, Drawn> drawn = new Kept<>(MOST_DRAWN, this::draw);

	Pictures(ServedTrace trace) {
		this.trace = trace;
		described = new Kept<>(MOST_DESCRIBED, (state, progress) -> Described.of(trace, state, progress));
	}

	private Described described(ViewState s, Progress progress) throws MemtraceException {
		return described.get(s.withP(ViewState.AUTOMATIC_P), progress);
	}

	private Key key(Query q) throws Refused {
		return new Key(States.of(trace, q), q.number("w", 1000, 200, 8000), q.number("h", 600, 150, 8000), q.real("font", 12, 6, 40),
				q.word("theme", "light", Set.of("light", "dark")).equals("dark"));
	}

	private Drawn draw(Key key, Progress progress) throws MemtraceException {
		Described d = described(key.state(), progress);
		double p = d.p(key.state());
		PictureOptions o = options(d, key);
		return new Drawn(d, PictureBuilder.build(d.partition(p, progress), d.names(), d.rows(), o), p);
	}

	private PictureOptions options(Described d, Key key) {
		PictureOptions o = new PictureOptions();
		o.width = key.width();
		o.height = key.height();
		o.fontSize = key.font();
		o.palette = key.dark() ? Palette.DARK : Palette.LIGHT;
		o.originNs = trace.info().startNs();
		o.ticks = trace.info().isInTicks();
		o.counts = trace.info().counts();
		o.losses = d.losses();
		o.firstTouch = d.firstTouches();
		return o;
	}

	/** The picture for a file: with a title and what the recorder lost, as {@code memtrace render} draws it. */
	Picture forFile(Query q, Progress progress) throws MemtraceException, Refused {
		Key key = key(q);
		Described d = described(key.state(), progress);
		PictureOptions o = options(d, key);
		o.title = trace.name();
		o.warning = TraceSummary.lossWarning(trace.info());
		return PictureBuilder.whole(d.partition(d.p(key.state()), progress), d.names(), d.rows(), o);
	}

	/** The picture as text of JSON: the scene, where its plot is, and the figures of the partition. */
	String picture(Query q, Progress progress) throws MemtraceException, Refused {
		Key key = key(q);
		int[] marks = States.marks(trace, q);
		Drawn d = drawn.get(key, progress);
		Picture picture = d.picture();
		Partition partition = picture.partition();
		JsonObject o = new JsonObject();
		o.add("state", States.json(trace, key.state(), marks));
		o.add("path", States.path(trace, key.state().producer()));
		o.addProperty("from", key.state().fromNs() - trace.info().startNs());
		o.addProperty("to", key.state().toNs() - trace.info().startNs());
		JsonArray plot = new JsonArray();
		for (double v : new double[] {picture.plotX(), picture.plotY(), picture.plotWidth(), picture.plotHeight()}) {
			plot.add(v);
		}
		o.add("plot", plot);
		o.addProperty("p", d.p());
		o.addProperty("automatic_p", d.described().automaticP());
		o.addProperty("blocks", partition.blockCount());
		o.addProperty("loss_percent", partition.lossPercent());
		o.addProperty("reduction_percent", partition.reductionPercent());
		// the partition may be known by a smaller p that it is the best of, too
		o.addProperty("figures", PictureBuilder.figures(partition).replaceFirst("^p = \\S+", "p = " + Units.p(d.p())));
		JsonArray areas = new JsonArray();
		for (int id : marks) {
			double[] rows = rows(d, key.state(), id);
			if (rows != null) {
				areas.add(rectangle(picture.plotX(), rows[0], picture.plotX() + picture.plotWidth(), rows[1]));
			}
		}
		o.add("marks", areas);
		String text = JsonText.LINE.toJson(o);
		return text.substring(0, text.length() - 1) + ",\"scene\":" + SceneNumbers.json(picture.scene()) + "}";
	}

	/** Upper and lower edge of a producer; null when it is not in the picture. */
	private double[] rows(Drawn d, ViewState s, int producer) {
		Hierarchy h = d.described().model().hierarchy();
		Picture picture = d.picture();
		int node = h.nodeOf(producer);
		if (node < 0) {
			boolean around = producer <= s.producer() && s.producer() < trace.producers().subtreeEnd(producer);
			return around ? new double[] {picture.plotY(), picture.plotY() + picture.plotHeight()} : null;
		}
		return new double[] {picture.seenY(h.leafFrom(node)), picture.seenY(h.leafTo(node))};
	}

	private static JsonArray rectangle(double x0, double y0, double x1, double y1) {
		JsonArray a = new JsonArray();
		a.add(x0);
		a.add(y0);
		a.add(x1);
		a.add(y1);
		return a;
	}

	/** What is at a point, for a person; an object without {@code lines} outside of the blocks and the names. */
	JsonObject at(Query q, Progress progress) throws MemtraceException, Refused {
		Key key = key(q);
		double x = q.real("x", -1, -1, 10_000);
		double y = q.real("y", -1, -1, 10_000);
		Drawn d = drawn.get(key, progress);
		Picture picture = d.picture();
		Picture.Hit hit = picture.hit(x, y);
		JsonObject o = new JsonObject();
		if (hit.area() == Picture.Area.OUTSIDE) {
			return o;
		}
		BlockInfo info = BlockInfo.of(picture, hit, d.described().names());
		AccessDetails details = trace.hasAccesses() && hit.area() == Picture.Area.PLOT
				? BlockInfo.details(trace.accesses(key.state().filters(), progress), picture, hit, progress) : null;
		JsonArray lines = new JsonArray();
		info.lines(trace.info(), details, trace.threads()).forEach(lines::add);
		o.add("lines", lines);
		int producer = producer(d, key.state(), hit.node());
		o.addProperty("producer", producer);
		int member = trace.memberOf(producer);
		if (member >= 0) {
			o.addProperty("member", member);
			o.addProperty("name", trace.producers().name(member));
		}
		o.add("area", rectangle(picture.xOfSlice(hit.firstSlice()), picture.seenY(hit.leafFrom()), picture.xOfSlice(hit.endSlice()),
				picture.seenY(hit.leafTo())));
		o.add("zoom", States.json(trace, hit.area() == Picture.Area.PLOT ? key.state().withWindow(info.fromNs(), info.toNs())
				.withProducer(producer) : key.state().withProducer(producer), new int[0]));
		return o;
	}

	private int producer(Drawn d, ViewState s, int node) {
		int id = d.described().model().hierarchy().producer(node);
		return id == Hierarchy.NO_PRODUCER ? s.producer() : id;
	}

	/**
	 * Where a drag from one point to another leads: time snaps to slices, memory to the smallest producer that holds all touched rows; a flat
	 * drag zooms in time only, a narrow one in memory only.
	 */
	JsonObject target(Query q, Progress progress) throws MemtraceException, Refused {
		Key key = key(q);
		double x0 = q.real("x0", 0, -10_000, 10_000);
		double y0 = q.real("y0", 0, -10_000, 10_000);
		double x1 = q.real("x1", 0, -10_000, 10_000);
		double y1 = q.real("y1", 0, -10_000, 10_000);
		Drawn d = drawn.get(key, progress);
		Picture picture = d.picture();
		Hierarchy h = d.described().model().hierarchy();
		ViewState s = key.state();
		int first = 0;
		int end = picture.model().sliceCount();
		if (Math.abs(x1 - x0) >= MIN_DRAG) {
			first = picture.sliceAt(Math.min(x0, x1));
			end = picture.sliceAt(Math.max(x0, x1)) + 1;
			s = s.withWindow(picture.model().slices().boundNs(first), picture.model().slices().boundNs(end));
		}
		int node = 0;
		if (Math.abs(y1 - y0) >= MIN_DRAG) {
			node = h.smallestContaining(picture.leafAt(Math.min(y0, y1)), picture.leafAt(Math.max(y0, y1)) + 1);
			s = s.withProducer(producer(d, s, node));
		}
		JsonObject o = new JsonObject();
		o.add("zoom", States.json(trace, s, States.marks(trace, q)));
		o.add("area", rectangle(picture.xOfSlice(first), picture.seenY(h.leafFrom(node)), picture.xOfSlice(end), picture.seenY(h.leafTo(node))));
		return o;
	}

	/** The parent of what is shown. */
	JsonObject parent(Query q) throws Refused {
		ViewState s = States.of(trace, q);
		ProducerTree tree = trace.producers();
		JsonObject o = new JsonObject();
		o.add("zoom", States.json(trace, s.producer() == trace.selection().initial().producer() ? s : s.withProducer(tree.parent(s.producer())),
				States.marks(trace, q)));
		return o;
	}

	/** The significant p with what each loses and saves; {@code complete} says whether these are all. */
	JsonObject levels(Query q, boolean all, Progress progress) throws MemtraceException, Refused {
		ViewState s = States.of(trace, q);
		Described d = described(s, progress);
		if (all) {
			d.refine(progress);
		}
		JsonObject o = new JsonObject();
		o.addProperty("complete", d.isComplete());
		o.addProperty("automatic_p", d.automaticP());
		List<double[]> rows = new ArrayList<>();
		for (SignificantLevels.Level l : d.levels().levels()) {
			rows.add(new double[] {l.p(), l.partition().blockCount(), round(l.partition().lossPercent()),
					round(l.partition().reductionPercent())});
		}
		o.add("levels", JsonText.LINE.toJsonTree(rows));
		return o;
	}

	private static double round(double percent) {
		return Math.rint(100 * percent) / 100;
	}
}
