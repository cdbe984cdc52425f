// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.parts;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.List;

/**
 * What is said about the rows of a part of the lines of a trace. Rows are in blocks; in those of an image the rows of a page are in the
 * order in which they were read. Numbers in rows are those of the tables; code addresses are numbers in a table of their own.
 *
 * @param ips code addresses
 * @param blocks what each block has
 */
public record RowsPart(PartHead head, RowTables tables, long[] ips, List<Block> blocks) {
	/** First text in a file: what it is, with the version of its content. */
	public static final String STAMP = "file of rows of an import, version 1";

	/**
	 * A block of rows.
	 *
	 * @param image index of the image
	 * @param firstPage number of the first page
	 * @param lastPage number of the last, by signed comparison
	 */
	public record Block(int image, int rows, long firstPage, long lastPage) {
	}

	/** Writes it as the head of a file. */
	public void write(DataOutputStream out) throws IOException {
		head.write(out);
		tables.write(out);
		out.writeInt(ips.length);
		for (long ip : ips) {
			out.writeLong(ip);
		}
		out.writeInt(blocks.size());
		for (Block block : blocks) {
			out.writeInt(block.image);
			out.writeInt(block.rows);
			out.writeLong(block.firstPage);
			out.writeLong(block.lastPage);
		}
	}

	/** Reads what {@link #write} wrote. */
	public static RowsPart read(DataInputStream in) throws IOException {
		PartHead head = PartHead.read(in);
		RowTables tables = RowTables.read(in);
		long[] ips = new long[PartFile.count(in)];
		for (int i = 0; i < ips.length; i++) {
			ips[i] = in.readLong();
		}
		Block[] blocks = new Block[PartFile.count(in)];
		for (int i = 0; i < blocks.length; i++) {
			blocks[i] = new Block(in.readInt(), in.readInt(), in.readLong(), in.readLong());
		}
		return new RowsPart(head, tables, ips, List.of(blocks));
	}
}
