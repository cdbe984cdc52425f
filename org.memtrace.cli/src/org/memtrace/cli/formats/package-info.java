// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What {@code memtrace export} writes: a class for each format. */
package org.memtrace.cli.formats;
