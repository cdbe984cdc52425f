// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** How a definition file of monitors is written: its words, what fits where, and what {@code memtrace monitor --check} says of it. */
package org.memtrace.importer.definition;
