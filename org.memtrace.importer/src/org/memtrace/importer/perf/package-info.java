// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Memory samples of perf, from the text of {@code perf script}. */
package org.memtrace.importer.perf;
