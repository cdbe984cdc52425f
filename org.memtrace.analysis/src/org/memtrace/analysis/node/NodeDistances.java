// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.node;

import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;

import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

import org.memtrace.model.MemtraceException;

/**
 * The NUMA nodes of a machine, their CPUs, and how far they are from each other, from the XML of hwloc. A machine that does not tell
 * distances has those that Linux assumes: 10 on a node, 20 between nodes. Immutable.
 */
public final class NodeDistances {
	/** Nothing is known. */
	public static final NodeDistances NONE = new NodeDistances(Map.of(), List.of(), new long[0]);
	private static final long LOCAL = 10;
	private static final long REMOTE = 20;

	private final int nodes;
	/** Node of each CPU, -1 none. */
	private final int[] nodeOf;
	/** From node to node, -1 not known. */
	private final long[][] distance;
	private final boolean told;

	/**
	 * Distances.
	 *
	 * @param cpus CPUs of each node, by its number
	 * @param order nodes of the rows of the matrix
	 * @param matrix distances, row by row; empty when the machine does not tell
	 */
	private NodeDistances(Map<Integer, BitSet> cpus, List<Integer> order, long[] matrix) {
		nodes = cpus.keySet().stream().mapToInt(n -> n + 1).max().orElse(0);
		nodeOf = new int[cpus.values().stream().mapToInt(BitSet::length).max().orElse(0)];
		Arrays.fill(nodeOf, -1);
		cpus.forEach((node, set) -> set.stream().forEach(cpu -> nodeOf[cpu] = node));
		distance = new long[nodes][nodes];
		told = matrix.length > 0;
		for (int a = 0; a < nodes; a++) {
			for (int b = 0; b < nodes; b++) {
				int row = order.indexOf(a);
				int column = order.indexOf(b);
				boolean known = cpus.containsKey(a) && cpus.containsKey(b);
				distance[a][b] = !known ? -1 : matrix.length == 0 ? a == b ? LOCAL : REMOTE
						: row < 0 || column < 0 ? -1 : matrix[row * order.size() + column];
			}
		}
	}

	/** Reads the XML of hwloc 2. */
	public static NodeDistances read(byte[] xml) throws MemtraceException {
		XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
		factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
		factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
		Map<Integer, BitSet> cpus = new TreeMap<>();
		List<Integer> order = new ArrayList<>();
		long[] matrix = {};
		try {
			XMLStreamReader in = factory.createXMLStreamReader(new ByteArrayInputStream(xml));
			boolean ofNodes = false;
			while (in.hasNext()) {
				int event = in.next();
				String name = event == XMLStreamConstants.START_ELEMENT || event == XMLStreamConstants.END_ELEMENT ? in.getLocalName() : "";
				if (name.equals("distances2")) {
					ofNodes = event == XMLStreamConstants.START_ELEMENT && "NUMANode".equals(in.getAttributeValue(null, "type"))
							&& "NUMALatency".equals(in.getAttributeValue(null, "name")) && matrix.length == 0;
				} else if (event == XMLStreamConstants.START_ELEMENT && name.equals("object")
						&& "NUMANode".equals(in.getAttributeValue(null, "type")) && in.getAttributeValue(null, "os_index") != null) {
					cpus.put(Integer.parseInt(in.getAttributeValue(null, "os_index")), bits(in.getAttributeValue(null, "cpuset")));
				} else if (ofNodes && event == XMLStreamConstants.START_ELEMENT && name.equals("indexes")) {
					LongStream.of(numbers(in.getElementText())).forEach(n -> order.add((int) n));
				} else if (ofNodes && event == XMLStreamConstants.START_ELEMENT && name.equals("u64values")) {
					// ten values to an element
					matrix = LongStream.concat(Arrays.stream(matrix), Arrays.stream(numbers(in.getElementText()))).toArray();
				}
			}
		} catch (XMLStreamException | NumberFormatException e) {
			throw new MemtraceException("the topology of the machine cannot be read: "
					+ String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
		}
		return new NodeDistances(cpus, order, matrix.length == order.size() * order.size() ? matrix : new long[0]);
	}

	private static long[] numbers(String text) {
		return text.isBlank() ? new long[0] : Arrays.stream(text.strip().split("\\s+")).mapToLong(Long::parseLong).toArray();
	}

	/** A set as hwloc writes it: words of 32 bits in hexadecimal, the most significant one first. */
	static BitSet bits(String text) {
		BitSet set = new BitSet();
		if (text == null) {
			return set;
		}
		String[] words = text.split(",");
		for (int w = 0; w < words.length; w++) {
			String digits = words[w].strip().replace("0x", "");
			long bits = digits.isEmpty() || digits.equals("f...f") ? 0 : Long.parseLong(digits, 16);
			for (int b = 0; b < Integer.SIZE; b++) {
				if ((bits >> b & 1) != 0) {
					set.set((words.length - 1 - w) * Integer.SIZE + b);
				}
			}
		}
		return set;
	}

	/** One more than the largest number of a node. */
	public int nodes() {
		return nodes;
	}

	/** Node of all of these CPUs; -1 when it is not known, when there is no CPU, or when they are on several nodes. */
	public int nodeOf(BitSet cpus) {
		int node = -1;
		for (int cpu = cpus.nextSetBit(0); cpu >= 0; cpu = cpus.nextSetBit(cpu + 1)) {
			int its = cpu < nodeOf.length ? nodeOf[cpu] : -1;
			if (its < 0 || node >= 0 && its != node) {
				return -1;
			}
			node = its;
		}
		return node;
	}

	/** From a CPU to a node, -1 when it is not known. */
	public long of(int cpu, int node) {
		return cpu >= nodeOf.length || nodeOf[cpu] < 0 || node >= nodes ? -1 : distance[nodeOf[cpu]][node];
	}

	/** Between two nodes, -1 when it is not known. */
	public long between(int node, int other) {
		return node < 0 || other < 0 || node >= nodes || other >= nodes ? -1 : distance[node][other];
	}

	/** Whether the machine told them; otherwise they are those that Linux assumes. */
	public boolean areTold() {
		return told;
	}

	/** The different distances, ascending. */
	public long[] different() {
		return Arrays.stream(distance).flatMapToLong(LongStream::of).filter(d -> d >= 0).distinct().sorted().toArray();
	}
}
