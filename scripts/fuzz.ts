// Sends malformed requests to the built service and checks every response: `npx tsx scripts/fuzz.ts
// [--requests 1000000] [--seed N] [--seconds N] [--index N]`. The service runs in its own process and data
// directory. With --index one request is sent and its response printed.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { startProgram } from '../test/support/booted-service.ts';
import { describeFailure, runFuzz } from '../test/support/fuzz/fuzz-run.ts';
import { makeRequest, readRoutes } from '../test/support/fuzz/request-grammar.ts';
import { createTemporaryFolder } from '../test/support/temporary-folder.ts';
import { configOf } from '../test/support/anvil.ts';

/** Nothing listens on this port: submissions fail quickly, and the fuzzer does not wait for them. */
const DEAD_NODE = { url: 'http://127.0.0.1:9' };
const SHOWN_PER_FAULT = 3;

interface Options {
  readonly requests: string;
  readonly seed: string;
  readonly seconds?: string;
  readonly index?: string;
}

async function fuzz(options: Options): Promise<void> {
  const seed = Number(options.seed);
  const document = JSON.parse(
    await readFile(new URL('../openapi.json', import.meta.url), 'utf8'),
  ) as Parameters<typeof readRoutes>[0];
  const routes = readRoutes(document);
  const folder = await createTemporaryFolder('fullmatch-fuzz-');
  const config = path.join(folder.path, 'fullmatch.yaml');
  await writeFile(config, configOf(DEAD_NODE));
  const program = await startProgram({
    environment: { FULLMATCH_CONFIG: config, FULLMATCH_DATA_DIR: path.join(folder.path, 'data') },
  });
  const ports = {
    api: Number(new URL(program.apiUrl).port),
    repository: Number(new URL(program.repositoryUrl).port),
  };
  const shown = new Map<string, number>();
  try {
    console.log(`seed ${seed}`);
    if (options.index !== undefined) {
      console.log(makeRequest(routes, seed, Number(options.index)).bytes.toString('latin1'));
    }
    const report = await runFuzz({
      ...{ routes, ports, seed },
      requests: options.index === undefined ? Number(options.requests) : 1,
      first: Number(options.index ?? 0),
      ...(options.seconds !== undefined && { seconds: Number(options.seconds) }),
      onFailure: (failure) => {
        const kind = `${failure.request.method} ${
          failure.request.target
            .split(/[?]/)[0]
            ?.replaceAll(/0x[0-9a-f]{40}|[0-9a-f-]{36}|%[^/]*/gi, '*')
            .slice(0, 60) ?? ''
        } ${failure.fault.slice(0, 60)}`;
        const count = (shown.get(kind) ?? 0) + 1;
        shown.set(kind, count);
        if (count <= SHOWN_PER_FAULT) console.log(describeFailure(seed, failure));
      },
      expectAlive: () => {
        const { exitCode, signalCode } = program.child;
        if (exitCode !== null || signalCode !== null)
          throw new Error(`the service ended with ${exitCode ?? signalCode}: ${program.stderr()}`);
      },
    });
    const internal = program.lines.filter((line) => line.includes('"event":"internal_error"'));
    const { requests, seconds, statuses, failures } = report;
    console.log(
      `${requests} requests in ${seconds.toFixed(0)} s (${(requests / seconds).toFixed(0)}/s): ${JSON.stringify(statuses)}`,
    );
    for (const [kind, count] of [...shown].sort(([, left], [, right]) => right - left))
      console.log(`${count} × ${kind}`);
    for (const line of internal.slice(0, SHOWN_PER_FAULT)) console.log(line.slice(0, 1_000));
    console.log(`${failures.length} failures, ${internal.length} internal errors in the log`);
    if (failures.length > 0 || internal.length > 0) process.exitCode = 1;
  } finally {
    program.child.kill('SIGTERM');
    await program.ended;
    await folder.remove();
  }
}

await new Command('fuzz')
  .description('send malformed requests to the built service')
  .option('--requests <number>', 'number of requests', '1000000')
  .option('--seed <number>', 'seed of the requests', String(Math.floor(Math.random() * 2 ** 31)))
  .option('--seconds <number>', 'time limit of the run')
  .option('--index <number>', 'send only this request and print it')
  .action(fuzz)
  .parseAsync();
