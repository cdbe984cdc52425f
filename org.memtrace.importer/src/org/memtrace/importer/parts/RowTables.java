// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.parts;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What rows of accesses refer to by number, and what was counted while they were read: of a part of the rows of a trace, or of all. All
 * numbers are in order of appearance, so that the tables of parts that follow each other make those of the whole.
 *
 * @param images in order of their index, also those that ranks share
 * @param cpuSets sets of CPUs
 * @param counts numbers, whose meaning is that of the import
 */
public record RowTables(List<OfImage> images, List<BitSet> cpuSets, long[] counts) {
	/**
	 * Of a process image. Leaves are columns: number of the page, structure or -1, page frame, NUMA node, and number of rows.
	 *
	 * @param unlisted task ids of threads that only accesses tell of
	 * @param skips what was not used
	 * @param firstStartNs start of the first row that was read of the image
	 * @param lastStartNs start of the last one
	 * @param read rows that were read of it; some may belong to an image that ranks share
	 * @param unsorted of these, how many began before the one that was read before
	 */
	public record OfImage(int index, long[] page, int[] structure, long[] frame, int[] node, int[] rows, long[] unlisted, Skips skips,
			long firstStartNs, long lastStartNs, long read, long unsorted) {
		/** Number of leaves. */
		public int leaves() {
			return page.length;
		}
	}

	/**
	 * What was not used.
	 *
	 * @param byReason rows
	 * @param firstPlaces by reason, in order of appearance
	 */
	public record Skips(Map<String, Long> byReason, Map<String, String> firstPlaces, List<String> warnings, long incompleteLines) {
	}

	void write(DataOutputStream out) throws IOException {
		out.writeInt(images.size());
		for (OfImage image : images) {
			out.writeInt(image.index);
			out.writeInt(image.leaves());
			for (int leaf = 0; leaf < image.leaves(); leaf++) { // neighbours in appearance are often neighbours in memory
				out.writeLong(image.page[leaf] - (leaf == 0 ? 0 : image.page[leaf - 1]));
			}
			for (int[] column : new int[][] {image.structure, image.node, image.rows}) {
				for (int v : column) {
					out.writeInt(v);
				}
			}
			for (long v : image.frame) {
				out.writeLong(v);
			}
			out.writeInt(image.unlisted.length);
			for (long v : image.unlisted) {
				out.writeLong(v);
			}
			out.writeInt(image.skips.firstPlaces.size());
			for (Map.Entry<String, String> first : image.skips.firstPlaces.entrySet()) {
				PartFile.text(out, first.getKey());
				PartFile.text(out, first.getValue());
				out.writeLong(image.skips.byReason.get(first.getKey()));
			}
			out.writeInt(image.skips.warnings.size());
			for (String warning : image.skips.warnings) {
				PartFile.text(out, warning);
			}
			out.writeLong(image.skips.incompleteLines);
			out.writeLong(image.firstStartNs);
			out.writeLong(image.lastStartNs);
			out.writeLong(image.read);
			out.writeLong(image.unsorted);
		}
		out.writeInt(cpuSets.size());
		for (BitSet set : cpuSets) {
			long[] words = set.toLongArray();
			out.writeInt(words.length);
			for (long word : words) {
				out.writeLong(word);
			}
		}
		out.writeInt(counts.length);
		for (long count : counts) {
			out.writeLong(count);
		}
	}

	static RowTables read(DataInputStream in) throws IOException {
		List<OfImage> images = new ArrayList<>();
		for (int n = PartFile.count(in); n > 0; n--) {
			images.add(image(in));
		}
		List<BitSet> sets = new ArrayList<>();
		for (int n = PartFile.count(in); n > 0; n--) {
			sets.add(BitSet.valueOf(longs(in, PartFile.count(in))));
		}
		return new RowTables(images, sets, longs(in, PartFile.count(in)));
	}

	private static OfImage image(DataInputStream in) throws IOException {
		int index = in.readInt();
		int leaves = PartFile.count(in);
		long[] page = longs(in, leaves);
		for (int leaf = 1; leaf < leaves; leaf++) {
			page[leaf] += page[leaf - 1];
		}
		int[] structure = ints(in, leaves);
		int[] node = ints(in, leaves);
		int[] rows = ints(in, leaves);
		long[] frame = longs(in, leaves);
		long[] unlisted = longs(in, PartFile.count(in));
		Map<String, Long> byReason = new LinkedHashMap<>();
		Map<String, String> firstPlaces = new LinkedHashMap<>();
		for (int n = PartFile.count(in); n > 0; n--) {
			String reason = PartFile.text(in);
			firstPlaces.put(reason, PartFile.text(in));
			byReason.put(reason, in.readLong());
		}
		List<String> warnings = new ArrayList<>();
		for (int n = PartFile.count(in); n > 0; n--) {
			warnings.add(PartFile.text(in));
		}
		Skips skips = new Skips(byReason, firstPlaces, warnings, in.readLong());
		return new OfImage(index, page, structure, frame, node, rows, unlisted, skips, in.readLong(), in.readLong(), in.readLong(),
				in.readLong());
	}

	private static long[] longs(DataInputStream in, int n) throws IOException {
		long[] numbers = new long[n];
		for (int i = 0; i < n; i++) {
			numbers[i] = in.readLong();
		}
		return numbers;
	}

	private static int[] ints(DataInputStream in, int n) throws IOException {
		int[] numbers = new int[n];
		for (int i = 0; i < n; i++) {
			numbers[i] = in.readInt();
		}
		return numbers;
	}
}
