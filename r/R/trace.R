# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0

# ---- the command

command <- function() {
  named <- Sys.getenv("MEMTRACE")
  found <- Sys.which(if (nzchar(named)) named else "memtrace")
  if (!nzchar(found)) {
    stop(if (nzchar(named)) paste0("MEMTRACE is ", named, ", which is no program")
         else "there is no memtrace in PATH; set the environment variable MEMTRACE to it", call. = FALSE)
  }
  unname(found)
}

# Runs the command; its standard output is in the file that is returned.
run <- function(...) {
  out <- tempfile("memtrace-", fileext = ".csv")
  said <- tempfile("memtrace-")
  on.exit(unlink(said))
  code <- system2(command(), shQuote(c(...)), stdout = out, stderr = said, stdin = "")
  if (code != 0) {
    unlink(out)
    lines <- readLines(said, warn = FALSE)
    stop(if (length(lines)) lines[length(lines)] else paste0("memtrace ", ..1, " ended with ", code), call. = FALSE)
  }
  out
}

# ---- columns (docs/reference/columns.md); a test says when one is missing

TEXTS <- c("cpu", "type", "thread", "structure", "site", "type_name", "size_class", "phase", "pattern", "function", "source", "object", "page",
           "level", "kind", "name", "start_routine", "event", "file", "first_thread", "first_writer", "rule", "title", "severity", "confidence",
           "structures", "structure_ids", "evidence", "advice", "fix", "command", "code", "check", "view", "value")
ADDRESSES <- c("page_start", "address", "ip", "start", "end")
# fit into 53 bits: of the rest, times of the clock do not always
DOUBLES <- c("time_ns", "reads", "writes", "size_bytes", "offset", "faults", "lost", "unattributed", "records", "target_ns", "cpu_ns",
             "latency", "accesses", "resident_bytes", "touched_bytes", "huge_bytes", "no_huge_bytes", "unseen_shared_bytes",
             "unseen_file_bytes", "program_cpu_ns", "monitor_cpu_ns", "scan_ns", "zap_ns")
INTEGERS <- c("image", "producer", "page_index", "structure_id", "task", "thread_index", "flags", "node", "sharing", "numa_distance", "id",
              "subphases", "first_known", "first_write_known", "stack", "index", "main", "depth", "line", "parent", "subtree_end", "threads", "weight_ppm", "producer_from", "producer_to")
CLOCKS <- c("start_ns", "end_ns", "birth_ns", "death_ns", "first_ns", "first_write_ns", "from_ns", "to_ns", "closed_ns", "first_access_ns")

# What readr makes of a column. Numbers of threads are a text in findings: several are separated by commas.
column_type <- function(name, table) {
  if (name %in% c(TEXTS, ADDRESSES, CLOCKS) || (name == "threads" && table == "findings")) readr::col_character()
  else if (name %in% INTEGERS) readr::col_integer()
  else if (name %in% DOUBLES) readr::col_double()
  else readr::col_character()
}

read_table <- function(file, table) {
  names <- strsplit(readLines(file, n = 1, encoding = "UTF-8"), ",", fixed = TRUE)[[1]]
  types <- lapply(stats::setNames(names, names), column_type, table = table)
  rows <- readr::read_csv(file, col_types = do.call(readr::cols, types), na = "", progress = FALSE, lazy = FALSE)
  for (name in intersect(names, CLOCKS)) {
    rows[[name]] <- as.integer64(rows[[name]])
  }
  rows
}

# ---- traces

#' Opens a trace: a trace directory, a database, or a number or name in the catalogue.
mt_open <- function(trace) {
  stopifnot(length(trace) == 1)
  trace <- as.character(trace)
  if (file.exists(file.path(trace, "meta.json"))) {
    stop(trace, " is a Parquet folder, which arrow::open_dataset reads; open the trace itself", call. = FALSE)
  }
  if (file.exists(trace)) {
    trace <- normalizePath(trace)
  }
  t <- structure(list(source = trace, tables = new.env(parent = emptyenv())), class = "mt_trace")
  mt_structures(t) # a trace that is none fails here
  t
}

#' One of the tables structures, threads, intervals, stacks, producers, pages, footprints, findings. It is read once.
mt_table <- function(trace, name) {
  stopifnot(inherits(trace, "mt_trace"))
  known <- c("structures", "threads", "intervals", "stacks", "producers", "pages", "footprints", "findings")
  if (!name %in% known) {
    stop("there is no table ", name, "; there are accesses, ", paste(known, collapse = ", "), call. = FALSE)
  }
  kept(trace, name, function() run("query", "--quiet", "--what", name, "--format", "csv", trace$source))
}

