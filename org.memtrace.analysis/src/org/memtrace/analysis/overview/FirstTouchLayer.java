// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import java.util.List;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.FirstTouches;
import org.memtrace.aggregation.ModelType;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/**
 * Where and by whom each page was touched first, to be drawn over a picture of memory. It is a fact of the trace: filters do not change it.
 *
 * @param touches of the pages
 * @param threads type of each thread, by its index: its name and colour
 */
public record FirstTouchLayer(FirstTouches touches, List<ModelType> threads) {
	/** Whether a picture has it. */
	public enum Shown {
		/** Only the picture by thread. */
		AUTO,
		/** Every picture of memory. */
		YES,
		/** None. */
		NO;

		/** Whether the picture by a dimension has it. */
		public boolean in(Dimension viewpoint) {
			return this == YES || this == AUTO && viewpoint == BasicDimensions.THREAD;
		}
	}

	/** Reads it, the first time for a table by a pass over the accesses. */
	public static FirstTouchLayer of(AccessTable table, Progress progress) throws MemtraceException {
		return new FirstTouchLayer(table.firstTouches(progress), table.threads().stream().map(ModelType::thread).toList());
	}

	/** What a thread is drawn as; -1 is nobody that is known. */
	ModelType type(int thread) {
		return thread >= 0 && thread < threads.size() ? threads.get(thread) : new ModelType("unknown", ModelType.Role.UNKNOWN, 0);
	}
}
