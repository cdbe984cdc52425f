// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** What a rule says about a group: evidence, advice, fix, figures. The fields are read by whoever makes the finding. */
public final class Statement {
	private static final int MOST_LEAVES = 256;

	public final String evidence;
	public final String advice;
	public Fix fix = Fix.NONE;
	public String view = "sharing";
	/** Statements with the same key are about the same cause. */
	public String key = "";
	public final List<Integer> threads = new ArrayList<>();
	public final Map<String, Double> figures = new LinkedHashMap<>();
	public Severity severity;
	public boolean atMostMedium;
	/** The leaves that it is about; empty: all of the group. */
	public final TreeSet<Integer> leaves = new TreeSet<>();
	public boolean sharedTime;

	/**
	 * @param evidence one sentence without a full stop that has the numbers; it does not begin with a name, so its first letter may be a
	 *            capital
	 * @param advice one sentence without a full stop that says what to do
	 */
	public Statement(String evidence, String advice) {
		this.evidence = evidence;
		this.advice = advice;
	}

	/** What to change, in whole sentences. */
	public Statement fix(String sentences) {
		return fix(Fix.words(sentences));
	}

	/** What to change, with a command and code where there is any. */
	public Statement fix(Fix text) {
		fix = text;
		return this;
	}

	/** View that shows it: thread, sharing or rw. */
	public Statement view(String id) {
		view = id;
		return this;
	}

	/** A number for programs. */
	public Statement figure(String name, double value) {
		figures.put(name, value);
		return this;
	}

	/** A thread that takes part. */
	public Statement thread(int index) {
		if (index >= 0) {
			threads.add(index);
		}
		return this;
	}

	/** Statements of folding rules with this key become one. */
	public Statement key(String text) {
		key = text;
		return this;
	}

	/** Another severity than the rule's. */
	public Statement severity(Severity s) {
		severity = s;
		return this;
	}

	/** The confidence is medium at most. */
	public Statement atMostMedium() {
		atMostMedium = true;
		return this;
	}

	/** Leaves that it is about, when they are not all of the group; not kept when there are more than {@value #MOST_LEAVES}. */
	public Statement leaves(IntStream some) {
		some.limit(MOST_LEAVES + 1L).forEach(leaves::add);
		if (leaves.size() > MOST_LEAVES) {
			leaves.clear();
		}
		return this;
	}

	/** It holds in the time in which the group is shared and written. */
	public Statement sharedTime() {
		sharedTime = true;
		return this;
	}
}
