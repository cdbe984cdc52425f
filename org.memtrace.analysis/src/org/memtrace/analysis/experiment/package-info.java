// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/**
 * An experiment: its plan, its runs one after the other in a random order, what they measured, and the report
 * (docs/howto/experiments.md).
 */
package org.memtrace.analysis.experiment;
