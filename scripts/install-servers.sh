#!/usr/bin/env bash
# Installs PgBouncer and nginx for the tests, on Debian. Tests that need one are reported as skipped without it.
set -euo pipefail
missing=()
[ -x /usr/sbin/pgbouncer ] || command -v pgbouncer >/dev/null || missing+=(pgbouncer)
[ -x /usr/sbin/nginx ] || command -v nginx >/dev/null || missing+=(nginx-light)
[ "${#missing[@]}" -gt 0 ] || exit 0
# With this runlevel Debian does not start the installed services.
if ! { command -v apt-get && [ "$(id -u)" = 0 ] && apt-get update -qq &&
  RUNLEVEL=1 apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >/dev/null 2>&1; then
  echo "Not installed: ${missing[*]}. The tests that need them are skipped."
fi
