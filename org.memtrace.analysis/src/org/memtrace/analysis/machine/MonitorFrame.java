// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology.Type;
import org.memtrace.analysis.text.Csv;
import org.memtrace.analysis.text.TextColumns;
import org.memtrace.analysis.text.Units;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/**
 * The values of monitors on a machine at one time, or their means over a window: what a picture of the machine shows. Immutable.
 *
 * @param cells by object; an object without is not watched
 * @param scales of the levels that are shown, outermost first
 * @param when the time in words
 * @param notes what to know of the values, a sentence each
 */
public record MonitorFrame(MachineTopology topology, Map<MachineObject, Cell> cells, List<Scale> scales, String when, List<String> notes) {
	/**
	 * The scale of a level.
	 *
	 * @param variable what is measured
	 * @param level on which objects
	 * @param min value of the begin of the scale
	 * @param max value of its end
	 * @param log whether the scale is logarithmic
	 */
	public record Scale(String variable, String level, double min, double max, boolean log) {
		/** Place of a value on the scale, 0 to 1; NaN of no value. */
		public double share(double value) {
			if (Double.isNaN(value)) {
				return Double.NaN;
			}
			if (log) {
				return value <= min || !(min > 0) ? 0 : value >= max ? 1 : Math.log(value / min) / Math.log(max / min);
			}
			return value <= min ? 0 : value >= max ? 1 : (value - min) / (max - min);
		}
	}

	/**
	 * The value of an object.
	 *
	 * @param value NaN when the object was not active
	 * @param before value of the sample before, NaN when there is none
	 */
	public record Cell(double value, double before, Scale scale) {
		/** Whether there is a value. */
		public boolean isActive() {
			return !Double.isNaN(value);
		}

		/** How much it rose on the scale since the sample before, -1 to 1; NaN when that is not known. */
		public double variation() {
			return scale.share(value) - scale.share(before);
		}
	}

	public MonitorFrame {
		cells = Map.copyOf(cells);
		scales = List.copyOf(scales);
		notes = List.copyOf(notes);
	}

	/** A value for a person, in at most 9 characters. */
	public static String text(double value) {
		double a = Math.abs(value);
		if (Double.isNaN(value)) {
			return "-";
		}
		return a == 0 || a >= 0.001 && a < 1e6 ? Units.digits(value) : String.format(Locale.ROOT, "%.2e", value);
	}

	/** What is known of objects, for a tool tip and a screen reader; lines. */
	public String describe(List<MachineObject> objects) {
		StringBuilder b = new StringBuilder();
		for (MachineObject m : objects) {
			b.append(b.isEmpty() ? "" : "\n").append(m.type() == Type.MACHINE ? "Machine: " + topology.summary() : m.label());
			Cell c = cells.get(m);
			if (c != null) {
				b.append('\n').append(c.scale.variable).append(": ").append(c.isActive() ? text(c.value) : "not active");
				if (!Double.isNaN(c.before)) {
					b.append(", before ").append(text(c.before));
				}
			}
		}
		return b.toString();
	}

	/** The whole picture in a sentence. */
	public String summary() {
		StringBuilder b = new StringBuilder();
		scales.forEach(s -> b.append(b.isEmpty() ? "" : "; ").append(s.variable).append(" of ").append(s.level));
		long active = cells.values().stream().filter(Cell::isActive).count();
		return b.isEmpty() ? "no values of places" : b + ", " + when + "; " + active + " of " + Units.plural(cells.size(), "place") + " active";
	}

	/** A line for each object that is watched, for a person. */
	public String text() {
		List<String[]> rows = new ArrayList<>();
		rows.add(new String[] {"object", "variable", "value", "before"});
		for (MachineObject o : topology.objects()) {
			Cell c = cells.get(o);
			if (c != null) {
				rows.add(new String[] {o.label(), c.scale.variable, text(c.value), text(c.before)});
			}
		}
		StringBuilder b = new StringBuilder(topology.summary()).append('\n').append(summary()).append('\n');
		notes.forEach(n -> b.append(n).append('\n'));
		TextColumns.columns(b.append('\n'), rows, "llrr");
		return b.toString();
	}

	/** A line for each object that is watched: what the picture shows, as numbers. */
	public String toCsv() {
		StringBuilder b = new StringBuilder("object,type,index,os_index,variable,value,before\n");
		for (MachineObject o : topology.objects()) {
			Cell c = cells.get(o);
			if (c != null) {
				b.append(Csv.cell(o.label())).append(',').append(o.type().word()).append(',').append(o.logicalIndex()).append(',')
						.append(o.osIndex() < 0 ? "" : Integer.toString(o.osIndex())).append(',').append(Csv.cell(c.scale.variable)).append(',')
						.append(exact(c.value)).append(',').append(exact(c.before)).append('\n');
			}
		}
		return b.toString();
	}

	private static String exact(double v) {
		return Double.isNaN(v) ? "" : v == Math.rint(v) && Math.abs(v) < 1e15 ? Long.toString((long) v) : Double.toString(v);
	}

	/** Adds the values, and what is said about them, to an object for programs; returns it. */
	public JsonObject addTo(JsonObject json) {
		json.addProperty("machine", topology.summary());
		json.addProperty("when", when);
		JsonArray said = new JsonArray();
		notes.forEach(said::add);
		json.add("notes", said);
		JsonArray levels = new JsonArray();
		for (Scale s : scales) {
			JsonObject l = new JsonObject();
			l.addProperty("variable", s.variable);
			l.addProperty("level", s.level);
			l.addProperty("min", s.min);
			l.addProperty("max", s.max);
			l.addProperty("log", s.log);
			levels.add(l);
		}
		json.add("scales", levels);
		JsonArray list = new JsonArray();
		for (MachineObject o : topology.objects()) {
			Cell c = cells.get(o);
			if (c != null) {
				JsonObject j = new JsonObject();
				j.addProperty("object", o.label());
				j.addProperty("type", o.type().word());
				j.addProperty("index", o.logicalIndex());
				j.addProperty("os_index", o.osIndex() < 0 ? null : o.osIndex());
				j.addProperty("variable", c.scale.variable);
				j.addProperty("value", c.isActive() ? c.value : null);
				j.addProperty("before", Double.isNaN(c.before) ? null : c.before);
				list.add(j);
			}
		}
		json.add("objects", list);
		return json;
	}
}
