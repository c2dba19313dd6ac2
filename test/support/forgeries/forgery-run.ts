import { VERIFIED_CHAIN_ID } from '../anvil.ts';
import { pollJob, post } from '../verification-client.ts';
import { type ForgedService } from './forged-service.ts';
import { type Forgery } from './forgery.ts';

/** The outcome of a forgery. */
export interface ForgeryOutcome {
  readonly forgery: Forgery;
  /** `refused` with the code, `harmless` if an honest match shows nothing planted, `skipped`, or `published`. */
  readonly outcome: 'refused' | 'harmless' | 'skipped' | 'published';
  readonly detail: string;
}

async function publishedText(service: ForgedService, address: string): Promise<string> {
  const chain = VERIFIED_CHAIN_ID;
  const urls = [
    `${service.apiUrl}/v2/contract/${chain}/${address}?fields=all`,
    `${service.apiUrl}/files/any/${chain}/${address}`,
    `${service.repositoryUrl}/contracts/full_match/${chain}/${address}`,
    `${service.repositoryUrl}/contracts/partial_match/${chain}/${address}`,
  ];
  const texts = await Promise.all(urls.map(async (url) => (await fetch(url)).text()));
  return texts.join('\n');
}

async function attempt(
  verifying: ForgedService,
  forgery: Forgery,
): Promise<Omit<ForgeryOutcome, 'forgery'>> {
  const submission = await forgery.prepare(verifying.anvil);
  if (submission === undefined)
    return { outcome: 'skipped', detail: 'the compiler takes no such source' };
  const { address, body, route } = submission;
  const path = `/v2/verify/${route === undefined ? '' : `${route}/`}${VERIFIED_CHAIN_ID}/${address}`;
  const response = await post(verifying.apiUrl + path, body);
  const answer = (await response.json()) as { verificationId?: string; customCode?: string };
  if (answer.verificationId === undefined)
    return { outcome: 'refused', detail: answer.customCode ?? String(response.status) };
  const job = await pollJob(verifying.apiUrl, answer.verificationId);
  const shown = await publishedText(verifying, address);
  const { planted } = forgery;
  if (planted !== undefined) {
    if (shown.includes(planted)) return { outcome: 'published', detail: `${planted} is shown` };
    return job.error === undefined
      ? { outcome: 'harmless', detail: String(job.contract.match) }
      : { outcome: 'refused', detail: job.error.customCode };
  }
  const { match } = (await (
    await fetch(`${verifying.apiUrl}/v2/contract/${VERIFIED_CHAIN_ID}/${address}`)
  ).json()) as { match?: string | null };
  if (job.error === undefined || (match ?? null) !== null)
    return {
      outcome: 'published',
      detail: `runtime ${job.contract.runtimeMatch}, creation ${job.contract.creationMatch}`,
    };
  return { outcome: 'refused', detail: job.error.customCode };
}

/** Tries forgeries one after another on the real service, with a real chain and the real compilers. */
export async function runForgeries(
  verifying: ForgedService,
  forgeries: readonly Forgery[],
  onOutcome: (outcome: ForgeryOutcome) => void = () => undefined,
): Promise<readonly ForgeryOutcome[]> {
  const outcomes: ForgeryOutcome[] = [];
  for (const forgery of forgeries) {
    const outcome = { forgery, ...(await attempt(verifying, forgery)) };
    outcomes.push(outcome);
    onOutcome(outcome);
  }
  return outcomes;
}
