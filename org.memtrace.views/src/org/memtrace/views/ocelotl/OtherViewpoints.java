// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.util.List;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.model.ModelSource;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/** Models of the viewpoints that people change to most, made before somebody asks for them. */
final class OtherViewpoints {
	/** Smaller traces are aggregated at once from any viewpoint. */
	private static final int PREPARE_FROM = 500_000;
	/** What people change to most. */
	private static final List<Dimension> PREPARED = List.of(BasicDimensions.TYPE, BasicDimensions.THREAD, BasicDimensions.READ_WRITE,
			BasicDimensions.CPU, BasicDimensions.NODE);

	private OtherViewpoints() {
	}

	/** Makes the models of the other viewpoints, so that changing to one of them is immediate. */
	static void prepare(Description.Input input, Progress progress) throws MemtraceException {
		ModelSource source = input.source(progress);
		if (source.records() < PREPARE_FROM) {
			return;
		}
		for (Dimension v : PREPARED) {
			ModelRequest request = input.request(source, v);
			if (request.viewpoint() == v && input.models().hasRoomFor(24L * source.records() / 4)) {
				input.model(source, request, input.models().machine(input.trace(), source, input.state(), request, input.sides(), progress),
						progress);
			}
		}
	}
}
