// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Traces of monitors on the places of a machine. */
package org.memtrace.importer.monitor;
