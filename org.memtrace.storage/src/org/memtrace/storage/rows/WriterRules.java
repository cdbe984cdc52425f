// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.rows;

import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.model.StoreException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.tree.MemoryTrees;

/** The rules that all stores apply to what is written. */
public final class WriterRules {
	static final String EMPTY_TRACE = "the trace has neither accesses nor events, and a database without events cannot be opened by a view";

	private WriterRules() {
	}

	/**
	 * Refuses a row that cannot be.
	 *
	 * @param counted reads and writes of all rows before
	 * @return the same with this row; all sums of a trace have 64 bits
	 */
	public static long check(AccessBatch batch, int row, int cells, int threads, long counted) throws StoreException {
		if (batch.startNs[row] >= batch.endNs[row]) {
			throw new StoreException("access with an empty interval: " + batch.startNs[row] + " to " + batch.endNs[row]);
		}
		if (batch.producer[row] < 0 || batch.producer[row] >= cells) {
			throw new StoreException("access of the unknown page or event producer " + batch.producer[row]);
		}
		if (batch.thread[row] < AccessBatch.NO_THREAD || batch.thread[row] >= threads) {
			throw new StoreException("access of the unknown thread " + batch.thread[row]);
		}
		if (batch.reads[row] < 0 || batch.writes[row] < 0 || (batch.reads[row] | batch.writes[row]) == 0) {
			throw new StoreException(
					"access with " + batch.reads[row] + " reads and " + batch.writes[row] + " writes");
		}
		if (batch.sharing[row] < AccessBatch.SHARING_NOT_KNOWN) {
			throw new StoreException("access used by " + batch.sharing[row] + " threads");
		}
		try {
			return Math.addExact(counted, Math.addExact(batch.reads[row], batch.writes[row]));
		} catch (ArithmeticException e) {
			throw new StoreException("the reads and writes of all accesses together are more than " + Long.MAX_VALUE, e);
		}
	}

	/** Whether there is something to commit. */
	public static void check(long accesses, long otherEvents, MemoryTrees trees, int[] idOf) throws StoreException {
		if (accesses == 0 && otherEvents == 0) {
			throw new StoreException(EMPTY_TRACE);
		}
		if (trees == null) {
			throw new StoreException("the trace has no event producers");
		}
		if (accesses > 0 && idOf != null) {
			throw new StoreException("event producers of accesses must be known before them");
		}
	}

	/**
	 * The trace as stored: times widened to enclose all accesses, unknown texts replaced (FrameSoc wants no NULL).
	 *
	 * @param sharingNotKnown whether there are accesses of which it is not known whether the memory was shared
	 */
	public static TraceInfo complete(TraceInfo info, int id, String databaseName, long events, int producers, long firstNs,
			long lastNs, boolean sharingNotKnown) {
		Map<String, String> properties = new TreeMap<>(info.properties());
		properties.remove(TraceInfo.PROPERTY_SHARING_NOT_KNOWN);
		if (sharingNotKnown) {
			properties.put(TraceInfo.PROPERTY_SHARING_NOT_KNOWN, "of some accesses");
		}
		long start = Math.min(info.startNs(), firstNs);
		long end = Math.max(Math.max(info.endNs(), lastNs), start + 1);
		String alias = text(info.alias(), databaseName);
		return new TraceInfo(id, alias, databaseName, text(info.type(), TraceInfo.TYPE_MEMTRACE),
				text(info.application(), "unknown"), text(info.host(), "unknown"),
				text(info.operatingSystem(), "unknown"), info.cpus(), events, producers, start, end,
				info.recordedAt() == null ? java.time.Instant.EPOCH : info.recordedAt(), info.pageSizeBytes(),
				info.description() == null ? "" : info.description(), properties);
	}

	private static String text(String value, String otherwise) {
		return value == null || value.isBlank() ? otherwise : value;
	}

	/** First CPU of an access, 0 when not known. */
	public static int cpu(List<BitSet> cpuSets, int set) {
		return set < 0 || set >= cpuSets.size() || cpuSets.get(set).isEmpty() ? 0 : cpuSets.get(set).nextSetBit(0);
	}
}
