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
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;

/** The events of an imported trace, each in a line. */
public final class EventLines {
	private EventLines() {
	}

	/** What a test wants to see of an event, {@code i} in its batch. */
	@FunctionalInterface
	public interface Line {
		String of(TraceStore store, EventType type, EventBatch b, int i) throws MemtraceException;
	}

	/** All events, sorted as texts: type, category, producer, start, end, value, parameters. */
	public static List<String> of(TraceCatalogue catalogue, ImportReport report) throws MemtraceException {
		return of(catalogue, report, (store, type, b, i) -> type.name() + " " + type.category() + " " + store.producers().name(b.producer[i])
				+ " " + b.startNs[i] + " " + b.endNs[i] + " "
				+ (type.category() == EventCategory.LINK ? "to " + store.producers().name((int) b.value[i]) : b.value[i])).stream().sorted()
				.toList();
	}

	/** All events in the order of the store: the line of each, with its parameters at the end. */
	public static List<String> of(TraceCatalogue catalogue, ImportReport report, Line line) throws MemtraceException {
		List<String> lines = new ArrayList<>();
		try (TraceStore store = catalogue.open(report.trace().id())) {
			List<EventType> types = store.eventTypes();
			store.visitEvents(AccessQuery.ALL, b -> {
				List<String> parameters = store.eventParameters(Arrays.copyOf(b.id, b.count));
				for (int i = 0; i < b.count; i++) {
					lines.add((line.of(store, types.get(b.type[i]), b, i) + " " + parameters.get(i)).strip());
				}
			}, Progress.NONE);
		}
		return lines;
	}
}
