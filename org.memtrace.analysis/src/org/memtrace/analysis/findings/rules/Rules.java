// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;


/** All rules in the order in which they are asked: the first one that holds wins for a group. Adding one is its class and a line here. */
public final class Rules {
	private static final List<Rule> OWN = List.of(new FalseSharing(), new SharedStack(), new RecycledHeap(), new HotPage(), new Replicate(),
			new PingPong(), new ColumnSweep(), new PageShared(), new AllToAll(), new SmallShared(), new FirstTouch(), new RemoteMapping(),
			new RemoteShare(), new Imbalance(), new Padding(), new Strided(), new ShortLived(), new Unused());
	private static final List<Rule> MORE = new CopyOnWriteArrayList<>();

	private Rules() {
	}

	/** Own rules, then those of others. */
	public static List<Rule> all() {
		List<Rule> all = new ArrayList<>(OWN);
		all.addAll(MORE);
		return all;
	}

	/** Adds a rule of another bundle; it is asked after the own ones. */
	public static void add(Rule rule) {
		if (all().stream().anyMatch(r -> r.id().equals(rule.id()))) {
			throw new IllegalArgumentException("there is a rule " + rule.id() + " already");
		}
		MORE.add(rule);
	}

	/** Takes a rule of another bundle back. */
	public static void remove(Rule rule) {
		MORE.remove(rule);
	}
}
