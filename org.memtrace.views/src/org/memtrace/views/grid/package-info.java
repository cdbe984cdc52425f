// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Tables of any number of rows, drawn by NatTable: only what is seen is asked for. */
package org.memtrace.views.grid;
