// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

/** What would a repair gain here: from ticks at a structure, and what memory costs on the recorded machine? */
package org.memtrace.analysis.findings.price;
