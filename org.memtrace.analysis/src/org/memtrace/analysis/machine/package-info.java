// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The recorded machine as a tree, what each part of it did, and its picture. */
package org.memtrace.analysis.machine;
