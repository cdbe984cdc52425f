// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.node;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;
import org.memtrace.model.MemtraceException;

/** The XML of hwloc. */
class NodeDistancesTest {
	/** Nodes 0 and 2, of which the second has CPUs 32 to 35; the matrix is in the order 2, 0. */
	private static final String MACHINE = """
			<?xml version="1.0" encoding="UTF-8"?>
			<!DOCTYPE topology SYSTEM "hwloc2.dtd">
			<topology version="2.0">
			  <object type="Machine" os_index="0" cpuset="0x0000000f,0x0000000f">
			    <object type="NUMANode" os_index="0" cpuset="0x0000000f" local_memory="1"/>
			    <object type="NUMANode" os_index="2" cpuset="0x0000000f,0x0" local_memory="1"/>
			  </object>
			%s</topology>
			""";
	private static final String MATRIX = """
			  <distances2 type="NUMANode" nbobjs="2" kind="5" name="NUMALatency" indexing="os">
			    <indexes length="4">2 0 </indexes>
			    <u64values length="12">10 31 32 11 </u64values>
			  </distances2>
			""";

	private static NodeDistances read(String matrix) throws MemtraceException {
		return NodeDistances.read(MACHINE.formatted(matrix).getBytes(StandardCharsets.UTF_8));
	}

	@Test
	void matrixIsByNumbersOfNodes() throws Exception {
		NodeDistances d = read(MATRIX);
		assertEquals(3, d.nodes());
		assertEquals(11, d.of(3, 0));
		assertEquals(32, d.of(0, 2));
		assertEquals(10, d.of(35, 2));
		assertEquals(31, d.of(32, 0));
		assertEquals(-1, d.of(4, 0), "no such CPU");
		assertEquals(-1, d.of(99, 0), "no such CPU");
		assertEquals(-1, d.of(0, 1), "no such node");
		assertArrayEquals(new long[] {10, 11, 31, 32}, d.different());
	}

	/** hwloc writes ten values in an element, so a machine with four nodes has two. */
	@Test
	void valuesOfSeveralElementsFollowEachOther() throws Exception {
		NodeDistances d = read(MATRIX.replace("10 31 32 11 </u64values>", "10 31 32 </u64values>\n<u64values length=\"3\">11 </u64values>")
				.replace("2 0 </indexes>", "2 </indexes><indexes length=\"2\">0 </indexes>") + MATRIX.replace("31", "99"));
		assertTrue(d.areTold());
		assertEquals(11, d.of(3, 0));
		assertEquals(31, d.of(32, 0), "the first matrix counts");
		assertArrayEquals(new long[] {10, 11, 31, 32}, d.different());
	}

	@Test
	void withoutMatrixAsLinuxAssumes() throws Exception {
		NodeDistances d = read("");
		assertEquals(10, d.of(0, 0));
		assertEquals(20, d.of(0, 2));
		assertEquals(20, read(MATRIX.replace("NUMALatency", "NUMABandwidth")).of(0, 2));
		assertEquals(20, read(MATRIX.replace("31 32 11", "31")).of(0, 2), "half a matrix");
		assertEquals(0, NodeDistances.NONE.different().length);
	}

	@Test
	void mistakesAreSentences() {
		assertThrows(MemtraceException.class, () -> NodeDistances.read("<topology>".getBytes(StandardCharsets.UTF_8)));
		assertThrows(MemtraceException.class, () -> read(MATRIX.replace("31", "far")));
	}

	@Test
	void setsOfWords() {
		assertEquals("{0, 1, 32, 35, 63}", NodeDistances.bits("0x80000009,0x00000003").toString());
		assertEquals("{}", NodeDistances.bits(null).toString());
	}
}
