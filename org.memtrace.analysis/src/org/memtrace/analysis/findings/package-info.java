// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/**
 * What is wrong with the memory of a program, what proves it, and what to do: the summary and the findings of the rules.
 * docs/reference/findings.md.
 */
package org.memtrace.analysis.findings;
