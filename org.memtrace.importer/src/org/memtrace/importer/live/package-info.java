// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What has the program done in the last intervals, while it is recorded? Read from the trace directory as it grows. */
package org.memtrace.importer.live;
