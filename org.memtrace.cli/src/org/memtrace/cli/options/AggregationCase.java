// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.options;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.engine.Aggregator;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.engine.SignificantLevels;
import org.memtrace.aggregation.engine.SpatiotemporalAggregator;
import org.memtrace.aggregation.engine.TemporalAggregator;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.time.TimeSlices;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;

/**
 * An aggregation problem with its results as JSON, in the format of testdata/vectors/aggregation/README.md. Takes one with
 * or without results, and makes the same object with all results computed by this program.
 */
public final class AggregationCase {
	private static final double[] PROBES = {0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1};

	private final JsonObject input;
	private final int slices;
	private final double threshold;
	private final Hierarchy hierarchy;
	private final MicroscopicModel model;

	/**
	 * @throws IllegalArgumentException when a needed key is missing or has a wrong shape; the message says which
	 */
	public AggregationCase(JsonObject input) {
		this.input = input;
		int[] parents = ints(array("parent"));
		this.hierarchy = Hierarchy.of(parents);
		this.slices = required("slices").getAsInt();
		int types = required("types").getAsInt();
		this.threshold = input.has("threshold") ? input.get("threshold").getAsDouble()
				: SignificantLevels.DEFAULT_THRESHOLD;
		int[] leaves = ints(array("leaves"));
		JsonArray values = array("values");
		if (leaves.length != hierarchy.leafCount() || values.size() != leaves.length) {
			throw new IllegalArgumentException("there are " + hierarchy.leafCount() + " leaves, but " + leaves.length
					+ " are listed with " + values.size() + " rows of values");
		}
		double[][][] dense = new double[leaves.length][slices][types];
		for (int i = 0; i < leaves.length; i++) {
			int node = hierarchy.nodeOf(leaves[i]);
			if (node < 0 || !hierarchy.isLeaf(node)) {
				throw new IllegalArgumentException(leaves[i] + " is no leaf of the tree");
			}
			double[][] row = dense[hierarchy.leafFrom(node)];
			for (int t = 0; t < slices; t++) {
				for (int k = 0; k < types; k++) {
					row[t][k] = values.get(i).getAsJsonArray().get(t).getAsJsonArray().get(k).getAsDouble();
				}
			}
		}
		List<ModelType> typeList = new ArrayList<>();
		for (int k = 0; k < types; k++) {
			typeList.add(new ModelType("type " + k, ModelType.Role.OTHER, k));
		}
		this.model = MicroscopicModel.ofDense(hierarchy, new TimeSlices(0, slices, slices), typeList, Metric.ACCESSES, null,
				dense);
	}

	private JsonElement required(String key) {
		if (!input.has(key)) {
			throw new IllegalArgumentException("the key \"" + key + "\" is missing");
		}
		return input.get(key);
	}

	private JsonArray array(String key) {
		if (!required(key).isJsonArray()) {
			throw new IllegalArgumentException("\"" + key + "\" is not an array");
		}
		return input.getAsJsonArray(key);
	}

	private static int[] ints(JsonArray a) {
		int[] result = new int[a.size()];
		for (int i = 0; i < result.length; i++) {
			result[i] = a.get(i).getAsInt();
		}
		return result;
	}

	/** Model of the case. */
	public MicroscopicModel model() {
		return model;
	}

	/** The input with all results replaced by computed ones. */
	public JsonObject recompute(Progress progress) throws CancelledException {
		JsonObject result = new JsonObject();
		for (Map.Entry<String, JsonElement> e : input.entrySet()) {
			result.add(e.getKey(), e.getValue());
		}
		Aggregator both = SpatiotemporalAggregator.prepare(model);
		result.add("spatiotemporal", section(both, "spatiotemporal", false, true, progress));
		Aggregator time = TemporalAggregator.prepare(model).withFinerTies();
		result.add("temporal", section(time, "temporal", false, false, progress));
		result.add("temporal_normalized", section(time, "temporal_normalized", true, false, progress));
		return result;
	}

