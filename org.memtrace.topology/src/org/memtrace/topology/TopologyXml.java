// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.topology;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

import org.memtrace.model.TraceFormatException;

/**
 * Keeps damaged files away from the parser of the library: hwloc 2.9 ends the process at, for example, an object without
 * cpuset. What is handed on is written again from what was understood: objects with CPUs and memories, their sets checked, nothing
 * else.
 */
final class TopologyXml {
	/** A machine of 10,000 CPUs needs 5 MB. */
	private static final int MAX_BYTES = 64 << 20;
	private static final int MAX_DEPTH = 100;
	private static final int MAX_INDEX = 1 << 16;
	private static final Set<String> NORMAL = Set.of("Machine", "Package", "Die", "Group", "L1Cache", "L2Cache", "L3Cache",
			"L4Cache", "L5Cache", "L1iCache", "L2iCache", "L3iCache", "Core", "PU");

	private static final class Node {
		final String type;
		final long line;
		int osIndex = -1;
		BitSet cpus = new BitSet();
		long size;
		boolean keepGroup;
		final List<Node> memory = new ArrayList<>();
		final List<Node> children = new ArrayList<>();
		/** Memories here and below. */
		final BitSet nodes = new BitSet();

		Node(String type, long line) {
			this.type = type;
			this.line = line;
		}

		boolean isMemory() {
			return type.equals("NUMANode") || type.equals("MemCache");
		}

		boolean isPu() {
			return type.equals("PU");
		}
	}

	private final String file;
	private final Set<Integer> nodeNumbers = new HashSet<>();

	private TopologyXml(String file) {
		this.file = file;
	}

