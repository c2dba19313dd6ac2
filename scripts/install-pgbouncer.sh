#!/usr/bin/env bash
# Installs PgBouncer for the tests where a Debian can give it. The tests that need it say that they were skipped where
# there is none.
set -euo pipefail
if command -v pgbouncer >/dev/null || [ -x /usr/sbin/pgbouncer ]; then exit 0; fi
if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
  echo 'PgBouncer cannot be installed here: its tests are skipped.'
  exit 0
fi
{ apt-get update -qq && apt-get install -y -qq --no-install-recommends pgbouncer; } >/dev/null 2>&1 ||
  echo 'PgBouncer cannot be installed here: its tests are skipped.'
