// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** How are the last intervals of a program that is recorded shown, as a table and as a picture? */
package org.memtrace.analysis.live;
