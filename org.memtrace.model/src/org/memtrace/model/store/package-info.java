// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/**
 * The interfaces to stored traces: catalogues, readers and writers, and the batches of accesses and events that pass
 * through them.
 */
package org.memtrace.model.store;
