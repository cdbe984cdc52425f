// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The data structures of the program as a table. */
package org.memtrace.views.structures;
