// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;

/**
 * Says whether one kind of problem is there. Rules are asked in order; the first one whose checks all hold wins for a group of blocks. A
 * rule keeps nothing; any thread may use it.
 */
public interface Rule {
	/** Name for a user, JSON and options: lower case with hyphens. */
	String id();

	/** What it finds, in two or three words. */
	String title();

	/** How much such a problem may cost. */
	Severity severity();

	/** Whether the rule is asked about a group at all. */
	boolean concerns(GroupFacts group, TraceFacts trace, Thresholds thresholds);

	/** The conditions in order, each with its value, whether it holds or not. */
	List<Check> checks(GroupFacts group, TraceFacts trace, Thresholds thresholds);

	/** What to say; asked only when all checks hold. */
	Statement state(GroupFacts group, TraceFacts trace, Thresholds thresholds);

	/** Whether the same statement about several groups is one finding. */
	default boolean folds() {
		return false;
	}
}
