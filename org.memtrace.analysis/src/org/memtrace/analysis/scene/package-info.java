// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/**
 * A picture as a list of shapes, what pictures have in common (axis, titles, width of texts), and the writers of SVG,
 * PDF and PNG.
 */
package org.memtrace.analysis.scene;
