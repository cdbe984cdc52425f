// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.columns.ChunkInfo;
import org.memtrace.model.columns.DamagedChunkException;
import org.memtrace.model.columns.Losses;

/** The rows of another source, which has one chunk, in chunks of other sizes; one of them may be damaged. */
public final class Rechunked implements AccessSource {
	private final AccessChunk all = new AccessChunk();
	private final int[] cut;
	private final ChunkInfo[] infos;
	public int damaged = -1;
	private volatile Losses losses = Losses.NONE;

	public Rechunked(AccessSource source, Random random, int most) throws MemtraceException {
		assertEquals(1, source.chunks());
		source.read(0, EnumSet.allOf(AccessColumn.class), all);
		List<Integer> cuts = new ArrayList<>(List.of(0));
		while (cuts.getLast() < all.rows) {
			cuts.add(Math.min(all.rows, cuts.getLast() + 1 + random.nextInt(most)));
		}
		cut = cuts.stream().mapToInt(Integer::intValue).toArray();
		infos = new ChunkInfo[cut.length - 1];
		for (int c = 0; c < infos.length; c++) {
			long start = Long.MAX_VALUE;
			long end = Long.MIN_VALUE;
			long reads = 0;
			long writes = 0;
			for (int r = cut[c]; r < cut[c + 1]; r++) {
				start = Math.min(start, all.startNs(r));
				end = Math.max(end, all.endNs(r));
				reads += all.reads[r];
				writes += all.writes[r];
			}
			infos[c] = new ChunkInfo(cut[c + 1] - cut[c], producer(cut[c]), producer(cut[c + 1] - 1) + 1, start, end, reads, writes,
					cut[c]);
		}
	}

	private int producer(int row) {
		int leaf = Arrays.binarySearch(all.leafFrom, 0, all.leaves + 1, row);
		return all.leaf[leaf < 0 ? -leaf - 2 : leaf];
	}

	@Override
	public Losses losses() {
		return losses;
	}

	@Override
	public int chunks() {
		return infos.length;
	}

	@Override
	public ChunkInfo info(int chunk) {
		return infos[chunk];
	}

	@Override
	public long rows() {
		return all.rows;
	}

	@Override
	public void read(int chunk, Set<AccessColumn> wanted, AccessChunk into) throws MemtraceException {
		if (chunk == damaged) {
			into.rows = 0;
			into.leaves = 0;
			losses = new Losses(1, infos[chunk].rows(), infos[chunk].reads(), infos[chunk].writes(),
					"test.db: chunk " + chunk + " is damaged");
			throw new DamagedChunkException(chunk, losses.reason());
		}
		int n = infos[chunk].rows();
		into.reserve(n, n, all.times);
		into.rows = n;
		into.leaves = 0;
		for (int r = 0; r < n; r++) {
			int row = cut[chunk] + r;
			int producer = producer(row);
			if (into.leaves == 0 || into.leaf[into.leaves - 1] != producer) {
				into.leaf[into.leaves] = producer;
				into.leafFrom[into.leaves++] = r;
			}
			for (AccessColumn c : AccessColumn.values()) { // what is not wanted is rubbish
				copy(c, row, into, r, wanted.contains(c));
			}
		}
		into.leafFrom[into.leaves] = n;
		if (wanted.contains(AccessColumn.TIME)) {
			into.times = all.times;
			System.arraycopy(all.timeStartNs, 0, into.timeStartNs, 0, all.times);
			System.arraycopy(all.timeEndNs, 0, into.timeEndNs, 0, all.times);
		}
	}

	private void copy(AccessColumn c, int row, AccessChunk into, int r, boolean wanted) {
		switch (c) {
		case TIME -> into.time[r] = wanted ? all.time[row] : -7;
		case THREAD -> into.thread[r] = wanted ? all.thread[row] : -7;
		case CPU_SET -> into.cpuSet[r] = wanted ? all.cpuSet[row] : -7;
		case READS -> into.reads[r] = wanted ? all.reads[row] : -7;
		case WRITES -> into.writes[r] = wanted ? all.writes[row] : -7;
		case SHARING -> into.sharing[r] = wanted ? all.sharing[row] : -7;
		case NODE -> into.node[r] = wanted ? all.node[row] : -7;
		case FLAGS -> into.flags[r] = wanted ? all.flags[row] : -7;
		case IP -> into.ip[r] = wanted ? all.ip[row] : -7;
		case READ_OFFSET -> into.readOffset[r] = wanted ? all.readOffset[row] : -7;
		case WRITE_OFFSET -> into.writeOffset[r] = wanted ? all.writeOffset[row] : -7;
		case FIRST -> into.firstNs[r] = wanted ? all.firstNs[row] : -7;
		}
	}
}
