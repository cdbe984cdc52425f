// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Help: our documents as pages, F1, the tutorial, and what this program consists of. */
package org.memtrace.views.help;
