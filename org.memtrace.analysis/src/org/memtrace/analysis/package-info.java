// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/**
 * What a person sees, without a display: pictures as lists of shapes, their SVG and PNG writers, tables and texts about
 * a trace. The workbench paints the same shapes. Nothing but the JDK, the model and the aggregation.
 */
package org.memtrace.analysis;
