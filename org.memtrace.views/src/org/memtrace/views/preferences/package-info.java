// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What a user sets once for all traces, and the pages to do so; every change takes effect at once. */
package org.memtrace.views.preferences;
