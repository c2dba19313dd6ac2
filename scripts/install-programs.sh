#!/usr/bin/env bash
# Installs PgBouncer, nginx, zsh, fish and Prometheus's promtool for the tests, on Debian. Tests that need a
# missing one are reported as skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
missing=()
[ -x /usr/sbin/pgbouncer ] || command -v pgbouncer >/dev/null || missing+=(pgbouncer)
[ -x /usr/sbin/nginx ] || command -v nginx >/dev/null || missing+=(nginx-light)
command -v zsh >/dev/null || missing+=(zsh)
command -v fish >/dev/null || missing+=(fish)
# With RUNLEVEL=1 Debian does not start the installed services.
if [ "${#missing[@]}" -gt 0 ] && ! { command -v apt-get && [ "$(id -u)" = 0 ] && apt-get update -qq &&
  RUNLEVEL=1 apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >/dev/null 2>&1; then
  echo "Not installed: ${missing[*]}. The tests that need them are skipped."
fi

# The package that contains promtool also has a service, so only this file is extracted.
folder=$PWD/node_modules/.cache/fullmatch-promtool
if [ ! -x "$folder/promtool" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  chmod 755 "$work"
  if (cd "$work" && apt-get download -qq prometheus && dpkg -x prometheus_*.deb .) >/dev/null 2>&1; then
    mkdir -p "$folder"
    mv "$work/usr/bin/promtool" "$folder/"
  else
    echo 'Not installed: promtool. The test that needs it is skipped.'
  fi
fi
