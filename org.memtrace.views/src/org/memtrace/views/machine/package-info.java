// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The machine on which a trace was recorded, coloured by what the selection did there. */
package org.memtrace.views.machine;
