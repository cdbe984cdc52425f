// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The profile of a trace of events: a table of regions and a flame graph. */
package org.memtrace.views.profile;
