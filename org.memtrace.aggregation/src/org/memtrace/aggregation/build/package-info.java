// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** From accesses to a model, and what is saved for first pictures. */
package org.memtrace.aggregation.build;
