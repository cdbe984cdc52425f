// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What a list of findings of one or two traces shows, and what a click on one means, without widgets. */
package org.memtrace.analysis.cards;
