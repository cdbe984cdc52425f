/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * tracenames.h - what the programs that write a trace and the command that reads it have to call alike. The norm is
 * docs/reference/trace-format.md; releng/check-facts.py refuses these names elsewhere.
 */
#ifndef MEMTRACE_TRACENAMES_H
#define MEMTRACE_TRACENAMES_H

/* Of an image. */
#define MT_FILE_IMAGE "image.json"
#define MT_FILE_CONTEXT "context.log"
#define MT_FILE_MAPS "maps-start.txt"
#define MT_FILE_INTERVALS "intervals.csv"
#define MT_FILE_FIRST "first.csv"
#define MT_FILE_INSTRUCTIONS "instructions.csv"
#define MT_FILE_TICKS "ticks.csv"
#define MT_FILE_TICKS_RAW "ticks.log"
#define MT_FILE_STANDSTILL "standstill.csv"
#define MT_FILE_WINDOWS "windows.csv"
#define MT_FILE_ZOOMCOST "zoomcost.csv"

/* How the names of chunks of records end. */
#define MT_CHUNK_SUFFIX ".mtr"

/* Of the trace. */
#define MT_FILE_UNRECORDED "unrecorded.csv"
#define MT_FILE_TURNS ".windows"	/* only while the program runs: counts the signals of --windows */

/* In place of a backend in image.json: none worked. */
#define MT_NO_BACKEND "none"

#endif
