// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What is open: traces and what was loaded of them, groups of views, the choices of a user. No widgets but dialogs. */
package org.memtrace.views.session;
