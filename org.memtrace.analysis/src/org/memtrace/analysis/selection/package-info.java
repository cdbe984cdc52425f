// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What all views of a trace look at: window, producer, viewpoint, level of detail, filters and mark, with their history. */
package org.memtrace.analysis.selection;
