// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Runs {@code memtrace record} and {@code memtrace check} for a program with windows, and follows what they do. */
package org.memtrace.importer.record;
