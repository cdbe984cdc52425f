// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Which threads share pages, and on which CPUs they would be near to each other. */
package org.memtrace.views.binding;
