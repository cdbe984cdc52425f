// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Traces of Paraver. */
package org.memtrace.importer.paraver;
