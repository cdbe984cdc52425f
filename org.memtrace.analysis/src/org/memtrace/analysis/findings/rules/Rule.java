// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;
import java.util.Set;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;

/**
 * Says whether one kind of problem is there. Each rule is asked about each group of blocks, and each one that holds is told, but for those
 * whose cause another one names, see {@link #covers}. A rule keeps nothing; any thread may use it.
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

	/**
	 * Ids of the rules that are not told of a group for which this one holds: they would name the same cause again, more generally or as
	 * its consequence, or their advice is a part of this one's. What a covered rule covers is covered, too, since it holds as well.
	 */
	default Set<String> covers() {
		return Set.of();
	}

	/** Whether the same statement about several groups is one finding. */
	default boolean folds() {
		return false;
	}
}
