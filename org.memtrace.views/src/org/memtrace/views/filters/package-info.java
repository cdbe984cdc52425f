// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Filters of a trace as chips, their dialog, and the menu entries that make them. */
package org.memtrace.views.filters;
