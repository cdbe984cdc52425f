#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Makes a site of docs/ in build/site, with navigation and search; it opens from
# the folder (build/site/index.html), without a server and without a network.
# MkDocs and its theme come from PyPI into build/docs-venv, versions pinned in
# releng/docs/requirements.txt. A link, an anchor or a picture that leads nowhere,
# and a page without a place in the navigation, are errors.
#
#   releng/docs.sh            makes the site
#   releng/docs.sh serve      … and shows it on http://127.0.0.1:8000, anew after each change
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
. releng/tools.sh
mkdir -p build
releng/check-docs.py || exit 1
venv=$PWD/build/docs-venv
list=releng/docs/requirements.txt
if ! cmp -s $list "$venv/requirements.txt"; then
	rm -rf "$venv"
	# without pip: that needs another package on Debian
	python3 -m venv --without-pip "$venv" >build/docs.log 2>&1 &&
		python3 -m pip --python "$venv"/bin/python -q --disable-pip-version-check install -r $list >>build/docs.log 2>&1 &&
		cp $list "$venv/requirements.txt" || {
		tail -n 5 build/docs.log
		rm -rf "$venv"
		tools_say "the site of the documentation: MkDocs cannot be installed"
		exit 4
	}
fi
export NO_MKDOCS_2_WARNING=1
case ${1:-build} in
serve) exec "$venv"/bin/mkdocs serve -f releng/docs/mkdocs.yml ;;
build) "$venv"/bin/mkdocs build --strict --clean -f releng/docs/mkdocs.yml ;;
*)
	tools_say "usage: releng/docs.sh [serve]"
	exit 2
	;;
esac
