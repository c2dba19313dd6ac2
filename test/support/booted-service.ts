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

/** A service running in this process. */
export interface BootedService {
  readonly apiUrl: string;
  readonly repositoryUrl: string;
  /** URL of the metrics. */
  readonly metricsUrl?: string;
  /** Its log so far. */
  readonly logText: () => string;
  readonly close: () => Promise<void>;
}

/** Options of a booted service: a fullmatch.yaml and its own environment. */
export interface BootOptions {
  readonly databaseUrl: string;
  readonly yaml?: string;
  readonly texts?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly overrides?: Omit<ServiceOverrides, 'log'>;
  /** Whether each verification really compiles, even with a recorded compiler output. */
  readonly compilesAnew?: boolean;
}

/** Environment with free ports for a service. */
export const LOOPBACK_PORTS = { FULLMATCH_API_PORT: '0', FULLMATCH_REPOSITORY_PORT: '0' };

/** The causes of failed verifications are found on a busy machine too. */
const PATIENT_DIAGNOSIS = { FULLMATCH_VERIFICATION_DIAGNOSIS_MS: '120000' };

/** Registry settings for a service: the configured chains and those with contracts. */
const FEW_CHAINS = {
  FULLMATCH_REGISTRY_INCLUDE: 'configured',
  FULLMATCH_REGISTRY_DEFAULTS: 'false',
};

/** Environment with the registry of an installation without configuration. */
export const ALL_CHAINS = {
  FULLMATCH_REGISTRY_INCLUDE: 'all',
  FULLMATCH_REGISTRY_DEFAULTS: 'true',
};

/**
 * How long a document has to stay current before its br body is compressed. The slow level takes three
 * seconds of a core for the whole chain list, which few tests need: tests of the encodings build the
 * documents themselves, and the spawned program compresses them as in production.
 */
const BROTLI_DELAY_MS = 3_600_000;

/**
 * Creates the real service of a configuration, on free ports, without starting it. Unless configured
 * otherwise its registry contains few chains: with two thousand a start takes three times as long.
 */
export function prepareService(options: BootOptions): { service: Service; logText: () => string } {
  let text = '';
  const log: Logger = createLogger('debug', { write: (line) => (text += line) });
  const loaded = loadConfig(
    configSources({
      environment: {
        ...LOOPBACK_PORTS,
        ...NO_DOWNLOADS,
        ...PATIENT_DIAGNOSIS,
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

/** The built program. */
export const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** The built program in a separate process. */
export interface ProgramRun {
  readonly child: ChildProcess;
  /** Lines of standard output so far. */
  readonly lines: readonly string[];
  readonly stderr: () => string;
  /** Returns the first matching line, including future ones; rejects if the process exits without one. */
  readonly waitForLine: (fits: (line: string) => boolean) => Promise<string>;
  /** Exit code or signal name. */
  readonly ended: Promise<number | string>;
}

/** Options of the built program. */
export interface ProgramOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
}

/**
 * The environment of a program: only PATH is inherited from the test. It has few chains, since two thousand
 * are read at each start and compressed in the background, and hardly any test needs them.
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

/** Starts the built service on free ports and waits until it is ready; with {@link ALL_CHAINS} it serves all chains. */
export async function startProgram(
  options: ProgramOptions = {},
): Promise<ProgramRun & { apiUrl: string; repositoryUrl: string }> {
  const run = runProgram(['start'], {
    ...options,
    environment: { ...LOOPBACK_PORTS, ...options.environment },
  });
  const line = await run.waitForLine((text) => text.includes('"event":"ready"'));
  // A disabled host has no URL.
  const { api_url: apiUrl = '', repository_url: repositoryUrl = '' } = JSON.parse(line) as {
    api_url?: string;
    repository_url?: string;
  };
  const urls = { apiUrl, repositoryUrl };
  void run.ended.then(checkAnswersOf(urls));
  return { ...run, ...urls };
}
