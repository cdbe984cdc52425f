// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** By what accesses can be told apart: the list of all dimensions. docs/extend/dimension.md */
package org.memtrace.analysis.dimension;
