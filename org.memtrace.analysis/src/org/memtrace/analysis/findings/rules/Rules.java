// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;


/**
 * All rules. Which of several that hold is told does not depend on their order, see {@link Rule#covers}. Adding one is its class and a line
 * here.
 */
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

	/** Adds a rule of another bundle. */
	public static void add(Rule rule) {
		if (all().stream().anyMatch(r -> r.id().equals(rule.id()))) {
			throw new IllegalArgumentException("there is a rule " + rule.id() + " already");
		}
		MORE.add(rule);
	}

	/** Ids of the rules that another one covers, also those that a covered one covers. */
	public static Set<String> covered(Rule by, Collection<Rule> holding) {
		Set<String> covered = new TreeSet<>();
		Deque<String> open = new ArrayDeque<>(by.covers());
		while (!open.isEmpty()) {
			String id = open.pop();
			if (!id.equals(by.id()) && covered.add(id)) {
				holding.stream().filter(r -> r.id().equals(id)).forEach(r -> open.addAll(r.covers()));
			}
		}
		return covered;
	}

	/** Takes a rule of another bundle back. */
	public static void remove(Rule rule) {
		MORE.remove(rule);
	}
}
