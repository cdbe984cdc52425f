// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The tree of event producers. */
package org.memtrace.model.tree;
