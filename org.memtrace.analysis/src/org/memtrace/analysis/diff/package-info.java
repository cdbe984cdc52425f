// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/**
 * What differs between recordings of two states of a program: structures, threads and pages matched, numbers compared, findings gone and
 * new.
 */
package org.memtrace.analysis.diff;
