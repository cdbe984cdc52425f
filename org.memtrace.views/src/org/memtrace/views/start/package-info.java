// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The workbench begins and ends: services, the perspective, the kept session, and what a second start asks for. */
package org.memtrace.views.start;
