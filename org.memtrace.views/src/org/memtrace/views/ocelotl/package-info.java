// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The aggregated picture over time and memory, and the choice of its level of detail. */
package org.memtrace.views.ocelotl;
