#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Makes summary.csv from filtered.csv: python3 analyse.py > summary.csv; with --plot FILE.svg also the scatter plot (matplotlib).

Mean, standard error, confidence interval of 95 % (Student's t); speed-up: the ratio of the means, its interval that of the logarithm of
the ratio (delta method) with the degrees of freedom of Welch and Satterthwaite. Needs nothing but Python."""
import csv
import math
import os
import sys

FACTORS = @FACTORS@
METRICS = @METRICS@
REFERENCE = @REFERENCE@
HIGHER_IS_BETTER = @HIGHER@


def beta(x, a, b):
    """Regularised incomplete beta function."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - beta(1 - x, b, a)
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    f = d
    for m in range(1, 10000):
        for t in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 / (1 + t * d)
            c = 1 + t / c
            f *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return math.exp(a * math.log(x) + b * math.log(1 - x) - math.lgamma(a) - math.lgamma(b) + math.lgamma(a + b)) * f / a


def quantile(freedom, p=0.975):
    def below(t):
        return 1 - beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2
    low, high = 0.0, 1.0
    while below(high) < p:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < p else (low, middle)
    return (low + high) / 2


def statistics(values):
    n = len(values)
    mean = math.fsum(values) / n
    if n < 2:
        return n, mean, math.nan, math.nan, math.nan
    error = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1)) / math.sqrt(n)
    half = quantile(n - 1) * error
    return n, mean, error, mean - half, mean + half


def speedup(own, reference, higher):
    if own[1] == 0 or reference[1] == 0:
        return math.nan, math.nan, math.nan
    ratio = own[1] / reference[1] if higher else reference[1] / own[1]
    if not ratio > 0 or own[0] < 2 or reference[0] < 2:
        return ratio, math.nan, math.nan
    a, b = (own[2] / own[1]) ** 2, (reference[2] / reference[1]) ** 2
    if a + b == 0:
        return ratio, ratio, ratio
    half = quantile((a + b) ** 2 / (a * a / (own[0] - 1) + b * b / (reference[0] - 1))) * math.sqrt(a + b)
    return ratio, ratio * math.exp(-half), ratio * math.exp(half)


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "filtered.csv"), newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    configurations = {}
    for row in rows:
        configurations.setdefault(int(row["configuration"]), {f: row[f] for f in FACTORS})
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["configuration", *FACTORS, "metric", "runs", "mean", "standard_error", "low", "high", "speedup", "speedup_low", "speedup_high"])
    for metric in METRICS:
        values, result = {}, {}
        for row in rows:
            values.setdefault(int(row["configuration"]), []).append(float(row[metric]))
        for c, v in values.items():
            result[c] = statistics(v)
        for c in sorted(result):
            wanted = {**configurations[c], **REFERENCE}
            reference = [k for k in result if configurations[k] == wanted] if REFERENCE else []
            ratio = ((math.nan,) * 3 if not reference else (1.0, math.nan, math.nan) if reference[0] == c
                     else speedup(result[c], result[reference[0]], metric in HIGHER_IS_BETTER))
            numbers = ["" if isinstance(x, float) and math.isnan(x) else repr(x) for x in (*result[c], *ratio)]
            out.writerow([c, *configurations[c].values(), metric, *numbers])
    if "--plot" in sys.argv:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
        figure, axes = pyplot.subplots(len(METRICS), 1, figsize=(9, 3.5 * len(METRICS)), squeeze=False)
        for axis, metric in zip(axes[:, 0], METRICS):
            names = {c: ", ".join(configurations[c].values()) for c in sorted(configurations)}
            axis.plot([names[int(r["configuration"])] for r in rows], [float(r[metric]) for r in rows], "o", alpha=0.5)
            axis.set_ylabel(metric)
            axis.set_ylim(bottom=0)
        figure.tight_layout()
        figure.savefig(sys.argv[sys.argv.index("--plot") + 1])


main()
