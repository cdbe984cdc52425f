// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Who may ask, how a question is read, and how long an answer may take: knows no traces. */
package org.memtrace.serve.http;
