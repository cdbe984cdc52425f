// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The catalogue of traces: list, details, import. */
package org.memtrace.views.traces;
