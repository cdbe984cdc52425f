// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** A text that is written by a person, with colours, proposals and a mark: statements, definitions of monitors. */
package org.memtrace.views.editor;
