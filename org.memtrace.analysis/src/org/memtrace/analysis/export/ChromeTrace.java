// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.export;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.math.BigDecimal;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

import com.google.gson.Strictness;
import com.google.gson.stream.JsonWriter;

import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * Writes a trace as JSON of Chrome's trace viewer, which Perfetto and speedscope open, too. Times are microseconds from the start of the
 * trace. Of a memory trace each structure (or other producer below the root) and each thread is a counter. It has four series, reads and
 * writes, private and shared, whose value is the sum of the counts of the records under way. Of other traces states, instants and links are
 * what they are there, a producer is a thread of the one above it, and variables are counters. Parameters of events are not written.
 * Errors of the output are {@link UncheckedIOException}.
 */
public final class ChromeTrace {
	private static final int MEMORY = 1;
	private static final int THREADS = 2;

	private final TraceStore store;
	private final ProducerTree tree;
	private final long startNs;
	private final JsonWriter json;

	private ChromeTrace(TraceStore store, Appendable out) throws MemtraceException {
		this.store = store;
		this.tree = store.producers();
		this.startNs = store.info().startNs();
		this.json = new JsonWriter(writer(out));
		json.setStrictness(Strictness.LEGACY_STRICT);
		json.setHtmlSafe(false);
	}

	/** JsonWriter wants a Writer; this one is not closed. */
	private static Writer writer(Appendable out) {
		return new Writer() {
			@Override
			public void write(char[] buffer, int offset, int length) throws IOException {
				out.append(new String(buffer, offset, length));
			}

			@Override
			public void write(String text, int offset, int length) throws IOException {
				out.append(text, offset, offset + length);
			}

			@Override
			public void write(int c) throws IOException {
				out.append((char) c);
			}

			@Override
			public void flush() {
				// nothing is kept here
			}

			@Override
			public void close() {
				// who gave it closes it
			}
		};
	}

	/** Writes the accesses, or the events of a trace without accesses. */
	public static void write(TraceStore store, AccessFilter filter, Appendable out, Progress progress) throws MemtraceException {
		ChromeTrace trace = new ChromeTrace(store, out);
		try {
			trace.all(filter, progress);
			out.append('\n');
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}

	private void all(AccessFilter filter, Progress progress) throws IOException, MemtraceException {
		json.beginObject();
		json.name("displayTimeUnit").value("ns");
		json.name("otherData").beginObject();
		json.name("trace").value(store.info().alias());
		json.name("time_unit").value(store.info().timeUnit().id());
		json.endObject();
		json.name("traceEvents").beginArray();
		if (store.accessCount() > 0) {
			name("process_name", MEMORY, 0, "memory");
			name("process_name", THREADS, 0, "threads");
			CountsUnderWay counters = new CountsUnderWay(store, this::counter);
			filter.visit(store, counters::take, progress);
			counters.finish();
		} else {
			events(filter, progress);
		}
		json.endArray();
		json.endObject();
		json.flush();
	}

	/** A line for each event. */
	private JsonWriter begin(String phase, String name, int pid, long ns) throws IOException {
		json.beginObject();
		json.name("ph").value(phase);
		json.name("name").value(name);
		json.name("pid").value(pid);
		json.name("ts").value(microseconds(ns - startNs));
		return json;
	}

	private static BigDecimal microseconds(long ns) {
		return BigDecimal.valueOf(ns, 3);
	}

	private void name(String what, int pid, int tid, String name) throws IOException {
		json.beginObject();
		json.name("ph").value("M");
		json.name("name").value(what);
		json.name("pid").value(pid);
		if (tid > 0) {
			json.name("tid").value(tid);
		}
		json.name("args").beginObject();
		json.name("name").value(name);
		json.endObject();
		json.endObject();
	}

	/** A line for each counter that changed. */
	private void counter(boolean thread, int number, String name, long ns, long[] values) throws IOException {
		begin("C", name, thread ? THREADS : MEMORY, ns);
		json.name("args").beginObject();
		for (int t = 0; t < values.length; t++) {
			json.name(AccessFilter.TYPES[t]).value(values[t]);
		}
		json.endObject();
		json.endObject();
	}

	private void events(AccessFilter filter, Progress progress) throws MemtraceException, IOException {
		Map<Integer, EventType> types = new HashMap<>();
		store.eventTypes().forEach(t -> types.put(t.id(), t));
		BitSet named = new BitSet();
		long[] links = new long[1];
		store.visitEvents(filter.query(), b -> {
			try {
				for (int i = 0; i < b.count; i++) {
					EventType type = types.get(b.type[i]);
					if (type != null) {
						named(b.producer[i], named);
						event(type, b, i, named, links);
					}
				}
			} catch (IOException e) {
				throw new UncheckedIOException(e);
			}
		}, progress);
	}

	/** The process of a producer: the one above it. */
	private int pid(int producer) {
		return 1 + (tree.parent(producer) < 0 ? producer : tree.parent(producer));
	}

	private void named(int producer, BitSet named) throws IOException {
		if (!named.get(producer)) {
			named.set(producer);
			name("process_name", pid(producer), 0, tree.name(pid(producer) - 1));
			name("thread_name", pid(producer), producer + 1, tree.name(producer));
		}
	}

	private void event(EventType type, EventBatch b, int i, BitSet named, long[] links) throws IOException, MemtraceException {
		int pid = pid(b.producer[i]);
		int tid = b.producer[i] + 1;
		switch (type.category()) {
		case STATE -> begin("X", type.name(), pid, b.startNs[i]).name("tid").value(tid).name("dur")
				.value(microseconds(Math.max(0, b.endNs[i] - b.startNs[i]))).endObject();
		case PUNCTUAL -> begin("i", type.name(), pid, b.startNs[i]).name("tid").value(tid).name("s").value("t").endObject();
		case VARIABLE -> {
			if (!Double.isFinite(b.value[i])) {
				throw new MemtraceException(store.info().alias() + ": event " + b.id[i] + " has the value " + b.value[i]
						+ ", which JSON has no number for");
			}
			begin("C", type.name() + " of " + tree.name(b.producer[i]), pid,
					b.startNs[i]).name("args").beginObject().name("value").value(b.value[i])
					.endObject().endObject();
		}
		case LINK -> {
			int to = b.value[i] >= 0 && b.value[i] < tree.size() ? (int) b.value[i] : b.producer[i];
			named(to, named);
			long number = ++links[0];
			begin("s", type.name(), pid,
					b.startNs[i]).name("tid").value(tid).name("cat").value("link").name("id").value(number).endObject();
			begin("f", type.name(), pid(to), Math.max(b.startNs[i], b.endNs[i])).name("tid").value(to
					+ 1).name("cat").value("link").name("id")
					.value(number).name("bp").value("e").endObject();
		}
		}
	}
}
