// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.analysis.text.NodeNames;

/** The blocks of a partition as a table: the numbers behind a picture. */
public final class PartitionTable {
	private PartitionTable() {
	}

	/** Name of what a block covers; the first and the last where it is a group of small siblings. */
	public static String producer(Partition e, NodeNames names, int block) {
		if (e.leafFrom(block) == 0 && e.leafTo(block) == e.model().hierarchy().leafCount()
				|| !e.tree().isGroup(e.treeNode(block))) {
			return names.name(e.node(block));
		}
		MicroscopicModel m = e.model();
		return names.name(m.hierarchy().leafNode(e.leafFrom(block))) + " … "
				+ names.name(m.hierarchy().leafNode(e.leafTo(block) - 1));
	}

	/**
	 * A block in words and numbers.
	 *
	 * @param main the strongest type, null when there is nothing
	 * @param share of the strongest type, in per cent of the block
	 * @param value sum of all types, or their mean
	 * @param lossPercent information lost inside, in per cent of what a single block over everything loses
	 */
	public record Row(String producer, int node, long pages, long fromNs, long toNs, ModelType main, double share, double value,
			double lossPercent) {
	}

	/** The blocks that are at least partly inside of a range of cells, in order of memory and time. */
	public static List<Row> rows(Partition e, NodeNames names, int leafFrom, int leafTo, int firstSlice, int endSlice) {
		MicroscopicModel m = e.model();
		List<Row> rows = new ArrayList<>();
		for (int b = 0; b < e.blockCount(); b++) {
			if (e.leafFrom(b) >= leafTo || e.leafTo(b) <= leafFrom || e.firstSlice(b) >= endSlice || e.endSlice(b) <= firstSlice) {
				continue;
			}
			double[] values = m.values(e.leafFrom(b), e.leafTo(b), e.firstSlice(b), e.endSlice(b));
			int main = -1;
			double sum = 0;
			for (int k = 0; k < values.length; k++) {
				sum += Math.max(0, values[k]);
				main = values[k] > 0 && (main < 0 || values[k] > values[main]) ? k : main;
			}
			rows.add(new Row(producer(e, names, b), e.node(b), m.hierarchy().weight(e.leafFrom(b), e.leafTo(b)),
					m.slices().boundNs(e.firstSlice(b)), m.slices().boundNs(e.endSlice(b)), main < 0 ? null : m.types().get(main),
					main < 0 ? 0 : 100 * values[main] / sum, sum, e.rootLoss() > 0 ? 100 * e.loss(b) / e.rootLoss() : 0));
		}
		return rows;
	}

	/** One line for each block, in order of memory and time, with its values by type. */
	public static String csv(Partition e, NodeNames names) {
		MicroscopicModel m = e.model();
		StringBuilder b = new StringBuilder("producer,producer_id,pages,start_ns,end_ns,gain,loss,")
				.append(m.types().stream().map(ModelType::name).map(PartitionTable::quoted).collect(Collectors.joining(",")))
				.append('\n');
		for (int i = 0; i < e.blockCount(); i++) {
			b.append(quoted(producer(e, names, i))).append(',').append(m.hierarchy().producer(e.node(i))).append(',')
					.append(m.hierarchy().weight(e.leafFrom(i), e.leafTo(i))).append(',')
					.append(m.slices().boundNs(e.firstSlice(i))).append(',').append(m.slices().boundNs(e.endSlice(i))).append(',')
					.append(e.gain(i)).append(',').append(e.loss(i));
			for (double v : m.values(e.leafFrom(i), e.leafTo(i), e.firstSlice(i), e.endSlice(i))) {
				b.append(',').append(number(v));
			}
			b.append('\n');
		}
		return b.toString();
	}

	/**
	 * One line for each block of a partition of two hierarchies, in order of both, with its values by type.
	 *
	 * @param columns names of the second hierarchy
	 */
	public static String csv(Partition e, NodeNames names, NodeNames columns) {
		MicroscopicModel m = e.model();
		StringBuilder b = new StringBuilder("producer,producer_id,pages,part,part_cpus,gain,loss,")
				.append(m.types().stream().map(ModelType::name).map(PartitionTable::quoted).collect(Collectors.joining(",")))
				.append('\n');
		for (int i = 0; i < e.blockCount(); i++) {
			b.append(quoted(producer(e, names, i))).append(',').append(m.hierarchy().producer(e.node(i))).append(',')
					.append(m.hierarchy().weight(e.leafFrom(i), e.leafTo(i))).append(',').append(quoted(columns.name(e.columnNode(i))))
					.append(',').append(e.endSlice(i) - e.firstSlice(i)).append(',').append(e.gain(i)).append(',').append(e.loss(i));
			for (double v : m.sums(e.leafFrom(i), e.leafTo(i), e.firstSlice(i), e.endSlice(i))) {
				b.append(',').append(number(v));
			}
			b.append('\n');
		}
		return b.toString();
	}

	/** Whole numbers without a fraction. */
	private static String number(double v) {
		return v == Math.rint(v) && Math.abs(v) < 1e15 ? Long.toString((long) v) : Double.toString(v);
	}

	private static String quoted(String s) {
		return s.matches("[^\",\r\n]*") ? s : '"' + s.replace("\"", "\"\"") + '"';
	}
}
