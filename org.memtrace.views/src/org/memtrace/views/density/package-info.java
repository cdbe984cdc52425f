// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** How much happens when. */
package org.memtrace.views.density;
