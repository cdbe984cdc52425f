// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.access;

import java.util.List;

import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.importer.rows.RowSpill;
import org.memtrace.importer.rows.SpilledRow;
import org.memtrace.importer.sharing.SharingEvidence;
import org.memtrace.importer.sharing.SharingSweep;
import org.memtrace.importer.tree.LeafTable;
import org.memtrace.importer.tree.MemoryMap;
import org.memtrace.importer.tree.StructureIndex;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.store.AccessBatch;

/** What the first pass found out about one process image; {@code cellOfLeaf} is filled in when the trees are built. */
final class ImageData implements AutoCloseable {
	private final TraceDirectory.Image image;
	private final LeafTable leaves;
	private RowSpill rows;
	private final SharingEvidence evidence;
	private SharingSweep sharing;
	private PanelSharing panel;
	private int[] cellOfLeaf;
	/** Rows that are elsewhere: this was made of the tables of parts. */
	private long rowsElsewhere;
	private long firstStartNs;
	private long lastStartNs;
	private long read;
	private final MemoryMap map;
	private final StructureIndex structures;

	ImageData(TraceDirectory.Image image, int pageShift, List<org.memtrace.model.memory.Structure> structures, RowSpill rows,
			SharingEvidence evidence) {
		this.image = image;
		this.evidence = evidence;
		this.sharing = new SharingSweep(evidence);
		this.leaves = new LeafTable(pageShift);
		this.rows = rows;
		this.map = image.directory() == null ? new MemoryMap() : MemoryMap.read(image.directory());
		this.structures = new StructureIndex(structures);
	}

	int index() {
		return image.index();
	}

	TraceDirectory.Image image() {
		return image;
	}

	LeafTable leaves() {
		return leaves;
	}

	StructureIndex structures() {
		return structures;
	}

	MemoryMap map() {
		return map;
	}

	RowSpill rows() {
		return rows;
	}

	/** Number of rows, wherever they are. */
	long rowCount() {
		return rowsElsewhere + rows.rows();
	}

	/** So many more rows are elsewhere. */
	void rowsElsewhere(long more) {
		rowsElsewhere += more;
	}

	/** Rows that were read of the image, in this order: the start of the first and of the last one. */
	void read(long more, long firstNs, long lastNs) {
		if (more > 0) {
			firstStartNs = read == 0 ? firstNs : firstStartNs;
			lastStartNs = lastNs;
			read += more;
		}
	}

	/** Rows that were read of the image; some may be in an image that ranks share. */
	long read() {
		return read;
	}

	long firstStartNs() {
		return firstStartNs;
	}

	long lastStartNs() {
		return lastStartNs;
	}

	SharingSweep sharing() {
		return sharing;
	}

	/** Tells what the panel of the image says, once. */
	void panel(List<ThreadInfo> threads) throws MemtraceException {
		if (panel == null) {
			panel = PanelSharing.of(image, leaves, structures, threads, evidence);
		}
	}

	/** Sharing of a record, by the order of the rows; {@link AccessBatch#SHARING_NOT_KNOWN} where one thread was seen. */
	int sharing(int number, SpilledRow row) {
		int seen = sharing.sharing(number);
		return seen == AccessBatch.SHARING_NOT_KNOWN && panel != null ? panel.sharing(row, sharing.looks(number)) : seen;
	}

	/** Cell of the trace for each leaf of the table. */
	int[] cellOfLeaf() {
		return cellOfLeaf;
	}

	void cellOfLeaf(int[] cells) {
		cellOfLeaf = cells;
	}

	/** The rows in another order; their sharing is found anew: the sweep gets them. */
	SharingSweep sorted(RowSpill newRows) {
		rows = newRows;
		sharing = new SharingSweep(evidence);
		return sharing;
	}

	@Override
	public void close() {
		rows.close();
	}
}
