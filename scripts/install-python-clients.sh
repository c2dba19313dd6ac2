#!/usr/bin/env bash
# Installs the Python clients titanoboa and moccasin for their slow test, which is reported as skipped without them.
# They use a compiler built by scripts/install-vyper.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=node_modules/.cache/fullmatch-python-clients

if ! command -v python3 >/dev/null || ! python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  echo 'Not installed: Python 3.11 or newer with venv. The test of the Python clients is skipped.'
  exit 0
fi
[ -e "$folder/installed" ] && exit 0
python3 -m venv --clear "$folder"
install() { "$folder/bin/pip" install --quiet --disable-pip-version-check "$@"; }
install titanoboa==0.2.8 vyper==0.4.3 python-dotenv tomlkit tomli-w tqdm
# Without Jupyter, MkDocs and similar packages, which project scripts do not need.
install --no-deps moccasin==0.4.4 titanoboa-zksync==0.2.10
touch "$folder/installed"
echo "titanoboa and moccasin are in $folder"
