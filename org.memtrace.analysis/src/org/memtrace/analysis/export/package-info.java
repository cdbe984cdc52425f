// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** A trace as files for other programs. */
package org.memtrace.analysis.export;
