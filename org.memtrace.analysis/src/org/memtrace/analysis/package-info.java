// Copyright memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Questions and answers ready to show, without a display. */
package org.memtrace.analysis;
