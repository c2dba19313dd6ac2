#!/usr/bin/env bash
# Installs titanoboa, a client in Python, for its slow test, which says that it was skipped where titanoboa is missing. Its
# compiler is one of those that scripts/install-vyper.sh builds.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=node_modules/.cache/fullmatch-titanoboa

if ! command -v python3 >/dev/null || ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
  echo 'There is no python3 with venv: the test of titanoboa is skipped.'
  exit 0
fi
[ -e "$folder/installed" ] && exit 0
python3 -m venv --clear "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check titanoboa==0.2.8 vyper==0.4.3
touch "$folder/installed"
echo "titanoboa is in $folder"
