// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

/** Where the producers of a trace of events spend their time: profiles by region and by calling context, and interference. */
package org.memtrace.analysis.profile;
