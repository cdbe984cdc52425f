// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The list of findings of the trace that is shown, or of two that are compared, and the report. */
package org.memtrace.views.findings;
