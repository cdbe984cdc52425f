// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.selection;

import java.util.List;

import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.tree.ProducerTree;

/** A trace that is shown, and what all of its views look at: what a presenter needs to know of it. */
public interface SelectedTrace {
	/** What a person calls it. */
	String name();

	TraceInfo info();

	ProducerTree producers();

	List<ThreadInfo> threads();

	/** Whether it is a memory trace. */
	boolean hasAccesses();

	/** The structure, stack, range or group that a producer is or belongs to, -1 for what is above them. */
	int memberOf(int producer);

	/** What all views of the trace look at. */
	TraceSelection selection();
}
