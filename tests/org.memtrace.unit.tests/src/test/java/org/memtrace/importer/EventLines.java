// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;

/** The events of an imported trace, each in a line: type, category, producer, start, end, value, parameters. */
public final class EventLines {
	private EventLines() {
	}

	/** All events, sorted as texts. */
	public static List<String> of(TraceCatalogue catalogue, ImportReport report) throws MemtraceException {
		List<String> lines = new ArrayList<>();
		try (TraceStore store = catalogue.open(report.trace().id())) {
			List<EventType> types = store.eventTypes();
			store.visitEvents(AccessQuery.ALL, b -> {
				List<String> parameters = store.eventParameters(Arrays.copyOf(b.id, b.count));
				for (int i = 0; i < b.count; i++) {
					EventType type = types.get(b.type[i]);
					lines.add((type.name() + " " + type.category() + " " + store.producers().name(b.producer[i]) + " " + b.startNs[i] + " "
							+ b.endNs[i] + " " + (type.category() == EventCategory.LINK ? "to " + store.producers().name((int) b.value[i])
									: b.value[i]) + " " + parameters.get(i)).strip());
				}
			}, Progress.NONE);
		}
		lines.sort(null);
		return lines;
	}
}
