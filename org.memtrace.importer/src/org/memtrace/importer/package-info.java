// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Trace directory to trace store. */
package org.memtrace.importer;
