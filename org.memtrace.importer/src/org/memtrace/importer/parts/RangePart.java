// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.parts;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * What is said about the coded accesses of a range of pages; the blocks of its file are the accesses in order.
 *
 * @param fanout of the tree of event producers
 * @param rules merging rules of the tree
 * @param fingerprint of all rows, the tree and its cells
 * @param from first of the pieces into which all accesses are divided
 * @param to piece after the last
 * @param pieces of the whole
 * @param accesses of this part
 * @param reads of these
 * @param writes of these
 * @param tables of all parts; only in one that has the first piece, else null
 */
public record RangePart(PartHead head, int fanout, List<String> rules, long fingerprint, int from, int to, int pieces, long accesses,
		long reads, long writes, RowTables tables) {
	/** First text in a file: what it is, with the version of its content. */
	public static final String STAMP = "part of an import, version 1";

	/** Writes it as the head of a file. */
	public void write(DataOutputStream out) throws IOException {
		head.write(out);
		out.writeInt(fanout);
		out.writeInt(rules.size());
		for (String rule : rules) {
			PartFile.text(out, rule);
		}
		out.writeLong(fingerprint);
		out.writeInt(from);
		out.writeInt(to);
		out.writeInt(pieces);
		out.writeLong(accesses);
		out.writeLong(reads);
		out.writeLong(writes);
		out.writeBoolean(tables != null);
		if (tables != null) {
			tables.write(out);
		}
	}

	/** Reads what {@link #write} wrote. */
	public static RangePart read(DataInputStream in) throws IOException {
		PartHead head = PartHead.read(in);
		int fanout = in.readInt();
		List<String> rules = new ArrayList<>();
		for (int n = PartFile.count(in); n > 0; n--) {
			rules.add(PartFile.text(in));
		}
		return new RangePart(head, fanout, rules, in.readLong(), in.readInt(), in.readInt(), in.readInt(), in.readLong(), in.readLong(),
				in.readLong(), in.readBoolean() ? RowTables.read(in) : null);
	}
}
