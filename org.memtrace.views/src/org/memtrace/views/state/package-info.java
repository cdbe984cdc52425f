// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What the views look at: plain classes without SWT, so that they can be tested without a display. */
package org.memtrace.views.state;
