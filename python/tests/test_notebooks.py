# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Runs the notebooks as Jupyter would, without it: its parts are 37 packages of 100 MB, for a loop over cells.

Run by releng/check-python.sh, with the package installed and MEMTRACE set.
"""
import json
import linecache
import os
import shutil
import tempfile
import unittest
from pathlib import Path

import matplotlib

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


class Notebooks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        matplotlib.use("Agg")
        cls.tmp = tempfile.mkdtemp()
        os.environ["MEMTRACE_HOME"] = cls.tmp + "/home"
        os.environ["MEMTRACE_CACHE"] = cls.tmp + "/cache"
        cls.before = os.getcwd()
        os.chdir(NOTEBOOKS)

    @classmethod
    def tearDownClass(cls):
        os.chdir(cls.before)
        shutil.rmtree(cls.tmp)

    def run_notebook(self, name):
        """Runs each cell, and returns the number of figures that each one drew."""
        from matplotlib import pyplot as plt
        notebook = json.loads((NOTEBOOKS / name).read_text(encoding="utf-8"))
        self.assertEqual(4, notebook["nbformat"])
        space = {"__name__": "__main__"}
        drawn = []
        for number, cell in enumerate(notebook["cells"]):
            self.assertIn(cell["cell_type"], ("markdown", "code"))
            if cell["cell_type"] == "markdown":
                continue
            self.assertEqual(([], None), (cell["outputs"], cell["execution_count"]), f"cell {number} of {name} is kept without outputs")
            source = "".join(cell["source"])
            self.assertNotRegex(source, r"(?m)^\s*[%!]", "only a kernel of Jupyter knows these")
            where = f"<cell {number} of {name}>"
            linecache.cache[where] = (len(source), None, source.splitlines(True), where)  # lines in the trace back
            exec(compile(source, where, "exec"), space)
            for figure in map(plt.figure, plt.get_fignums()):
                figure.canvas.draw()
            drawn.append(len(plt.get_fignums()))
            plt.close("all")
        return drawn

    def test_figures_of_the_thesis(self):
        # the first two cells open and show; P2, P9 and P12 draw two, and P6, P7, P8 are one cell
        self.assertEqual([0, 0, 0, 1, 2, 1, 1, 1, 3, 2, 1, 1, 2, 0], self.run_notebook("thesis-figures.ipynb"))


if __name__ == "__main__":
    unittest.main()
