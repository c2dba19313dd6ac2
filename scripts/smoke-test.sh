#!/usr/bin/env bash
# Packs the project, installs the package in an empty folder, starts it there and reads both documents.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
pid=''
cleanup() {
  if [ -n "$pid" ]; then kill -TERM "$pid" && wait "$pid" || true; fi
  rm -rf "$folder"
}
trap cleanup EXIT
chmod 755 "$folder"

tarball=$(cd "$root" && npm pack --silent --ignore-scripts --pack-destination "$folder" | tail -n 1)
cd "$folder"
npm init --yes >/dev/null
npm install --silent --omit=dev "./$tarball"

FULLMATCH_API_PORT=0 FULLMATCH_REPOSITORY_PORT=0 ./node_modules/.bin/fullmatch start >log &
pid=$!
for _ in $(seq 150); do
  if grep -q '"event":"ready"' log; then break; fi
  kill -0 "$pid" 2>/dev/null || { cat log; echo 'the service ended before it was ready' >&2; exit 1; }
  sleep 0.2
done
ready=$(grep '"event":"ready"' log)
node --input-type=module -e '
  const { api_url, repository_url } = JSON.parse(process.argv[1]);
  const read = async (url) => {
    const response = await fetch(url);
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
    return response.json();
  };
  const chains = await read(`${api_url}/chains`);
  const statistics = await read(`${repository_url}/stats.json`);
  if (!Array.isArray(chains) || chains.length < 1900) throw new Error(`/chains has ${chains.length} records`);
  if (Object.keys(statistics).length !== 0) throw new Error("stats.json of a new service is not empty");
  console.log(`the installed package serves ${chains.length} chains and an empty stats.json`);
' "$ready"
./node_modules/.bin/fullmatch recount
