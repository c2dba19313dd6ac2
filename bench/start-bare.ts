import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const FILE = fileURLToPath(new URL('bare-server.ts', import.meta.url));

/** A running bare counterpart. */
export interface BareServer {
  /** Its URL. */
  readonly url: string;
  readonly child: ChildProcess;
}

/** Starts a bare handler that sends a service's response at a URL, see bare-server.ts. */
export async function startBare(url: string): Promise<BareServer> {
  const child = fork(FILE, { execArgv: ['--import', 'tsx'] });
  const [port] = (await once(child, 'message')) as [number];
  const bare = `http://127.0.0.1:${port}/`;
  await prepareBare(bare, url);
  return { url: bare, child };
}

/** Returns the environment with which a service runs such a handler in its own process, at a port. */
export async function bareInside(port: number): Promise<Record<string, string>> {
  // As JavaScript, so that the service does not load a compiler as well.
  const { ESNext } = ts.ModuleKind;
  const { outputText } = ts.transpileModule(await readFile(FILE, 'utf8'), {
    compilerOptions: { module: ESNext, target: ts.ScriptTarget.ES2022 },
  });
  const module = `data:text/javascript;base64,${Buffer.from(outputText).toString('base64')}`;
  return { NODE_OPTIONS: `--import ${module}`, BENCH_BARE_PORT: String(port) };
}

/** Makes a bare handler send a service's responses at a URL. */
export async function prepareBare(bare: string, url: string): Promise<void> {
  const answer = await fetch(`${bare}prepare?url=${encodeURIComponent(url)}`);
  if (!answer.ok) throw new Error(`the bare handler could not request ${url}`);
}
