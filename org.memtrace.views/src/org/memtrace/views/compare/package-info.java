// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Two traces side by side, and a view as a link for another person. */
package org.memtrace.views.compare;
