// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What differs between two traces that are compared: sentences, a table, and a picture. */
package org.memtrace.views.difference;
