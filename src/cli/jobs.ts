import { InvalidArgumentError, type Command } from 'commander';
import { checksumAddress } from '../lib/hex.ts';
import { isJobId, listJobs, readJob } from '../verification/jobs/read-job.ts';
import { retryFailures, retryJob } from '../verification/jobs/retry-jobs.ts';
import { endJob, jobNotFound } from '../verification/jobs/end-job.ts';
import {
  isFinished,
  JOB_STATES,
  type VerificationJob,
  type VerificationJobState,
} from '../verification/jobs/verification-job.ts';
import { writeLine, writeResult, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { addListOutputOptions, writeListJson } from './list-output.ts';
import { readCount } from './read-argument.ts';
import { renderTable } from './table.ts';
import { withDatabase } from './with-core.ts';

const IN_FLIGHT = ['queued', 'running'] as const satisfies readonly VerificationJobState[];
const LISTED = 50;
const LISTED_MOST = 10_000;

/** `fullmatch jobs list`: lists the verification jobs in the database, also while the service runs. */
export function defineJobsList(command: Command, context: CliContext): void {
  addListOutputOptions(addConfigOptions(command))
    .option('--state <state>', `One of ${JOB_STATES.join(', ')}; may be repeated.`, readStates)
    .option('--limit <count>', `How many at most (${LISTED}).`, (text) =>
      readCount(text, LISTED_MOST),
    )
    .action(async (options: ParsedOptions) => {
      const states = (options['state'] as VerificationJobState[] | undefined) ?? IN_FLIGHT;
      const limit = (options['limit'] as number | undefined) ?? LISTED;
      const found = await withDatabase(options, context, 'jobs', (database) =>
        listJobs(database, states, limit),
      );
      if (writeListJson(context.stdout, options, found.map(describeJob))) return;
      if (found.length === 0) writeLine(context.stdout, `no jobs are ${states.join(' or ')}`);
      else context.stdout.write(renderTable(HEADS, found.map(rowOf)));
    });
}

/** `fullmatch jobs show`: prints one job with its outcome. */
export function defineJobsShow(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('<id>', 'The id of the job (verificationId).')
    .option('--json', 'Print JSON.')
    .action(async (id: string, options: ParsedOptions) => {
      const job = await withDatabase(options, context, 'jobs', async (database) => {
        const found = await readJob(database, id);
        if (found === undefined) throw jobNotFound(id);
        return found;
      });
      const text = renderTable(['what', 'value'], detailsOf(job));
      writeResult(context, options, describeJob(job), () => text);
    });
}

/** `fullmatch jobs cancel`: cancels a job, at once if it is waiting, within seconds if it is running. */
export function defineJobsCancel(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('<id>', 'The id of the job (verificationId).')
    .option('--json', 'Print JSON.')
    .action(async (id: string, options: ParsedOptions) => {
      const job = await withDatabase(options, context, 'jobs', (database) => endJob(database, id));
      const text = isFinished(job)
        ? `cancelled ${job.id}\n`
        : `asked the worker of ${job.id} to stop; it does so in seconds\n`;
      writeResult(context, options, describeJob(job), () => text);
    });
}

/** `fullmatch jobs retry`: queues what failed without checking its contract again, as new jobs. */
export function defineJobsRetry(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('<id or code>', 'The id of a failed job, or a failure code.')
    .option('--json', 'Print JSON.')
    .action(async (which: string, options: ParsedOptions) => {
      const ids = await withDatabase(options, context, 'jobs', async (database) =>
        isJobId(which) ? [await retryJob(database, which)] : retryFailures(database, which),
      );
      const text = ids.length === 0 ? `no kept job failed with ${which}` : ids.join('\n');
      writeResult(context, options, { jobs: ids }, () => `${text}\n`);
    });
}

function readStates(text: string, before: readonly string[] = []): readonly string[] {
  if ((JOB_STATES as readonly string[]).includes(text)) return [...before, text];
  throw new InvalidArgumentError(`One of ${JOB_STATES.join(', ')} is expected.`);
}

const HEADS = ['id', 'state', 'chain', 'address', 'submitted', 'outcome'];

function rowOf(job: VerificationJob): string[] {
  const { id, state, chainId, address, createdAt } = job;
  const shown = checksumAddress(address);
  return [id, state, String(chainId), shown, createdAt.toISOString(), outcomeOf(job)];
}

function outcomeOf({ failure, runtimeMatch, creationMatch }: VerificationJob): string {
  if (failure !== undefined) return failure.code;
  if (runtimeMatch === null && creationMatch === null) return '-';
  return `runtime ${runtimeMatch ?? 'none'}, creation ${creationMatch ?? 'none'}`;
}

/**
 * Describes a job for JSON output; times are ISO 8601, the address is checksummed. The bytecode of a failure
 * is only in the API.
 */
function describeJob(job: VerificationJob): object {
  const { eventNumber, failure, ...facts } = job;
  return {
    ...facts,
    ...(eventNumber !== undefined && { eventNumber }),
    address: checksumAddress(job.address),
    ...(failure && { failure: { code: failure.code, message: failure.message, id: failure.id } }),
  };
}

function detailsOf(job: VerificationJob): string[][] {
  const { startedAt, finishedAt, compileTimeMs, eventNumber, failure } = job;
  const rows: [string, string | undefined][] = [
    ['id', job.id],
    ['state', job.state],
    ['chain', String(job.chainId)],
    ['address', checksumAddress(job.address)],
    ['submitted', job.createdAt.toISOString()],
    ['started', startedAt?.toISOString()],
    ['ended', finishedAt?.toISOString()],
    ['compilation', compileTimeMs === undefined ? undefined : `${compileTimeMs} ms`],
    ['outcome', outcomeOf(job)],
    ['event', eventNumber],
    ['message', failure?.message],
    ['error id', failure?.id],
  ];
  return rows.flatMap(([what, value]) => (value === undefined ? [] : [[what, value]]));
}
