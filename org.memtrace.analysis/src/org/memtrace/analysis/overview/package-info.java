// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/**
 * The best partition of a trace as a picture or a table, the quality curves, and what is at a point of the picture.
 */
package org.memtrace.analysis.overview;
