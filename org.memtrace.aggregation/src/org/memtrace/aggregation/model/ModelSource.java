// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.model;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.tree.ProducerTree;

/** A trace from which microscopic models are made. Safe for all threads. */
public interface ModelSource {
	TraceInfo info();

	ProducerTree producers();

	/** Number of records or events. */
	long records() throws MemtraceException;

	/** What the models are made of, by which they can be kept: the same object for as long as they are the same. */
	default Object data() {
		return this;
	}

	/** Hierarchy of the whole tree ({@link ModelRequest#WHOLE_TREE}) or of a subtree. */
	Hierarchy hierarchy(int producer, Progress progress) throws MemtraceException;

	/**
	 * Makes a model over a hierarchy that {@link #hierarchy} returned for the same producer.
	 *
	 * @throws IllegalArgumentException if the source has no such viewpoint or metric
	 */
	MicroscopicModel model(ModelRequest request, Hierarchy hierarchy, Progress progress) throws MemtraceException;

	/** Makes a model. */
	default MicroscopicModel model(ModelRequest request, Progress progress) throws MemtraceException {
		return model(request, hierarchy(request.producer(), progress), progress);
	}
}