	/**
	 * The same topology, as a file that the library reads without danger.
	 *
	 * @param file name of the file, for messages
	 */
	static byte[] checked(byte[] xml, String file) throws TraceFormatException {
		if (xml.length > MAX_BYTES) {
			throw new TraceFormatException(file, 0, "is larger than any topology");
		}
		TopologyXml t = new TopologyXml(file);
		Node root = t.parse(xml);
		t.check(root, null);
		StringBuilder out = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
				+ "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n");
		t.write(root, new BitSet(), out);
		return out.append("</topology>\n").toString().getBytes(StandardCharsets.US_ASCII);
	}

	private Node parse(byte[] xml) throws TraceFormatException {
		XMLInputFactory factory = XMLInputFactory.newInstance();
		factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
		factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
		long line = 0;
		try {
			XMLStreamReader in = factory.createXMLStreamReader(new ByteArrayInputStream(xml));
			Node root = null;
			List<Node> open = new ArrayList<>();
			boolean first = true;
			int skipped = 0;
			while (in.hasNext()) {
				int event = in.next();
				line = Math.max(line, in.getLocation().getLineNumber());
				if (event == XMLStreamConstants.END_ELEMENT) {
					if (skipped > 0) {
						skipped--;
					} else if (!open.isEmpty()) {
						open.remove(open.size() - 1);
					}
				}
				if (event != XMLStreamConstants.START_ELEMENT) {
					continue;
				}
				if (first) {
					checkVersion(in, line);
					first = false;
					continue;
				}
				Node node = skipped == 0 && in.getLocalName().equals("object") ? node(in, line) : null;
				if (node == null) {
					skipped++;
					continue;
				}
				if (open.size() >= MAX_DEPTH) {
					throw new TraceFormatException(file, line, "is deeper than " + MAX_DEPTH + " levels");
				}
				if (open.isEmpty()) {
					if (root != null || !node.type.equals("Machine")) {
						throw new TraceFormatException(file, line, "does not have one machine");
					}
					root = node;
				} else {
					Node parent = open.get(open.size() - 1);
					(node.isMemory() ? parent.memory : parent.children).add(node);
				}
				open.add(node);
			}
			in.close();
			if (root == null) {
				throw new TraceFormatException(file, line, "is a topology without a machine");
			}
			return root;
		} catch (XMLStreamException e) {
			String reason = e.getMessage() == null ? "" : e.getMessage().replaceFirst("(?s).*Message: ", "").replaceAll("\\s+", " ");
			throw new TraceFormatException(file, e.getLocation() == null ? line : Math.max(0, e.getLocation().getLineNumber()),
					"is no complete XML: " + reason);
		}
	}

	/** The first element says what the file is. */
	private void checkVersion(XMLStreamReader in, long line) throws TraceFormatException {
		if (!in.getLocalName().equals("topology")) {
			throw new TraceFormatException(file, line, "is no topology: its first element is " + in.getLocalName());
		}
		String version = in.getAttributeValue(null, "version");
		if (version == null || !version.matches("2\\.\\d+")) {
			throw new TraceFormatException(file, line, "is a topology of "
					+ (version == null ? "hwloc 1" : "version " + version) + ", only version 2 can be read");
		}
	}

	/** An object with CPUs or memory; null for devices and the like. */
	private Node node(XMLStreamReader in, long line) throws TraceFormatException {
		String type = in.getAttributeValue(null, "type");
		if (type == null) {
			throw new TraceFormatException(file, line, "has an object without type");
		}
		Node node = new Node(type, line);
		if (!NORMAL.contains(type) && !node.isMemory()) {
			return null;
		}
		String index = in.getAttributeValue(null, "os_index");
		if (index != null) {
			node.osIndex = (int) number(index, MAX_INDEX, "os_index", line);
		}
		node.cpus = set(in.getAttributeValue(null, "cpuset"), line);
		String size = in.getAttributeValue(null, type.equals("NUMANode") ? "local_memory" : "cache_size");
		node.size = size == null ? 0 : number(size, Long.MAX_VALUE, "size", line);
		node.keepGroup = "1".equals(in.getAttributeValue(null, "dont_merge"));
		return node;
	}

	private long number(String text, long max, String what, long line) throws TraceFormatException {
		if (text.matches("\\d{1,18}")) {
			long value = Long.parseLong(text);
			if (value <= max) {
				return value;
			}
		}
		throw new TraceFormatException(file, line, "'" + text + "' is no " + what);
	}

	/** A set as hwloc writes it: words of 32 bits, hexadecimal, highest first. */
	private BitSet set(String text, long line) throws TraceFormatException {
		if (text == null) {
			throw new TraceFormatException(file, line, "has an object without cpuset");
		}
		String[] words = text.split(",", -1);
		if (words.length > MAX_INDEX / 32) {
			throw new TraceFormatException(file, line, "has a cpuset of too many CPUs");
		}
		BitSet set = new BitSet();
		for (int w = 0; w < words.length; w++) {
			String word = words[words.length - 1 - w];
			if (word.isEmpty()) {
				continue; // 32 zeroes
			}
			if (!word.matches("0x[0-9a-fA-F]{1,8}")) {
				throw new TraceFormatException(file, line, "'" + text + "' is no finite cpuset");
			}
			long bits = Long.parseLong(word.substring(2), 16);
			for (int i = 0; i < 32; i++) {
				if ((bits >> i & 1) != 0) {
					set.set(32 * w + i);
				}
			}
		}
		return set;
	}

	/** What the library takes for granted. */
	private void check(Node node, Node parent) throws TraceFormatException {
		if (parent != null && !node.isMemory() && (node.type.equals("Machine") || parent.isMemory() || parent.isPu())) {
			throw new TraceFormatException(file, node.line, "has a " + node.type + " in a " + parent.type);
		}
		// objects without CPUs only hold memory
		for (int i = 0; i < node.children.size(); i++) {
			Node child = node.children.get(i);
			if (child.cpus.isEmpty()) {
				node.children.remove(i--);
				node.memory.addAll(child.memory);
				node.children.addAll(child.children);
			}
		}
		if (node.isPu() && (node.cpus.cardinality() != 1 || !node.cpus.get(Math.max(0, node.osIndex)))) {
			throw new TraceFormatException(file, node.line, "has a PU whose cpuset is not its os_index");
		}
		if (!node.isPu() && !node.isMemory()) {
			BitSet seen = new BitSet();
			for (Node child : node.children) {
				if (seen.intersects(child.cpus)) {
					throw new TraceFormatException(file, child.line, "has a CPU in two objects");
				}
				seen.or(child.cpus);
			}
			if (!seen.equals(node.cpus)) {
				throw new TraceFormatException(file, node.line, "has a " + node.type + " whose CPUs are not those of its parts");
			}
		}
		if (node.type.equals("NUMANode")) {
			if (node.osIndex < 0 || !nodeNumbers.add(node.osIndex)) {
				throw new TraceFormatException(file, node.line, "has a NUMANode without os_index, or two with the same one");
			}
			node.nodes.set(node.osIndex);
		}
		if (node.isPu() && !node.memory.isEmpty() || node.type.equals("NUMANode") && !node.memory.isEmpty()
				|| node.type.equals("MemCache") && node.memory.isEmpty()) {
			throw new TraceFormatException(file, node.line, "has a " + node.type + " with memory, or a cache without");
		}
		for (Node memory : node.memory) {
			memory.cpus = (BitSet) node.cpus.clone();
			check(memory, node);
			node.nodes.or(memory.nodes);
		}
		for (Node child : node.children) {
			check(child, node);
			node.nodes.or(child.nodes);
		}
		if (parent == null && (node.cpus.isEmpty() || node.nodes.isEmpty())) {
			throw new TraceFormatException(file, node.line, "is a machine without CPUs or without memory");
		}
	}

	private void write(Node node, BitSet above, StringBuilder out) {
		BitSet nodes = (BitSet) above.clone();
		if (!node.isMemory()) {
			node.memory.forEach(m -> nodes.or(m.nodes));
		}
		BitSet nodeset = (BitSet) node.nodes.clone();
		if (!node.isMemory()) {
			nodeset.or(nodes);
		}
		String cpus = text(node.cpus);
		String memories = text(nodeset);
		out.append("<object type=\"").append(node.type).append('"');
		if (node.osIndex >= 0) {
			out.append(" os_index=\"").append(node.osIndex).append('"');
		}
		out.append(" cpuset=\"").append(cpus).append("\" complete_cpuset=\"").append(cpus).append("\" nodeset=\"").append(memories)
				.append("\" complete_nodeset=\"").append(memories).append('"');
		if (node.type.equals("Machine")) {
			out.append(" allowed_cpuset=\"").append(cpus).append("\" allowed_nodeset=\"").append(memories).append('"');
		}
		if (node.type.endsWith("Cache")) {
			boolean side = node.isMemory();
			boolean instructions = node.type.endsWith("iCache");
			out.append(" cache_size=\"").append(node.size).append("\" depth=\"").append(side ? '1' : node.type.charAt(1))
					.append("\" cache_linesize=\"64\" cache_associativity=\"0\" cache_type=\"")
					.append(instructions ? 2 : node.type.equals("L1Cache") ? 1 : 0).append('"');
		}
		if (node.type.equals("NUMANode")) {
			out.append(" local_memory=\"").append(node.size).append('"');
		}
		if (node.keepGroup && node.type.equals("Group")) {
			out.append(" dont_merge=\"1\"");
		}
		out.append(">\n");
		node.memory.forEach(m -> write(m, nodes, out));
		node.children.forEach(c -> write(c, nodes, out));
		out.append("</object>\n");
	}

	private static String text(BitSet set) {
		int words = Math.max(1, (set.length() + 31) / 32);
		StringBuilder b = new StringBuilder();
		for (int w = words - 1; w >= 0; w--) {
			int bits = 0;
			for (int i = 0; i < 32; i++) {
				bits |= set.get(32 * w + i) ? 1 << i : 0;
			}
			b.append(b.isEmpty() ? "" : ",").append(String.format("0x%08x", bits));
		}
		return b.toString();
	}
}
