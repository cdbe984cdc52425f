// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

/** How much a finding may cost. */
public enum Severity {
	LOW, MEDIUM, HIGH;

	/** Name for a person and for JSON. */
	public String id() {
		return name().toLowerCase(java.util.Locale.ROOT);
	}
}
