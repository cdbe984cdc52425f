// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Events of other traces as rows and as a model. */
package org.memtrace.aggregation.events;
