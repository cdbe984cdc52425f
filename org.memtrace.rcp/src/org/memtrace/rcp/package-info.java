// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The application around the views: start, window, menu, status line. */
package org.memtrace.rcp;
