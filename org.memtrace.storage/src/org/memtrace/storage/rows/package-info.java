// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Rows of chunks as the model wants them: as accesses and as events. */
package org.memtrace.storage.rows;
