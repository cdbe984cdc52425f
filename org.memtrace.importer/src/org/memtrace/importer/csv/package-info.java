// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Events as CSV. */
package org.memtrace.importer.csv;
