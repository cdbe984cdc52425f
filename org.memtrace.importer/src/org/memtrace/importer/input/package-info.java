// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/**
 * Input of an import as files or streams, plain or compressed: recognition by content, lines, CSV, JSON, and the count
 * of what is skipped.
 */
package org.memtrace.importer.input;
