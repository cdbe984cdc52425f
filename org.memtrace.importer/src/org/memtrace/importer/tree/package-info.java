// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/**
 * The trees of event producers: which structure a row belongs to, which cells there are, and which structures are shown
 * as one.
 */
package org.memtrace.importer.tree;
