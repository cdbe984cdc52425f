// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Databases that others wrote. */
package org.memtrace.storage.foreign;
