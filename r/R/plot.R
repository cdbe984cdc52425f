# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0

# ---- colours: those of the workbench, which a test compares

SERIES <- c("#2f6fc4", "#ffbd00", "#3b823b", "#d37800", "#a990eb", "#92b594", "#c673b6", "#6a3e0d", "#c4b637", "#4f5d6b", "#9cc0f0", "#a6dc8c")
# Structures, by their name.
NAMED <- c("#3b6fb6", "#e8862e", "#3f9f5f", "#c8443f", "#8b66b8", "#5fb7c4", "#d77fb3", "#8c6d4f", "#b6a72c", "#5b6b7b", "#7fa8e0", "#8fce7a")
HUES <- c(3, 1, 7, 8, 11, 2, 5, 10, 0, 9, 4, 6)
UNKNOWN <- "#9aa0a6"
BEHIND <- "#f3f4f6"
LINE <- "#c3cad2"
HEAT <- c("#fef0d9", "#d7301f")
UNKNOWN <- "#9aa0a6"
BLUES <- c("#cfe3f6", "#2a6db8", "#0b2545")

# Later rounds of a series are darker and lighter in turn.
shade <- function(colour, turn) {
  if (turn == 0) {
    return(colour)
  }
  share <- 0.25 + 0.1 * (turn %% 4)
  rgb <- grDevices::col2rgb(colour)[, 1]
  mixed <- floor(rgb + ((if (turn %% 2 == 1) 0 else 255) - rgb) * share + 0.5)
  sprintf("#%02x%02x%02x", mixed[1], mixed[2], mixed[3])
}

mt_thread_colour <- function(index) {
  vapply(index, function(i) {
    if (is.na(i) || i < 0) UNKNOWN else shade(SERIES[i %% length(SERIES) + 1], i %/% length(SERIES))
  }, "", USE.NAMES = FALSE)
}

# a * b modulo 2^32, exact in doubles
times32 <- function(a, b) {
  high <- a %/% 65536
  low <- a %% 65536
  ((high * b) %% 2^32 * 65536 + low * b) %% 2^32
}

mt_structure_colour <- function(name) {
  vapply(enc2utf8(as.character(name)), function(n) {
    hash <- 0
    for (code in utf8ToInt(n)) {
      units <- if (code < 65536) code else c(0xd800 + (code - 65536) %/% 1024, 0xdc00 + (code - 65536) %% 1024)
      for (unit in units) {
        hash <- (hash * 31 + unit) %% 2^32
      }
    }
    place <- floor(times32(hash, 0x9e3779b9) * 60 / 2^32)
    hue <- HUES[place %/% 5 + 1]
    shade(if (hue == 9) "#4a3fc4" else NAMED[hue + 1], place %% 5)
  }, "", USE.NAMES = FALSE)
}

# ---- pictures

look <- function() {
  ggplot2::theme_minimal(base_size = 10) +
    ggplot2::theme(panel.background = ggplot2::element_rect(fill = BEHIND, colour = NA), panel.grid = ggplot2::element_blank(),
                   strip.text.y = ggplot2::element_text(angle = 0, hjust = 0), plot.background = ggplot2::element_rect(fill = "white", colour = NA))
}

# Those with most accesses.
most_used <- function(trace, count = 6) {
  rows <- mt_accesses(trace)
  sums <- tapply(rows$reads + rows$writes, rows$structure, sum)
  names(sort(sums, decreasing = TRUE))[seq_len(min(count, length(sums)))]
}

#' @param plot P4, P6, P9 or P12
#' @param structures names; NULL: those with most accesses
#' @param limits of the colours of P12; what is above them is black
autoplot.mt_trace <- function(object, plot = c("P4", "P6", "P9", "P12"), structures = NULL, limits = c(1, 10), ...) {
  plot <- match.arg(plot)
  if (plot == "P6") {
    return(importance(mt_accesses(object, structures), if (is.null(structures)) 20 else length(structures)))
  }
  names <- if (is.null(structures)) most_used(object) else structures
  rows <- with_page(mt_accesses(object, names))
  if (nrow(rows) == 0) {
    stop("there are no accesses to ", paste(names, collapse = ", "), call. = FALSE)
  }
  rows$structure <- factor(rows$structure, levels = names)
  switch(plot, P4 = sharing(rows, NULL), P12 = sharing(rows, limits), P9 = page_thread(rows))
}

