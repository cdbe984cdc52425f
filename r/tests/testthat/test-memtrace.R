# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Run by releng/check-r.sh, which sets MEMTRACE and MEMTRACE_ROOT, the checkout with the recorded traces.
root <- Sys.getenv("MEMTRACE_ROOT")
skip_if(!nzchar(root), "MEMTRACE_ROOT is not set")
trace_of <- function(name) mt_open(file.path(root, "testdata/traces", name))
matmul <- trace_of("matmul-naive")

test_that("colours are those of the workbench", {
  wanted <- read.csv(file.path(root, "testdata/vectors/palette.csv"), colClasses = "character", encoding = "UTF-8")
  threads <- wanted[wanted$what == "thread", ]
  expect_identical(mt_thread_colour(as.integer(threads$name)), threads$colour)
  structures <- wanted[wanted$what == "structure", ]
  expect_gt(nrow(structures), 300)
  expect_identical(mt_structure_colour(structures$name), structures$colour)
  page <- wanted[wanted$what == "page", ]
  expect_identical(c(memtrace:::BEHIND, memtrace:::LINE), page$colour[match(c("behind", "line"), page$name)])
})

test_that("every column has a type, and tables are those of query", {
  known <- c(memtrace:::TEXTS, memtrace:::ADDRESSES, memtrace:::DOUBLES, memtrace:::INTEGERS, memtrace:::CLOCKS)
  expect_false(any(duplicated(known)))
  for (name in c("structures", "threads", "intervals", "stacks", "producers", "pages", "findings")) {
    table <- mt_table(matmul, name)
    expect_true(all(names(table) %in% known), name)
    expect_equal(nrow(readr::problems(table)), 0, info = name)
    expect_gt(nrow(table), 0)
  }
  everything <- mt_accesses(matmul, columns = "all")
  expect_true(all(names(everything) %in% known))
  expect_equal(nrow(readr::problems(everything)), 0)
  expect_equal(nrow(everything), nrow(mt_accesses(matmul)))
  expect_error(mt_table(matmul, "page"), "there is no table page; there are accesses, structures")
})

test_that("64 bits are exact", {
  s <- mt_structures(matmul)
  b <- s[s$name == "B", ]
  expect_match(b$start, "^[0-9a-f]+$")
  rows <- mt_accesses(matmul, "B")
  expect_s3_class(rows$start_ns, "integer64")
  expect_type(rows$page_index, "integer")
  expect_identical(sort(unique(rows$page_index)), 0:49)
  # the offset is that of the first address, which is in the page
  expect_true(all(rows$offset >= 0 & rows$offset < b$size_bytes))
  file <- tempfile(fileext = ".csv")
  writeLines(c("start_ns,page_start,reads", "9223372036854775806,ffffffffffffffff,1"), file)
  huge <- memtrace:::read_table(file, "accesses")
  expect_identical(as.character(huge$start_ns), "9223372036854775806")
  expect_identical(huge$page_start, "ffffffffffffffff")
})

test_that("accesses can be chosen", {
  all <- mt_accesses(matmul)
  some <- mt_accesses(matmul, c("A", "B"), thread = 2)
  expect_identical(some, all[all$structure %in% c("A", "B") & all$thread_index %in% 2, ])
  expect_gt(nrow(some), 0)
  number <- some$structure_id[1]
  expect_identical(mt_accesses(matmul, number), all[all$structure_id %in% number, ])
  expect_error(mt_accesses(matmul, "no such"), "there is no structure no such")
  expect_error(mt_accesses(matmul, c("A", "BB")), "there is no structure BB; near: .*B")
  expect_error(mt_accesses(matmul, thread = 99), "there is no thread 99")
})

test_that("pages sum up", {
  pages <- mt_pages(matmul, "thread_index")
  rows <- mt_accesses(matmul)
  expect_equal(sum(pages$reads), sum(rows$reads))
  expect_equal(sum(pages$records), nrow(rows))
  expect_false(anyNA(pages$page_index))
  b <- mt_pages(matmul, structure = "B")
  expect_equal(nrow(b), 50)
  expect_equal(b$reads[b$page_index == 7], sum(rows$reads[rows$structure == "B" & rows$page_index == 7]))
  # what has no index is counted in the order of addresses
  counted <- memtrace:::with_page(tibble::tibble(structure = "x", page_index = NA_integer_, page_start = c("10000", "f000", "a000", "f000")))
  expect_identical(counted$page_index, c(2L, 1L, 0L, 1L))
})

test_that("pictures show what the trace has", {
  data_of <- function(p, layer = 1) ggplot2::layer_data(p, layer)
  p4 <- autoplot(matmul, "P4", c("A", "B", "C"))
  rows <- mt_accesses(matmul, c("A", "B", "C"))
  kinds <- dplyr::n_distinct(rows$structure, rows$page_index, as.character(rows$start_ns), as.character(rows$end_ns),
                             startsWith(rows$type, "Shared"), rows$writes > 0)
  expect_equal(nrow(data_of(p4)), kinds)
  expect_equal(max(as.integer(p4$data$value)), 3)
  expect_false(is.unsorted(p4$data$sharing))
  # of threads on one page at the same time: one rectangle, with the largest number
  row <- tibble::tibble(structure = "x", page_index = 1L, time_ns = 0, start_ns = bit64::as.integer64(5), end_ns = bit64::as.integer64(9),
                        type = "Shared_Read", writes = 0, sharing = 2L)
  found <- memtrace:::rectangles(rbind(row, dplyr::mutate(row, sharing = 3L), dplyr::mutate(row, page_index = 2L)))
  expect_identical(found$sharing[found$page_index == 1], 3L)
  expect_identical(found$length_ns, c(4, 4))
  bars <- data_of(autoplot(matmul, "P6"))
  sums <- tapply(mt_accesses(matmul)$reads + mt_accesses(matmul)$writes, mt_accesses(matmul)$structure, sum)
  expect_equal(10^bars$y[1], max(sums))
  expect_equal(bars$fill[1], mt_structure_colour(names(which.max(sums))))
  p9 <- autoplot(matmul, "P9", "B")
  expect_equal(sum(p9$data$accesses), sum(mt_accesses(matmul, "B")$reads + mt_accesses(matmul, "B")$writes))
  p12 <- autoplot(matmul, "P12", "B", limits = c(1, 2))
  colours <- data_of(p12)$fill
  expect_identical(colours == "black", p12$data$sharing > 2)
  expect_equal(length(unique(colours)), 2) # B has 1 and 3 threads
  file <- tempfile(fileext = ".png")
  for (plot in c("P4", "P6", "P9", "P12")) {
    ggplot2::ggsave(file, autoplot(matmul, plot), width = 6, height = 4, dpi = 50)
    expect_gt(file.size(file), 1000)
  }
  expect_error(autoplot(matmul, "P4", "no such"), "there is no structure no such")
  expect_error(autoplot(matmul, "P5"), "should be one of")
})

test_that("what fails is the sentence of memtrace", {
  expect_error(mt_open("/no/such.db"), "/no/such.db")
  expect_error(mt_open(mt_folder(matmul)), "is a Parquet folder")
  withr <- Sys.getenv("MEMTRACE")
  on.exit(Sys.setenv(MEMTRACE = withr))
  Sys.setenv(MEMTRACE = "/no/such/program")
  expect_error(mt_open(file.path(root, "testdata/traces/stencil-serial")), "which is no program")
})

test_that("a trace prints itself", {
  expect_output(print(matmul), "matmul-naive, \\d+ structures>")
})
