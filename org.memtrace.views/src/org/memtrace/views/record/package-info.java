// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The record wizard: choose a program and a collector, follow the recording, see the trace. */
package org.memtrace.views.record;
