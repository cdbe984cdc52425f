// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What a fine clock counted, and what is estimated from it. */
package org.memtrace.model.fine;
