library(testthat)
library(memtrace)

test_check("memtrace")