	private JsonObject section(Aggregator aggregator, String name, boolean normalised, boolean tree, Progress progress)
			throws CancelledException {
		JsonObject reference = input.has(name) ? input.getAsJsonObject(name) : new JsonObject();
		JsonObject out = new JsonObject();
		out.addProperty("normalized", normalised);
		double g = aggregator.rootGain();
		double l = aggregator.rootLoss();
		JsonObject root = new JsonObject();
		if (normalised && !(g > 0 && l > 0)) {
			out.addProperty("degenerate", "root gain or loss is 0: normalised qualities are not defined");
			root.add("gain", JsonNull.INSTANCE);
			root.add("loss", JsonNull.INSTANCE);
			out.add("root_quality", root);
			return out;
		}
		double gainScale = normalised ? 1 / g : 1;
		double lossScale = normalised ? 1 / l : 1;
		root.addProperty("gain", g * gainScale);
		root.addProperty("loss", l * lossScale);
		out.add("root_quality", root);
		if (reference.has("p_list_robust")) {
			out.add("p_list_robust", reference.get("p_list_robust"));
		}
		SignificantLevels levels = SignificantLevels.compute(aggregator, threshold, normalised, progress);
		JsonArray significant = new JsonArray();
		JsonArray tolerant = new JsonArray();
		for (SignificantLevels.Level level : levels.levels()) {
			significant.add(entry(level.p(), level.partition(), gainScale, lossScale, tree,
					reference.getAsJsonArray("significant")));
			JsonArray row = new JsonArray();
			row.add(level.p());
			row.add(level.partition().gain() * gainScale);
			row.add(level.partition().loss() * lossScale);
			row.add(level.partition().blockCount());
			tolerant.add(row);
		}
		out.add("significant", significant);
		if (tree) {
			out.add("significant_tolerant", tolerant);
		}
		JsonArray probes = new JsonArray();
		for (double p : probePoints(reference)) {
			double plain = normalised ? p / g / (p / g + (1 - p) / l) : p;
			probes.add(entry(p, aggregator.partition(plain, progress), gainScale, lossScale, tree,
					reference.getAsJsonArray("probes")));
		}
		out.add("probes", probes);
		boolean small = slices <= 12 && model.hierarchy().size() <= 15 && !normalised;
		if (reference.has("qualities") || small && !reference.has("significant")) {
			out.add("qualities", qualities(aggregator, gainScale, lossScale, tree));
		}
		return out;
	}

	private static double[] probePoints(JsonObject reference) {
		if (!reference.has("probes")) {
			return PROBES;
		}
		JsonArray probes = reference.getAsJsonArray("probes");
		double[] points = new double[probes.size()];
		for (int i = 0; i < points.length; i++) {
			points[i] = probes.get(i).getAsJsonObject().get("p").getAsDouble();
		}
		return points;
	}

	private JsonObject entry(double p, Partition partition, double gainScale, double lossScale, boolean tree,
			JsonArray reference) {
		JsonObject e = new JsonObject();
		e.addProperty("p", p);
		double gain = partition.gain() * gainScale;
		double loss = partition.loss() * lossScale;
		e.addProperty("gain", gain);
		e.addProperty("loss", loss);
		if (tree) {
			e.addProperty("value", p * gain - (1 - p) * loss);
		}
		if (reference != null) {
			for (JsonElement other : reference) {
				JsonObject o = other.getAsJsonObject();
				if (o.has("robust") && o.get("p").getAsDouble() == p) {
					e.add("robust", o.get("robust"));
				}
			}
		}
		List<int[]> blocks = new ArrayList<>();
		for (int i = 0; i < partition.blockCount(); i++) {
			int first = partition.firstSlice(i);
			int last = partition.endSlice(i) - 1;
			blocks.add(tree ? new int[] {hierarchy.producer(partition.node(i)), first, last} : new int[] {first, last});
		}
		blocks.sort(java.util.Arrays::compare);
		JsonArray list = new JsonArray();
		for (int[] block : blocks) {
			JsonArray row = new JsonArray();
			for (int x : block) {
				row.add(x);
			}
			list.add(row);
		}
		e.add(tree ? "aggregates" : "intervals", list);
		return e;
	}

	private JsonArray qualities(Aggregator aggregator, double gainScale, double lossScale, boolean tree) {
		JsonArray rows = new JsonArray();
		for (int id = 0; id < (tree ? hierarchy.size() : 1); id++) {
			int node = tree ? hierarchy.nodeOf(id) : 0;
			if (node < 0) {
				continue;
			}
			for (int i = 0; i < slices; i++) {
				for (int j = i; j < slices; j++) {
					JsonArray row = new JsonArray();
					if (tree) {
						row.add(id);
					}
					row.add(i);
					row.add(j);
					row.add(aggregator.gain(node, i, j + 1) * gainScale);
					row.add(aggregator.loss(node, i, j + 1) * lossScale);
					rows.add(row);
				}
			}
		}
		return rows;
	}
}
