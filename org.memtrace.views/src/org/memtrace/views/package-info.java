// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The views of the workbench: what they share, and the perspective. Nothing here computes statistics. */
package org.memtrace.views;
