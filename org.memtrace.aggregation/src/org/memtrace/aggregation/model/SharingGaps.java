// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.model;

import java.util.Arrays;
import java.util.List;

import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.ModelType.Role;

/**
 * Makes of a model one to find cuts with, where of some accesses it is not known whether they are shared. That the recorder found it out
 * for one interval and not for the next one is no change of the program: a cut between them would show a phase that there is not. What is
 * not known counts as what is known of the same row nearest in time, of equal distances the earlier. A row of which nothing is known stays
 * as it is. Pictures and numbers have the values of the model itself.
 */
public final class SharingGaps {
	private static final int NONE = -1;

	private final MicroscopicModel model;
	private final int k;
	/** Type for each kind of sharing (private, shared, not known) and direction; {@link #NONE}: the model has none. */
	private final int[][] type = new int[3][2];
	/** Kind of sharing and direction of each type. */
	private final int[] kindOf;
	private final int[] directionOf;
	// of a row, by slice: amounts of what is known, and the kind that is nearest
	private final double[][] known;
	private final int[] nearest;
	private final double[] value;
	private final double[] information;
	private final boolean[] set;

	private SharingGaps(MicroscopicModel model) {
		this.model = model;
		this.k = model.typeCount();
		kindOf = new int[k];
		directionOf = new int[k];
		Arrays.fill(kindOf, NONE);
		Arrays.stream(type).forEach(t -> Arrays.fill(t, NONE));
		List<ModelType> types = model.types();
		for (int x = 0; x < k; x++) {
			Role role = types.get(x).role();
			kindOf[x] = switch (role) {
			case PRIVATE_READ, PRIVATE_WRITE -> 0;
			case SHARED_READ, SHARED_WRITE -> 1;
			case NOT_KNOWN_READ, NOT_KNOWN_WRITE -> 2;
			default -> NONE;
			};
			directionOf[x] = role == Role.PRIVATE_WRITE || role == Role.SHARED_WRITE || role == Role.NOT_KNOWN_WRITE ? 1 : 0;
			if (kindOf[x] != NONE) {
				type[kindOf[x]][directionOf[x]] = x;
			}
		}
		known = new double[model.sliceCount()][2];
		nearest = new int[model.sliceCount()];
		value = new double[model.sliceCount() * k];
		information = model.isGrouped() ? new double[value.length] : null;
		set = new boolean[value.length];
	}

	/** The model itself where everything is known, or its rows are no memory over time. */
	public static MicroscopicModel closed(MicroscopicModel model) {
		boolean any = model.types().stream().anyMatch(t -> t.role() == Role.NOT_KNOWN_READ || t.role() == Role.NOT_KNOWN_WRITE);
		return any && model.places() == MicroscopicModel.Places.NONE ? new SharingGaps(model).close() : model;
	}

	private MicroscopicModel close() {
		MicroscopicModel.Appender cells = new MicroscopicModel.Appender(model.hierarchy().leafCount());
		for (int leaf = 0; leaf < model.hierarchy().leafCount(); leaf++) {
			boolean any = lookAt(leaf);
			for (int c = model.cellFrom(leaf); c < model.cellTo(leaf); c++) {
				int key = any ? key(model.key(c)) : model.key(c);
				value[key] += model.value(c);
				set[key] = true;
				if (information != null) {
					information[key] += model.information(c, 1);
				}
			}
			append(leaf, cells);
			cells.endLeaf();
		}
		return model.withCells(cells);
	}

	/** Finds what is known of a row; returns whether something is, and something else is not. */
	private boolean lookAt(int leaf) {
		boolean some = false;
		boolean gaps = false;
		for (int c = model.cellFrom(leaf); c < model.cellTo(leaf); c++) {
			int kind = kindOf[model.key(c) % k];
			some |= kind == 0 || kind == 1;
			gaps |= kind == 2;
		}
		if (!some || !gaps) {
			return false;
		}
		Arrays.stream(known).forEach(v -> Arrays.fill(v, 0));
		for (int c = model.cellFrom(leaf); c < model.cellTo(leaf); c++) {
			int kind = kindOf[model.key(c) % k];
			if (kind == 0 || kind == 1) {
				known[model.key(c) / k][kind] += Math.abs(model.value(c));
			}
		}
		int last = -1;
		for (int t = 0; t < nearest.length; t++) {
			if (known[t][0] == 0 && known[t][1] == 0) {
				continue;
			}
			int here = known[t][1] > known[t][0] ? 1 : 0;
			for (int gap = last + 1; gap < t; gap++) {
				nearest[gap] = last < 0 || t - gap < gap - last ? here : nearest[last];
			}
			nearest[t] = here;
			last = t;
		}
		for (int gap = last + 1; gap < nearest.length; gap++) {
			nearest[gap] = nearest[last];
		}
		return true;
	}

	private int key(int key) {
		int x = key % k;
		if (kindOf[x] != 2) {
			return key;
		}
		int to = type[nearest[key / k]][directionOf[x]];
		return to == NONE ? key : key - x + to;
	}

	/** Adds the values of a row by increasing key, and takes them away. */
	private void append(int leaf, MicroscopicModel.Appender cells) {
		if (model.cellFrom(leaf) == model.cellTo(leaf)) {
			return;
		}
		int from = model.key(model.cellFrom(leaf)) / k * k;
		int to = (model.key(model.cellTo(leaf) - 1) / k + 1) * k;
		for (int key = from; key < to; key++) {
			if (set[key]) {
				if (information == null) {
					cells.add(key, value[key]);
				} else {
					cells.add(key, value[key], information[key]);
					information[key] = 0;
				}
				value[key] = 0;
				set[key] = false;
			}
		}
	}
}
