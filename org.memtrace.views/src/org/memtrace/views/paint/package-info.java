// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Scenes of the analysis on the screen. */
package org.memtrace.views.paint;