kept <- function(trace, name, export) {
  if (!exists(name, trace$tables, inherits = FALSE)) {
    file <- export()
    on.exit(unlink(file))
    assign(name, read_table(file, sub("-.*", "", name)), trace$tables)
  }
  get(name, trace$tables, inherits = FALSE)
}

mt_structures <- function(trace) mt_table(trace, "structures")

USUAL <- c("start_ns", "end_ns", "time_ns", "structure", "structure_id", "page_index", "offset", "page_start", "thread", "thread_index", "cpu",
           "type", "reads", "writes", "sharing", "node")

#' Records: what one thread did to one page in one interval.
mt_accesses <- function(trace, structure = NULL, thread = NULL, columns = NULL) {
  stopifnot(inherits(trace, "mt_trace"))
  chosen <- if (is.null(columns)) USUAL else columns
  rows <- kept(trace, paste0("accesses-", paste(chosen, collapse = ",")), function() {
    file <- tempfile("memtrace-", fileext = ".csv") # not through a pipe: memtrace reports what is wrong before it writes
    unlink(run("export", "--quiet", "--format", "csv", "--columns", paste(chosen, collapse = ","), "-o", file, trace$source))
    file
  })
  check_names(trace, structure, thread, rows)
  if (!is.null(structure)) {
    rows <- if (is.numeric(structure)) rows[rows$structure_id %in% structure, ] else rows[rows$structure %in% structure, ]
  }
  if (!is.null(thread)) {
    rows <- rows[rows$thread_index %in% thread, ]
  }
  rows
}

# A name that the trace does not have is a mistake, not an answer without rows.
check_names <- function(trace, structure, thread, rows) {
  if (!is.null(structure)) {
    all <- mt_structures(trace)
    known <- if (is.numeric(structure)) as.numeric(all$id) else unique(c(all$name, rows$structure))
    for (wanted in setdiff(structure, known)) {
      near <- if (is.numeric(structure)) character(0) else known[utils::adist(wanted, known, ignore.case = TRUE)[1, ] <= max(1, nchar(wanted) %/% 3)]
      near <- near[!is.na(near)]
      stop("there is no structure ", wanted, if (length(near) > 0) paste0("; near: ", paste(utils::head(near, 5), collapse = ", ")), call. = FALSE)
    }
  }
  if (!is.null(thread)) {
    unknown <- setdiff(thread, c(-1, as.numeric(mt_table(trace, "threads")$index)))
    if (length(unknown) > 0) {
      stop("there is no thread ", unknown[1], "; mt_table(trace, \"threads\") has the numbers", call. = FALSE)
    }
  }
}

#' Records, reads and writes of each page, divided by columns of accesses.
mt_pages <- function(trace, by = NULL, structure = NULL) {
  keys <- c("structure", "page_index", by)
  rows <- with_page(mt_accesses(trace, structure))
  dplyr::ungroup(dplyr::summarise(dplyr::group_by(rows, dplyr::across(dplyr::all_of(keys))), records = dplyr::n(),
                                  reads = sum(.data$reads), writes = sum(.data$writes), .groups = "drop"))
}

# What belongs to no structure, and what a merging rule made of several, has no index of pages: its used pages are counted.
with_page <- function(rows) {
  if (!anyNA(rows$page_index)) {
    return(rows)
  }
  padded <- paste0(strrep("0", 16 - nchar(rows$page_start)), rows$page_start)
  for (name in unique(rows$structure[is.na(rows$page_index)])) {
    mine <- which(rows$structure == name)
    # addresses are not of hexadecimal digits' order in every locale
    rows$page_index[mine] <- match(padded[mine], sort(unique(padded[mine]), method = "radix")) - 1L
  }
  rows
}

#' The Parquet folder of the trace, for arrow or duckdb. It is kept, and written once for each state of the trace.
mt_folder <- function(trace) {
  stopifnot(inherits(trace, "mt_trace"))
  file <- run("export", "--quiet", "--format", "parquet", "--cached", trace$source)
  on.exit(unlink(file))
  readLines(file, n = 1)
}

print.mt_trace <- function(x, ...) {
  cat("<memtrace trace ", x$source, ", ", nrow(mt_structures(x)), " structures>\n", sep = "")
  invisible(x)
}
