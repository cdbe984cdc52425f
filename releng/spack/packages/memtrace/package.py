# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""The recorder and the commands that need no Java, for clusters that build their software with Spack.

releng/check-spack.sh installs it and records with it."""

import os

try:  # Spack 1.0 and newer
    from spack_repo.builtin.build_systems.makefile import MakefilePackage
except ImportError:
    pass

from spack.package import *

# The checkout in which this recipe lies; MEMTRACE_SOURCE names another one, or a URL.
CHECKOUT = os.path.abspath(os.path.join(os.path.dirname(os.path.realpath(__file__)), *[os.pardir] * 4))


class Memtrace(MakefilePackage):
    """Shows how a multithreaded program uses its memory: which pages of which data structure each thread
    reads and writes, and when. This is the recorder; import and pictures need Java and are not in it."""

    git = os.environ.get("MEMTRACE_SOURCE", "file://" + CHECKOUT)

    license("EPL-2.0")

    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("binutils+libiberty", type="build")
    depends_on("capstone")
    depends_on("elfutils")
    depends_on("hwloc@2:")
    depends_on("jansson")
    depends_on("zlib-api")
    depends_on("zstd")

    requires("platform=linux", msg="memtrace uses page tables and perf events of Linux")

    build_directory = "collector"
    # Java commands that lie in the checkout are not those of this commit
    build_targets = ["all", "JARS="]
    sanity_check_is_file = [join_path("bin", "memtrace"), join_path("lib", "memtrace", "libmemtrace-preload.so")]

    @property
    def install_targets(self):
        return ["install", "JARS=", "PREFIX={0}".format(self.prefix)]

    def test_record(self):
        """a program is recorded, and the trace can be read"""
        memtrace = Executable(self.prefix.bin.memtrace)
        memtrace("record", "--quiet", "--backend", "none", "-o", "trace", "--", "/bin/ls")
        memtrace("info", "trace")
