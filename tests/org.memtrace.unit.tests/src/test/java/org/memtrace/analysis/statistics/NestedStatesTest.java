// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.statistics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.analysis.findings.EventSummary;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.storage.Stores;

/** A region around everything gets the time that is its own, whoever asks: aggregation, sums and summary agree. */
class NestedStatesTest {
	@Test
	void aroundEverything() throws Exception {
		try (TraceCatalogue catalogue = Stores.inMemory(); TraceWriter writer = catalogue.create("nested")) {
			writer.eventTypes(List.of(new EventType(0, EventCategory.STATE, "task"), new EventType(1, EventCategory.STATE, "loop")));
			writer.producers(ProducerTreeBuilder.flat("thread 0", "thread 1"));
			EventBatch batch = new EventBatch(100);
			for (int thread = 0; thread < 2; thread++) {
				for (int i = 0; i < 10; i++) {
					batch.add(0, 1, thread, 100 * i + 3, 100 * i + 100, 1, 0);
				}
				batch.add(0, 0, thread, 0, 1000, 0, 0);
			}
			writer.events(batch);
			TraceInfo info = writer.commit(new TraceInfo(-1, "nested", "", "events", "", "", "", 0, 0, 0, 0, 1000, Instant.EPOCH, 0, "",
					Map.of()), null, Progress.NONE);
			try (TraceStore store = catalogue.open(info.id())) {
				EventTable table = EventTable.load(store, Progress.NONE);
				assertTrue(table.statesNest());
				Map<String, Double> own = Map.of("task", 60.0, "loop", 1940.0);
				assertEquals(new TreeMap<>(own), sums(table, Statistics.Sum.STATE_TIME));
				assertEquals(new TreeMap<>(Map.of("task", 2000.0, "loop", 1940.0)), sums(table, Statistics.Sum.STATE_DURATION));
				MicroscopicModel m = table.model(new ModelRequest(BasicDimensions.EVENT_TYPE, table.defaultMetric(), 20, 0, 1000, -1, null),
						Progress.NONE);
				assertEquals(Metric.STATE_TIME, m.metric());
				for (int k = 0; k < 2; k++) {
					assertEquals(own.get(m.types().get(k).name()), m.totals()[k]);
				}
				String text = EventSummary.of(table, Progress.NONE).text();
				assertTrue(text.contains("97.0 %") && text.contains("3.0 %"), text);
			}
		}
	}

	private static Map<String, Double> sums(EventTable table, Statistics.Sum sum) throws Exception {
		Map<String, Double> sums = new TreeMap<>();
		for (Statistics.Item item : Statistics.of(table, sum, BasicDimensions.EVENT_TYPE, 0, 1000, -1, Progress.NONE)) {
			sums.put(item.name(), item.value());
		}
		return sums;
	}
}
