#!/usr/bin/env bash
# Builds Vyper compilers for the tests, one per auxdata format that this Python can install, as
# self-extracting programs like the released ones. Tests that need a missing one are reported as skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=node_modules/.cache/fullmatch-vyper
# Copies for the next `npm ci`, which removes the folder: building them takes 100 s of processor time.
kept=${XDG_CACHE_HOME:-$HOME/.cache}/fullmatch/vyper-$(sha256sum scripts/install-vyper.sh | cut -c 1-16)

# Long versions, as in the file names of the releases.
versions=(0.2.16+commit.59e1bdd9 0.3.9+commit.66b96705 0.3.10+commit.91361694 0.4.3+commit.bff19ea2)

if ! command -v python3 >/dev/null || ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
  echo 'Not installed: python3 with venv. The Vyper tests are skipped.'
  exit 0
fi
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/main.py" <<'PYTHON'
from vyper.cli.vyper_compile import _parse_cli_args
_parse_cli_args()
PYTHON

build() {
  local long=$1 release=${1%%+*}
  # The oldest release has a truncated commit in its file name.
  local name="vyper.$long.linux"
  [ "$release" = 0.2.16 ] && name="vyper.${long%?}.linux"
  [ -x "$folder/$name" ] && return 0
  if [ -x "$kept/$name" ]; then
    cp "$kept/$name" "$folder/.$name" && mv "$folder/.$name" "$folder/$name" && return 0
  fi
  # Each with its own check: where a function is called before "||", bash ignores "set -e".
  python3 -m venv "$work/$release" || return 1
  "$work/$release/bin/pip" install --quiet --disable-pip-version-check \
    "vyper==$release" pyinstaller 'setuptools<80' || return 1
  "$work/$release/bin/pyinstaller" --onefile --log-level ERROR --name "$name" \
    --distpath "$work/dist" --workpath "$work/build-$release" --specpath "$work/build-$release" \
    --collect-submodules vyper --collect-data vyper --copy-metadata vyper "$work/main.py" || return 1
  "$work/dist/$name" --version >/dev/null && mv "$work/dist/$name" "$folder/$name" || return 1
  # Renamed, so that no run sees an incomplete copy. Without a copy the next run builds it again.
  { mkdir -p "$kept" && cp "$folder/$name" "$kept/.$name.$$" && mv "$kept/.$name.$$" "$kept/$name"; } || true
}

for long in "${versions[@]}"; do
  { build "$long" || echo "Vyper $long cannot be built here: its tests are skipped."; } &
  # Two at a time.
  [ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n
done
wait
# List that pins builds missing from the catalogue.
python3 - "$folder" "${versions[@]}" <<'PYTHON'
import hashlib, json, pathlib, sys
folder, versions = pathlib.Path(sys.argv[1]), sys.argv[2:]
builds = []
for file in sorted(folder.glob('vyper.*.linux')):
    release = file.name.split('+')[0].removeprefix('vyper.')
    long = next(version for version in versions if version.startswith(release + '+'))
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    builds.append({'path': file.name, 'longVersion': long, 'sha256': '0x' + digest})
(folder / 'list.json').write_text(json.dumps({'builds': builds}, indent=2) + '\n')
print(f'{len(builds)} Vyper compilers in {folder}')
PYTHON
