// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/**
 * From accesses to the best partition: hierarchy, microscopic model, the temporal, spatial and spatiotemporal
 * aggregation of Ocelotl, and the list of significant values of p. Nothing but the JDK and org.memtrace.model: no files,
 * no SQL, no colours. The mathematics is in docs/how/aggregation.md, the model in docs/how/microscopic-model.md.
 */
package org.memtrace.aggregation;
