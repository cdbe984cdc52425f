// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What all views of a trace have in common, and their pictures as files. */
package org.memtrace.views.view;
