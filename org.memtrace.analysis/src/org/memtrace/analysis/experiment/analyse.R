# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Makes summary.csv from filtered.csv: Rscript analyse.R > summary.csv; the scatter plot goes to scatter.pdf. Needs nothing but R.
# Mean, standard error, confidence interval of 95 % (Student's t); speed-up: the ratio of the means, its interval that of the logarithm of
# the ratio (delta method) with the degrees of freedom of Welch and Satterthwaite.
factors <- @FACTORS@
metrics <- @METRICS@
reference <- @REFERENCE@
higher <- @HIGHER@

runs <- read.csv("filtered.csv", colClasses = "character", check.names = FALSE)
result <- list()
for (metric in metrics) {
	value <- as.numeric(runs[[metric]])
	one <- lapply(split(seq_len(nrow(runs)), as.integer(runs$configuration)), function(i) {
		n <- length(i)
		error <- if (n > 1) sd(value[i]) / sqrt(n) else NA
		half <- if (n > 1) qt(0.975, n - 1) * error else NA
		data.frame(configuration = as.integer(runs$configuration[i[1]]), runs[i[1], factors, drop = FALSE], metric = metric, runs = n,
			mean = mean(value[i]), standard_error = error, low = mean(value[i]) - half, high = mean(value[i]) + half,
			check.names = FALSE)
	})
	one <- do.call(rbind, one)
	one$speedup <- one$speedup_low <- one$speedup_high <- NA
	for (k in seq_len(nrow(one))) {
		wanted <- as.list(one[k, factors, drop = FALSE])
		wanted[names(reference)] <- reference
		r <- if (length(reference)) which(Reduce(`&`, lapply(factors, function(f) one[[f]] == wanted[[f]]), TRUE)) else integer()
		if (length(r) == 0) next
		r <- r[1]
		if (r == k) {
			one$speedup[k] <- 1
			next
		}
		if (one$mean[k] == 0 || one$mean[r] == 0) next
		ratio <- if (metric %in% higher) one$mean[k] / one$mean[r] else one$mean[r] / one$mean[k]
		a <- (one$standard_error[k] / one$mean[k])^2
		b <- (one$standard_error[r] / one$mean[r])^2
		half <- if (is.na(a + b)) NA else if (a + b == 0) 0 else
			qt(0.975, (a + b)^2 / (a^2 / (one$runs[k] - 1) + b^2 / (one$runs[r] - 1))) * sqrt(a + b)
		one$speedup[k] <- ratio
		one$speedup_low[k] <- ratio * exp(-half)
		one$speedup_high[k] <- ratio * exp(half)
	}
	result[[metric]] <- one
}
result <- do.call(rbind, result)
result <- result[, c("configuration", factors, "metric", "runs", "mean", "standard_error", "low", "high", "speedup", "speedup_low", "speedup_high")]
write.csv(format(result, digits = 15, trim = TRUE), row.names = FALSE, quote = FALSE)
pdf("scatter.pdf", width = 9, height = 4)
for (metric in metrics) {
	value <- as.numeric(runs[[metric]])
	stripchart(value ~ as.integer(runs$configuration), vertical = TRUE, method = "jitter", pch = 1, ylim = c(0, max(value)),
		xlab = "configuration", ylab = metric)
}
invisible(dev.off())
