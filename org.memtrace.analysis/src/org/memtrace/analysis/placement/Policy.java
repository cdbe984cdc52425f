// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.placement;

import java.util.ArrayList;
import java.util.List;

/**
 * A rule that gives pages their NUMA nodes.
 *
 * @param kind what it does
 * @param node index of the node that it is about, -1 for others than {@link Kind#BIND}
 * @param id name for programs, such as {@code first-touch} or {@code bind-1}
 */
public record Policy(Kind kind, int node, String id) {
	/** Kinds of policies. The order is that of simplicity: of two that are as good the first one is taken. */
	public enum Kind {
		/** A page is on the node of the thread that writes it first, as the program does it. */
		FIRST_TOUCH("first touch"),
		/** Pages go round the nodes. */
		INTERLEAVE("interleave"),
		/** All pages are on one node. */
		BIND("bind"),
		/** Each page is touched first by the thread that uses it most later. */
		REPAIRED("first touch repaired"),
		/** A copy for each node of what nobody writes any more. */
		REPLICATE("replicate"),
		/** The best one of the others for each structure. */
		MIXTURE("best of each structure"),
		/** The nodes that were recorded. */
		RECORDED("recorded");

		private final String title;

		Kind(String title) {
			this.title = title;
		}
	}

	static final Policy MIXTURE = new Policy(Kind.MIXTURE, -1, "mixture");
	static final Policy RECORDED = new Policy(Kind.RECORDED, -1, "recorded");

	/** Policies that can be foretold on a machine; of all kinds but mixtures and what was recorded. */
	static List<Policy> all(PlacementMachine machine) {
		List<Policy> all = new ArrayList<>();
		all.add(new Policy(Kind.FIRST_TOUCH, -1, "first-touch"));
		all.add(new Policy(Kind.INTERLEAVE, -1, "interleave"));
		for (int n = 0; n < machine.nodes(); n++) {
			all.add(new Policy(Kind.BIND, n, "bind-" + machine.osNode(n)));
		}
		all.add(new Policy(Kind.REPAIRED, -1, "repaired"));
		all.add(new Policy(Kind.REPLICATE, -1, "replicate"));
		return all;
	}

	/** What a person calls it. */
	public String title() {
		return kind == Kind.BIND ? id.replace("bind-", "bind to node ") : kind.title;
	}

	/** Whether it can be asked for the whole process, without a change of the program. */
	public boolean isForProcess() {
		return kind == Kind.FIRST_TOUCH || kind == Kind.INTERLEAVE || kind == Kind.BIND;
	}
}