# A rectangle for each interval, page and class, with the largest number of threads; the largest are drawn last.
rectangles <- function(rows) {
  kind <- ifelse(startsWith(rows$type, "Shared"), "shared", ifelse(startsWith(rows$type, "NotKnown"), "not known", "private"))
  rows$class <- factor(paste(kind, ifelse(rows$writes > 0, "write", "read")),
                       levels = c("private read", "private write", "shared read", "shared write", "not known read", "not known write"))
  # one thread was seen, and whether there were others is not known
  rows$sharing[is.na(rows$sharing)] <- 0L
  rows$length_ns <- as.double(rows$end_ns - rows$start_ns)
  found <- dplyr::summarise(dplyr::group_by(rows, .data$structure, .data$page_index, .data$time_ns, .data$length_ns, .data$class),
                            sharing = max(.data$sharing), .groups = "drop")
  found[order(found$sharing), ]
}

sharing <- function(rows, limits) {
  found <- rectangles(rows)
  hidden <- found[found$sharing == 0, ]
  box <- ggplot2::aes(xmin = .data$time_ns / 1e6, xmax = (.data$time_ns + .data$length_ns) / 1e6, ymin = .data$page_index,
                      ymax = .data$page_index + 1)
  if (is.null(limits)) {
    steps <- seq_len(max(found$sharing, 1))
    found$value <- factor(ifelse(found$sharing == 0, "not known", found$sharing), levels = c(if (nrow(hidden) > 0) "not known", steps))
  } else {
    found <- found[found$sharing > 0, ]
    found$value <- found$sharing
  }
  p <- ggplot2::ggplot(found, box) +
    ggplot2::geom_rect(ggplot2::aes(fill = .data$value, colour = .data$value), linewidth = 0.2) +
    ggplot2::facet_grid(ggplot2::vars(.data$structure), ggplot2::vars(.data$class), scales = "free_y") +
    ggplot2::labs(x = "time [ms]", y = "page of the structure", fill = "threads at\nthe same time", colour = "threads at\nthe same time") +
    look()
  if (is.null(limits)) {
    colours <- c(if (nrow(hidden) > 0) UNKNOWN, grDevices::colorRampPalette(HEAT)(length(steps)))
    return(p + ggplot2::scale_fill_manual(values = colours, drop = FALSE, aesthetics = c("fill", "colour")))
  }
  if (nrow(hidden) > 0) {
    p <- p + ggplot2::geom_rect(box, hidden, fill = UNKNOWN, colour = UNKNOWN, linewidth = 0.2) + ggplot2::labs(caption = "grey: not known")
  }
  # what is outside of the limits is missing, and so black; nothing is below 1 thread
  p + ggplot2::scale_fill_gradient(low = HEAT[1], high = HEAT[2], limits = limits, breaks = whole, na.value = "black",
                                    aesthetics = c("fill", "colour"))
}

# Breaks of an axis of whole numbers.
whole <- function(limits) unique(round(pretty(limits)))

page_thread <- function(rows) {
  sums <- dplyr::summarise(dplyr::group_by(rows, .data$structure, .data$page_index, .data$thread_index),
                           accesses = sum(.data$reads + .data$writes), .groups = "drop")
  sums$thread <- factor(ifelse(is.na(sums$thread_index) | sums$thread_index < 0, "?", paste0("#", sums$thread_index)),
                        levels = unique(c("?", paste0("#", sort(unique(sums$thread_index))))))
  ggplot2::ggplot(sums, ggplot2::aes(x = .data$page_index + 0.5, y = .data$thread, fill = .data$accesses)) +
    ggplot2::geom_tile(width = 1, height = 1) +
    ggplot2::facet_wrap(ggplot2::vars(.data$structure), ncol = 1, scales = "free_x") +
    ggplot2::scale_fill_gradientn(colours = BLUES, trans = "log10") +
    ggplot2::labs(x = "page of the structure", y = "thread", fill = "reads +\nwrites") +
    look()
}

importance <- function(rows, count) {
  sums <- sort(tapply(rows$reads + rows$writes, rows$structure, sum), decreasing = TRUE)
  sums <- sums[seq_len(min(count, length(sums)))]
  bars <- tibble::tibble(structure = factor(names(sums), levels = names(sums)), accesses = as.vector(sums))
  ggplot2::ggplot(bars, ggplot2::aes(x = .data$structure, y = .data$accesses, fill = .data$structure)) +
    ggplot2::geom_col(show.legend = FALSE) +
    ggplot2::scale_fill_manual(values = stats::setNames(mt_structure_colour(names(sums)), names(sums))) +
    ggplot2::scale_y_log10() +
    ggplot2::labs(x = NULL, y = "reads + writes") +
    look() +
    ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 40, hjust = 1),
                   panel.grid.major.y = ggplot2::element_line(colour = LINE, linetype = "dashed"))
}
