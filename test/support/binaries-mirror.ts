import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type ServerResponse } from 'node:http';
import path from 'node:path';
import { solcPackageOf } from './solc-packages.ts';
import { startWebServer, type WebServer } from './web-server.ts';

/** A fake of the official host of the Solidity binaries. */
export interface BinariesMirror extends WebServer {
  /** The requested paths, in order. */
  readonly asked: readonly string[];
  /** Stalls every binary after this share of it until `release` is called. */
  readonly holdAt: (share: number) => void;
  readonly release: () => void;
  /** Responds to everything with a status from now on; 200 ends that. */
  readonly answer: (status: number) => void;
}

const DRIP_MS = 500;

/** Serves the soljson of installed npm packages in the layout of the official binaries, with its list. */
export async function startBinariesMirror(
  longVersions: readonly string[],
): Promise<BinariesMirror> {
  const files = new Map<string, Buffer>();
  for (const version of longVersions) {
    const file = path.join(solcPackageOf(version), 'soljson.js');
    files.set(`/bin/soljson-v${version}.js`, await readFile(file));
  }
  const builds = [...files].map(([name, bytes]) => ({
    path: path.basename(name),
    longVersion: /-v(.*)\.js$/.exec(name)?.[1],
    sha256: `0x${createHash('sha256').update(bytes).digest('hex')}`,
  }));
  files.set('/bin/list.json', Buffer.from(JSON.stringify({ builds })));
  const asked: string[] = [];
  let share = 1;
  let status = 200;
  const held: (() => void)[] = [];
  const send = (response: ServerResponse, bytes: Buffer, isHeld: boolean): void => {
    response.writeHead(200, { 'content-length': bytes.length });
    let sent = isHeld ? Math.floor(bytes.length * share) : bytes.length;
    response.write(bytes.subarray(0, sent));
    // Clients abandon a stalled connection, so held-back data is sent in small pieces.
    const drip = setInterval(() => response.write(bytes.subarray(sent, (sent += 10))), DRIP_MS);
    const finish = (): void => {
      clearInterval(drip);
      response.end(bytes.subarray(sent));
    };
    response.once('close', () => clearInterval(drip));
    if (sent === bytes.length) finish();
    else held.push(finish);
  };
  const server = await startWebServer((request, response) => {
    const name = decodeURIComponent(request.url ?? '');
    asked.push(name);
    const bytes = files.get(name);
    if (status !== 200) response.writeHead(status).end();
    else if (bytes === undefined) response.writeHead(404).end();
    else send(response, bytes, name.endsWith('.js'));
  });
  return {
    ...server,
    asked,
    holdAt: (next) => (share = next),
    release: () => {
      share = 1;
      for (const finish of held.splice(0)) finish();
    },
    answer: (next) => (status = next),
  };
}
