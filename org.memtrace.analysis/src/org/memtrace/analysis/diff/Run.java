// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.memtrace.analysis.findings.Advisor;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.model.ThreadInfo;

/** One recording on a side of a comparison. */
public final class Run {
	private final String label;
	private final Advisor advisor;
	private final RegionUse regions;
	private final int[] role;
	private final List<String> roles = new ArrayList<>();

	/**
	 * A run that is not compared by region.
	 *
	 * @param label what the user calls it
	 */
	public Run(String label, Advisor advisor) {
		this(label, advisor, RegionUse.NONE);
	}

	/**
	 * A run.
	 *
	 * @param label what the user calls it
	 * @param regions what it did in its regions
	 */
	public Run(String label, Advisor advisor, RegionUse regions) {
		this.label = label;
		this.advisor = advisor;
		this.regions = regions;
		List<ThreadInfo> threads = advisor.facts().threads();
		role = new int[threads.size()];
		Map<String, Integer> count = new HashMap<>();
		List<Integer> order = IntStream.range(0, threads.size()).boxed().sorted(Comparator.comparingInt((Integer i) -> threads.get(i).image())
				.thenComparing(i -> !threads.get(i).main()).thenComparingLong(i -> threads.get(i).birthNs()).thenComparingInt(i -> i)).toList();
		for (int i : order) {
			ThreadInfo t = threads.get(i);
			String kind = (t.image() > 0 ? "process " + t.image() + " " : "")
					+ (t.main() ? "main" : t.startRoutine().isEmpty() ? "thread" : t.startRoutine());
			int n = count.merge(kind, 1, Integer::sum);
			role[i] = roles.size();
			roles.add(t.main() && n == 1 ? kind : kind + " " + n);
		}
	}

	/** What the user calls it. */
	public String label() {
		return label;
	}

	/** Facts and findings. */
	public Advisor advisor() {
		return advisor;
	}

	/** What it did in its regions. */
	public RegionUse regions() {
		return regions;
	}

	/** The facts. */
	public TraceFacts facts() {
		return advisor.facts();
	}

	/** What a thread is in the program, the same in each recording: its start routine and its number among the threads of that routine. */
	public String role(int thread) {
		return roles.get(role[thread]);
	}

	/** Number of the role of a thread: main first, then by birth. */
	public int roleNumber(int thread) {
		return role[thread];
	}

	/** Names of the roles by number. */
	public List<String> roles() {
		return List.copyOf(roles);
	}

	/** Name of the program without its folder. */
	public String program() {
		String a = facts().info().application();
		return a.substring(a.lastIndexOf('/') + 1);
	}
}
