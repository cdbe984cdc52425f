// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The source of the traced program, with what each line did. */
package org.memtrace.views.source;
