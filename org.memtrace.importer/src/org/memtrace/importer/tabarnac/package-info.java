// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Pages of TABARNAC. */
package org.memtrace.importer.tabarnac;
