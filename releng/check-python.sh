#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# The Python package as a user installs it: pip install ./python into a virtual
# environment of its own (build/python-venv, versions pinned below), then its
# tests and its notebook. Needs what build_native and build_java of releng/tools.sh make.
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
. releng/tools.sh
find_jdk || exit 4
(build_lock && build_native && build_java) || exit 1
venv=$PWD/build/python-venv
if ! "$venv"/bin/python -c 'import pyarrow, pandas, polars, matplotlib' 2>/dev/null; then
	rm -rf "$venv"
	# without pip: that needs another package on Debian
	python3 -m venv --without-pip "$venv" >build/python.log 2>&1 &&
		python3 -m pip --python "$venv"/bin/python -q --disable-pip-version-check install -r python/tests/requirements.txt >>build/python.log 2>&1 || {
		tail -n 5 build/python.log
		echo "SKIPPED: the Python package: its libraries cannot be installed"
		exit 0
	}
fi
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
# setuptools writes beside the sources
cp -r python "$copy"
python3 -m pip --python "$venv"/bin/python -q --disable-pip-version-check install --force-reinstall --no-deps "$copy"/python >build/python.log 2>&1 || {
	tail -n 20 build/python.log
	echo "FAILED: pip install ./python"
	exit 1
}
export MEMTRACE="$PWD/build/collector/memtrace"
tests=$PWD/python/tests
cd "$copy" || exit 1
rc=0
for test in memtrace notebooks; do
	"$venv"/bin/python "$tests/test_$test.py" || rc=1
done
exit $rc
