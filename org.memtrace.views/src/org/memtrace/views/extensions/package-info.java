// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What other bundles add: extension points, and archives in the folder of the user. */
package org.memtrace.views.extensions;
