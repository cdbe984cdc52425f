// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Traces as JSON of Chrome's trace viewer and Perfetto. */
package org.memtrace.importer.chrome;
