// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Work off the display thread whose late results never overwrite newer ones. */
package org.memtrace.views.jobs;
