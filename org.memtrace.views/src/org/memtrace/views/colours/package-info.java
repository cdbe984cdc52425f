// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The editor of colours. */
package org.memtrace.views.colours;
