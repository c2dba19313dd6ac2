import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { createLogger, type Logger } from '../../src/log.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { createService, type Service, type ServiceOverrides } from '../../src/service/service.ts';
import { NO_DOWNLOADS } from './no-downloads.ts';
import { configSources } from './config-sources.ts';
import { recordedCompilers } from './recorded-compilers.ts';
import { checkAnswersOf } from './wire/checked-answers.ts';

/** A service that runs in this process. */
export interface BootedService {
  readonly apiUrl: string;
  readonly repositoryUrl: string;
  /** Where metrics are served. */
  readonly metricsUrl?: string;
  /** Everything it logged so far. */
  readonly logText: () => string;
  readonly close: () => Promise<void>;
}

/** What a booted service is given: a fullmatch.yaml, and an environment of its own. */
export interface BootOptions {
  readonly databaseUrl: string;
  readonly yaml?: string;
  readonly texts?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly overrides?: Omit<ServiceOverrides, 'log'>;
  /** Whether each verification compiles, also what a compiler answered before. */
  readonly compilesAnew?: boolean;
}

/** Free ports for a service, by its environment. */
export const LOOPBACK_PORTS = { FULLMATCH_API_PORT: '0', FULLMATCH_REPOSITORY_PORT: '0' };

/** A registry of the configured chains, and of those with contracts, for a service. */
const FEW_CHAINS = {
  FULLMATCH_REGISTRY_INCLUDE: 'configured',
  FULLMATCH_REGISTRY_DEFAULTS: 'false',
};

/** The registry of an installation without a configuration, by its environment. */
export const ALL_CHAINS = {
  FULLMATCH_REGISTRY_INCLUDE: 'all',
  FULLMATCH_REGISTRY_DEFAULTS: 'true',
};

/**
 * How long a document has to stay current before its br body is made. The slow level takes three seconds of a processor
 * for the whole chain list, which most tests do not ask for: those of the codings make the documents themselves, and
 * the program that is spawned makes them as everywhere.
 */
const BROTLI_DELAY_MS = 3_600_000;

/**
 * Makes the real service of a configuration, on free ports, without starting it. Where the configuration says nothing of
 * the registry it knows few chains: with two thousand a start takes three times as long.
 */
export function prepareService(options: BootOptions): { service: Service; logText: () => string } {
  let text = '';
  const log: Logger = createLogger('debug', { write: (line) => (text += line) });
  const loaded = loadConfig(
    configSources({
      environment: {
        ...LOOPBACK_PORTS,
        ...NO_DOWNLOADS,
        ...(options.yaml?.includes('registry:') !== true && FEW_CHAINS),
        DATABASE_URL: options.databaseUrl,
        ...options.environment,
      },
      texts: {
        ...options.texts,
        ...(options.yaml === undefined ? {} : { 'fullmatch.yaml': options.yaml }),
      },
    }),
  );
  return {
    service: createService(loaded, {
      brotliDelayMs: BROTLI_DELAY_MS,
      ...(options.compilesAnew !== true && { compilersOver: recordedCompilers }),
      ...options.overrides,
      log,
    }),
    logText: () => text,
  };
}

/** Starts the real service in this process. */
export async function bootService(options: BootOptions): Promise<BootedService> {
  const { service, logText } = prepareService(options);
  const { apiUrl = '', repositoryUrl = '', ...more } = await service.start();
  const release = checkAnswersOf({ apiUrl, repositoryUrl });
  const close = async (): Promise<void> => {
    await service.close();
    release();
  };
  return { apiUrl, repositoryUrl, ...more, logText, close };
}

/** The program as built. */
export const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** The built program in a process of its own. */
export interface ProgramRun {
  readonly child: ChildProcess;
  /** Lines of standard output so far. */
  readonly lines: readonly string[];
  readonly stderr: () => string;
  /** The first line that fits, also one to come; rejects when the process ends without it. */
  readonly waitForLine: (fits: (line: string) => boolean) => Promise<string>;
  /** Exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
}

/** What the built program is given. */
export interface ProgramOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
}

/**
 * The environment of a program: nothing of the test's but PATH. It knows few chains, since two thousand are read for
 * each start and compressed in the background, and hardly a test asks for them.
 */
export const programEnvironment = (
  given: Readonly<Record<string, string>> = {},
): Record<string, string | undefined> => ({
  PATH: process.env['PATH'],
  ...NO_DOWNLOADS,
  ...FEW_CHAINS,
  ...given,
});

/** Runs `fullmatch …` as built in dist/, in {@link programEnvironment}. */
export function runProgram(args: readonly string[], options: ProgramOptions = {}): ProgramRun {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: options.workingDirectory,
    env: programEnvironment(options.environment),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    for (const look of waiting) look();
  });
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  const waitForLine = (fits: (line: string) => boolean): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const line = lines.find(fits);
        if (line === undefined) return;
        waiting.delete(look);
        resolve(line);
      };
      waiting.add(look);
      look();
      void ended.then((end) =>
        reject(new Error(`ended with ${end}: ${stderr}${lines.join('\n')}`)),
      );
    });
  return { child, lines, stderr: () => stderr, waitForLine, ended };
}

/** Starts the built service on free ports and waits until it is ready; with {@link ALL_CHAINS} it serves them. */
export async function startProgram(
  options: ProgramOptions = {},
): Promise<ProgramRun & { apiUrl: string; repositoryUrl: string }> {
  const run = runProgram(['start'], {
    ...options,
    environment: { ...LOOPBACK_PORTS, ...options.environment },
  });
  const line = await run.waitForLine((text) => text.includes('"event":"ready"'));
  // A host that is switched off has no URL.
  const { api_url: apiUrl = '', repository_url: repositoryUrl = '' } = JSON.parse(line) as {
    api_url?: string;
    repository_url?: string;
  };
  const urls = { apiUrl, repositoryUrl };
  void run.ended.then(checkAnswersOf(urls));
  return { ...run, ...urls };
}
