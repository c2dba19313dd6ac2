#!/usr/bin/env bash
# Packs the project, installs the package in empty folders and runs it there with npx: with and without package
# scripts, as this user, and if run as root also as a user without write access elsewhere. Each time the script
# starts the service, reads both documents, runs the doctor with and without the running service, and stops it.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
tries=()
# An interrupted test ends its tries first, and each of them its service.
trap 'for each in "${tries[@]}"; do kill -TERM "$each" 2>/dev/null || true; done; wait; rm -rf "$folder"' EXIT
chmod 755 "$folder"
nobody=65534

packed=$folder/$(cd "$root" && npm pack --silent --ignore-scripts --pack-destination "$folder" | tail -n 1)
chmod 644 "$packed"

read_documents='
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
  console.log(`serves ${chains.length} chains and an empty stats.json`);
'

# try <name> <user id> <flags of npm install…>, in a subshell that stops its service when it ends
try() (
  name=$1 user=$2
  shift 2
  pid=''
  trap 'if [ -n "$pid" ]; then kill -TERM "$pid" 2>/dev/null && wait "$pid" || true; fi' EXIT
  trap 'exit 143' TERM
  place=$folder/$name
  mkdir -p "$place/home"
  as=()
  if [ "$user" != "$(id -u)" ]; then
    chown -R "$user:$user" "$place"
    as=(setpriv "--reuid=$user" "--regid=$user" --clear-groups --no-new-privs)
  fi
  cd "$place"
  as+=(env "HOME=$place/home" FULLMATCH_API_PORT=0 FULLMATCH_REPOSITORY_PORT=0)
  echo "$name:"
  "${as[@]}" npm init --yes >/dev/null
  "${as[@]}" npm install --silent --omit=dev "$@" "$packed"
  "${as[@]}" npx fullmatch doctor >doctor || [ $? -eq 1 ] || { cat doctor; exit 1; }

  # Without npx in between, so that the process that is stopped is the service.
  "${as[@]}" ./node_modules/.bin/fullmatch start >log &
  pid=$!
  for _ in $(seq 300); do
    if grep -q '"event":"ready"' log; then break; fi
    kill -0 "$pid" 2>/dev/null || { cat log; echo 'the service ended before it was ready' >&2; exit 1; }
    sleep 0.2
  done
  node --input-type=module -e "$read_documents" "$(grep '"event":"ready"' log)"
  "${as[@]}" npx fullmatch doctor >doctor || [ $? -eq 1 ] || { cat doctor; exit 1; }
  grep -q 'the embedded PostgreSQL .* answers' doctor || { cat doctor; exit 1; }
  "${as[@]}" npx fullmatch recount
)

# At once, since each waits for files and the network half of the time.
start_try() {
  try "$@" >"$folder/$1.out" 2>&1 &
  tries+=("$!")
}
start_try with-scripts "$(id -u)"
start_try without-scripts "$(id -u)" --ignore-scripts
if [ "$(id -u)" = 0 ]; then start_try without-root "$nobody" --ignore-scripts; fi
failed=0
for each in "${tries[@]}"; do wait "$each" || failed=1; done
cat "$folder"/*.out
[ "$failed" = 0 ]

# Directly from the packed file, without an earlier installation.
mkdir "$folder/npx" && cd "$folder/npx"
npx --yes --ignore-scripts "--package=$packed" fullmatch version
