// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/**
 * The rules, a class for each, with their thresholds and the texts of their fixes; {@link org.memtrace.analysis.findings.rules.Rules} has
 * their order.
 */
package org.memtrace.analysis.findings.rules;
