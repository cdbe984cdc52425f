// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Pictures of {@code memtrace render} that are not of a partition. */
package org.memtrace.cli.rendering;
