// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Small helpers of the views. */
package org.memtrace.views.util;
