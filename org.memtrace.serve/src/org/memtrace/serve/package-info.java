// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Shows traces to a browser: a server on this machine only, its page, and how long both live. */
package org.memtrace.serve;
