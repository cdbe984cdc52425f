// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/**
 * The best partition of a model: the temporal and spatiotemporal aggregation of Ocelotl, that of two hierarchies, and the list of
 * significant values of p. docs/how/aggregation.md
 */
package org.memtrace.aggregation.engine;
