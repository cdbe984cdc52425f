// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The search box over everything: the dialog, and what choosing does. What is found is decided in {@code org.memtrace.analysis.find}. */
package org.memtrace.views.find;
