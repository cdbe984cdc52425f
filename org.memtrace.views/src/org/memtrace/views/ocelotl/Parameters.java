// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;

import org.memtrace.aggregation.engine.InitialLevel;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.time.Slicing;
import org.memtrace.analysis.overview.FirstTouchLayer;
import org.memtrace.analysis.overview.RowHeights;
import org.memtrace.analysis.selection.StateText;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.MemtraceException;
import org.memtrace.views.session.OpenTrace;

/** All that makes a picture what it is, as names and texts: saved with it, and read again to come back to it. */
record Parameters(ViewState state, Choice choice) {
	private static final String AUTO = "auto";

	/** @param p the level that is shown */
	static Map<String, String> of(OpenTrace trace, ViewState s, Choice c, MicroscopicModel model, double p) {
		Map<String, String> m = new TreeMap<>(StateText.of(trace, s));
		m.put("trace", trace.name());
		m.put("viewpoint", model.viewpoint().id());
		m.put("metric", model.metric().id());
		m.put("slices", Integer.toString(c.slices()));
		m.put("slicing", c.slicing().id());
		m.put("p", Double.toString(p));
		m.put("picture", c.kind().name().toLowerCase(Locale.ROOT));
		m.put("equal_types", Boolean.toString(c.equalTypes()));
		m.put("initial_level", c.initial().id());
		m.put("normalised", Boolean.toString(c.normalised()));
		m.put("precision", Double.toString(c.precision()));
		m.put("small_parts_merged", Boolean.toString(c.merged()));
		m.put("first_touch", c.firstTouch().name().toLowerCase(Locale.ROOT));
		m.put("heights", c.heights().id());
		m.put("row_scale", Double.toString(c.scale()));
		m.put("hidden_types", c.hidden().stream().sorted().collect(Collectors.joining("\n")));
		return m;
	}

	/** Reads what was saved; what is not in the file stays as it is now. Of another trace, what this one has too. */
	static Parameters read(Path file, OpenTrace trace, ViewState now, Choice choice) throws MemtraceException {
		try {
			JsonElement json = JsonParser.parseString(Files.readString(file));
			if (!json.isJsonObject() || !json.getAsJsonObject().has("from_ns") && !json.getAsJsonObject().has("picture")) {
				throw new MemtraceException(file + " has no parameters of a picture");
			}
			return read(json.getAsJsonObject(), trace, now, choice);
		} catch (IOException e) {
			throw new MemtraceException(file + " cannot be read: " + e.getMessage(), e);
		} catch (JsonParseException | IllegalArgumentException | IllegalStateException | UnsupportedOperationException e) {
			throw new MemtraceException(file + " is not understood: " + e.getMessage(), e);
		}
	}

	private static Parameters read(JsonObject o, OpenTrace trace, ViewState now, Choice choice) throws MemtraceException {
		ViewState s = StateText.read(o, trace, now);
		Choice c = choice;
		c = o.has("picture") ? c.withKind(PictureKind.valueOf(o.get("picture").getAsString().toUpperCase(Locale.ROOT))) : c;
		c = o.has("slices") ? c.withSlices(Math.clamp(o.get("slices").getAsInt(), 1, 400)) : c;
		Slicing slicing = o.has("slicing") ? Slicing.byId(o.get("slicing").getAsString()) : null;
		c = slicing == null ? c : c.withSlicing(slicing);
		c = o.has("metric") && !o.get("metric").getAsString().equals(AUTO) ? c.withMetric(Metric.byId(o.get("metric").getAsString()))
				: c;
		c = o.has("equal_types") ? c.withEqualTypes(o.get("equal_types").getAsString().equals("true")) : c;
		InitialLevel initial = o.has("initial_level") ? InitialLevel.byId(o.get("initial_level").getAsString()) : null;
		c = initial == null ? c : c.withInitial(initial);
		c = o.has("normalised") ? c.withNormalised(o.get("normalised").getAsString().equals("true")) : c;
		c = o.has("precision") ? c.withPrecision(Math.clamp(o.get("precision").getAsDouble(), 1e-5, 0.5)) : c;
		c = o.has("small_parts_merged") ? c.withMerged(!o.get("small_parts_merged").getAsString().equals("false")) : c;
		c = o.has("first_touch")
				? c.withFirstTouch(FirstTouchLayer.Shown.valueOf(o.get("first_touch").getAsString().toUpperCase(Locale.ROOT))) : c;
		RowHeights heights = o.has("heights") ? RowHeights.byId(o.get("heights").getAsString()) : null;
		c = heights == null ? c : c.withHeights(heights);
		c = o.has("row_scale") ? c.withScale(o.get("row_scale").getAsDouble()) : c;
		if (o.has("hidden_types")) {
			c = c.withHidden(Arrays.stream(o.get("hidden_types").getAsString().split("\n")).filter(t -> !t.isEmpty())
					.collect(Collectors.toSet()));
		}
		return new Parameters(s, c);
	}
}
