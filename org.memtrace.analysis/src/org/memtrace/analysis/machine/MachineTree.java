// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.place.CpuPlaces;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.MachineTopology.Type;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/**
 * A machine as a hierarchy that can be aggregated: the leaves are its CPUs. Objects that have the same CPUs are one node; it has the name
 * of the CPU where there is only one, else that of the largest object and, of a machine with several NUMA nodes, of those that are near to
 * just these CPUs. Objects without CPUs are left out. Immutable.
 */
public final class MachineTree {
	private final MachineTopology topology;
	private final ProducerTree tree;
	private final Hierarchy hierarchy;
	private final NodeNames names;
	private final CpuPlaces places;
	private final List<MachineObject> objects = new ArrayList<>();
	private final List<MachineObject> leaves = new ArrayList<>();

	/** @throws IllegalArgumentException if the machine has no CPU */
	public MachineTree(MachineTopology topology) {
		this.topology = topology;
		if (topology.pus().isEmpty()) {
			throw new IllegalArgumentException("the machine has no CPU");
		}
		ProducerTreeBuilder builder = new ProducerTreeBuilder(0);
		add(topology.root(), builder);
		tree = builder.build();
		hierarchy = Hierarchy.of(tree);
		names = new NodeNames(hierarchy, tree, List.of());
		int[] place = new int[topology.root().cpus().length()];
		Arrays.fill(place, -1);
		for (int i = 0; i < leaves.size(); i++) {
			if (leaves.get(i).osIndex() >= 0) {
				place[leaves.get(i).osIndex()] = i;
			}
		}
		places = new CpuPlaces(place, leaves.size());
	}

	private void add(MachineObject top, ProducerTreeBuilder builder) {
		MachineObject o = top;
		List<MachineObject> memory = new ArrayList<>();
		List<MachineObject> parts;
		while (true) {
			memory.addAll(o.memory());
			parts = o.children().stream().filter(MachineTree::hasPu).toList();
			if (parts.size() != 1) {
				break;
			}
			o = parts.get(0);
		}
		boolean leaf = parts.isEmpty();
		MachineObject named = leaf ? o : top;
		String near = memory.stream().filter(m -> m.type() == Type.NODE).map(MachineObject::shortLabel).collect(Collectors.joining(", "));
		boolean tell = topology.nodes().size() > 1 && !near.isEmpty() && !leaf;
		builder.begin(ProducerKind.OTHER, named.shortLabel() + (tell ? ", " + near : ""), 0, 0, -1);
		objects.add(named);
		if (leaf) {
			leaves.add(o);
		}
		parts.forEach(part -> add(part, builder));
		builder.end();
	}

	private static boolean hasPu(MachineObject o) {
		return o.type() == Type.PU || o.children().stream().anyMatch(MachineTree::hasPu);
	}

	public MachineTopology topology() {
		return topology;
	}

	public Hierarchy hierarchy() {
		return hierarchy;
	}

	/** Names of the nodes of the hierarchy. */
	public NodeNames names() {
		return names;
	}

	/** The leaf of each CPU. */
	public CpuPlaces places() {
		return places;
	}

	/** The object of which a node has the name. */
	public MachineObject object(int node) {
		return objects.get(hierarchy.producer(node));
	}

	/** CPUs of a node as ranges, such as {@code 0-3,8}. */
	public String cpus(int node) {
		return MachineUse.ranges(object(node));
	}
}
