// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What can be done with the active view by menu and keys. */
package org.memtrace.views.commands;
