// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.MeasuredMachine;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/** What memory cost on the recorded machine comes with the trace; what was refused there is not known. */
class MeasuredImportTest {
	@TempDir
	Path directory;

	private MeasuredMachine imported(String measured) throws Exception {
		Path trace = new TraceDirectoryBuilder(directory.resolve("trace")).sampleContext().access(0x20010, 1, 1, 1000, 1500, 100).write();
		String manifest = Files.readString(trace.resolve("manifest.json")).strip();
		Files.writeString(trace.resolve("manifest.json"), manifest.substring(0, manifest.length() - 1) + measured + "}");
		try (TraceCatalogue catalogue = Stores.inMemory()) {
			new ImportOperation(List.of(trace), System.in, catalogue::create).call(Progress.NONE);
			try (TraceStore store = catalogue.open(catalogue.list().get(0).id())) {
				return MeasuredMachine.of(store.info().properties().getOrDefault(TraceInfo.PROPERTY_MEASURED, ""));
			}
		}
	}

	@Test
	void figuresAreThoseThatHaveAValue() throws Exception {
		MeasuredMachine m = imported("""
				,"measured":{"schema":"memtrace.measure/1","l2_bytes":1048576,"figures":{
				"fault":{"value":1490,"low":1450,"high":1530,"pieces":4000,"unit":"ns","text":"a fault"},
				"read_1":{"value":0.0327,"low":0.031,"high":0.0354,"unit":"ns/B"},
				"line_transfer":{"refused":"the pieces differ too much","low":25,"high":170,"pieces":40},
				"upside_down":{"value":5,"low":7,"high":6}, "strange":"text", "none":{"value":"x","low":1,"high":2}}}""");
		assertEquals(Set.of("fault", "read_1"), m.figures().keySet());
		assertEquals(new MeasuredMachine.Figure(1490, 1450, 1530), m.figure("fault").orElseThrow());
		assertEquals(0.0327, m.figure("read_1").orElseThrow().value());
		assertEquals(1 << 20, m.l2Bytes());
		assertTrue(m.figure("line_transfer").isEmpty());
		assertEquals(m, MeasuredMachine.of(m.text()));
	}

	@Test
	void nothingIsKnownWithoutFigures() throws Exception {
		assertTrue(imported("").isEmpty());
		assertTrue(imported(",\"measured\":{\"figures\":{}}").isEmpty());
		assertTrue(imported(",\"measured\":[1]").isEmpty());
		assertEquals("", MeasuredMachine.NONE.text());
	}
}
