// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What a page is told of a trace: the pictures, tables and findings of analysis as JSON. Knows no sockets. */
package org.memtrace.serve.answer;
