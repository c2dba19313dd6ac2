import { type OpenAPIHono } from '@hono/zod-openapi';

import { FullmatchError } from '../../../errors.ts';
import { checksumAddress } from '../../../lib/hex.ts';
import type {
  Alternative,
  AlternativeText,
  CodeHashes,
  MatchEvidence,
} from '../../../repository/repository.ts';
import { failureKindOf } from '../../../verification/verification-failure.ts';
import {
  type ComparedCode,
  type Comparison,
  isComplete,
} from '../../../verification/jobs/failure-record.ts';
import {
  type JobFailure,
  type VerificationJob,
} from '../../../verification/jobs/verification-job.ts';
import { jobNotFound } from '../../../verification/jobs/end-job.ts';
import { respondJson, type ResponseOf, NOT_STORED, REVALIDATED } from '../../answer.ts';
import { contractNotFound } from '../../contract-not-found.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { renderDownload } from '../../job-schema.ts';
import { recallProxy } from '../v2/proxy-resolution.ts';
import { LANGUAGE_NAMES } from '../v2/render-contract.ts';
import {
  alternativeRoute,
  cancelJobRoute,
  type alternativeSchema,
  type alternativeTextSchema,
  contractEventsRoute,
  evidenceRoute,
  type evidenceSchema,
  jobStateRoute,
  sourcePageRoute,
  type stateOfJobSchema,
} from './evidence-routes.ts';
import { renderSourcePage, toSourceQuery } from './source-page.ts';

type WireJob = ResponseOf<typeof stateOfJobSchema>;
type WireFailure = NonNullable<WireJob['failure']>;
type WireComparison = NonNullable<NonNullable<WireFailure['comparedCodes']>['runtime']>;

/** Adds the routes that show how a match was found, or how a verification progresses. */
export function addEvidenceRoutes(
  routes: OpenAPIHono,
  {
    contracts,
    answers,
    verification,
    clientOf,
    proxies,
  }: Pick<HttpDependencies, 'contracts' | 'answers' | 'verification' | 'clientOf' | 'proxies'>,
): void {
  routes.openapi(evidenceRoute, async (c) => {
    const { chainId, address } = c.req.valid('param');
    const evidence = await contracts.readEvidence(chainId, address);
    if (evidence === undefined) throw contractNotFound(chainId, address);
    const proxyResolution = await recallProxy({ proxies, contracts }, { chainId, address });
    const answer = { ...renderEvidence(evidence), proxyResolution: proxyResolution ?? null };
    return respondJson(evidenceRoute, answer, REVALIDATED);
  });
  routes.openapi(contractEventsRoute, async (c) => {
    const { chainId, address } = c.req.valid('param');
    const events = await contracts.readContractEvents(chainId, address);
    const results = events.map(({ at, ...event }) => ({ ...event, at: at.toISOString() }));
    return respondJson(contractEventsRoute, { results }, REVALIDATED);
  });
  routes.openapi(alternativeRoute, async (c) => {
    const { chainId, address, matchId } = c.req.valid('param');
    const text = await answers.admit(c, () => contracts.readAlternative(chainId, address, matchId));
    if (text === undefined) {
      throw new FullmatchError(
        'contract_not_found',
        `${checksumAddress(address)} on chain ${chainId} has no alternative sources ${matchId}.`,
        { details: { chainId, address, matchId } },
      );
    }
    return respondJson(alternativeRoute, renderAlternativeText(text), REVALIDATED);
  });
  routes.openapi(sourcePageRoute, async (c) => {
    const { chainId, address } = c.req.valid('param');
    const query = toSourceQuery(c.req.valid('query'));
    if (query === undefined) throw contractNotFound(chainId, address);
    const page = await answers.admit(c, () => contracts.readSourcePage(chainId, address, query));
    if (page === undefined) throw contractNotFound(chainId, address);
    return respondJson(sourcePageRoute, renderSourcePage(page), REVALIDATED);
  });
  routes.openapi(jobStateRoute, async (c) => {
    const { id } = c.req.valid('param');
    const job = await verification.readJob(id);
    if (job === undefined) throw jobNotFound(id);
    return respondJson(jobStateRoute, renderJobState(job), NOT_STORED);
  });
  routes.openapi(cancelJobRoute, async (c) => {
    const { id } = c.req.valid('param');
    const job = await verification.endJob(id, clientOf(c));
    return respondJson(cancelJobRoute, renderJobState(job), NOT_STORED, 202);
  });
}

function renderEvidence({
  match,
  trust,
  source,
  unproven,
  codeReading,
  creationSearch,
  hasUnlistedSources,
  license,
  alternatives,
  runtimeHashes,
  creationHashes,
}: MatchEvidence): Omit<ResponseOf<typeof evidenceSchema>, 'proxyResolution'> {
  return {
    chainId: match.chainId,
    address: checksumAddress(match.address),
    match: match.match,
    runtimeMatch: match.runtimeMatch,
    creationMatch: match.creationMatch,
    origin: match.origin,
    trust,
    source: source ?? null,
    firstVerifiedAt: match.firstVerifiedAt.toISOString(),
    verifiedAt: match.verifiedAt.toISOString(),
    matchId: match.matchId ?? null,
    unproven,
    codeReading: codeReading ?? null,
    creationSearch: creationSearch ?? null,
    hasUnlistedSources,
    license: license ?? null,
    alternatives: alternatives.map(renderAlternative),
    runtimeCode: renderHashes(runtimeHashes),
    creationCode: renderHashes(creationHashes),
  };
}

function renderAlternative({
  recordedAt,
  ...alternative
}: Alternative): ResponseOf<typeof alternativeSchema> {
  return { ...alternative, recordedAt: recordedAt.toISOString() };
}

/** Members are in the order of standard JSON. Entries become own members, so a source may be named __proto__. */
function renderAlternativeText({
  settings,
  sources,
  ...alternative
}: AlternativeText): ResponseOf<typeof alternativeTextSchema> {
  return {
    ...renderAlternative(alternative),
    stdJsonInput: {
      language: LANGUAGE_NAMES[alternative.language] ?? alternative.language,
      sources: Object.fromEntries([...sources].map(([path, content]) => [path, { content }])),
      settings,
    },
  };
}

function renderHashes({
  onChain,
  recompiled,
}: CodeHashes): ResponseOf<typeof evidenceSchema>['runtimeCode'] {
  return { onChain: onChain ?? null, recompiled: recompiled ?? null };
}

/** Omits a window that covers the whole bytecode, which is already in the response. */
function renderComparedCodes({
  runtime,
  creation,
}: NonNullable<JobFailure['comparedCodes']>): WireFailure['comparedCodes'] {
  const render = (comparison: Comparison | undefined): WireComparison | undefined => {
    if (comparison === undefined) return undefined;
    const { offset, recompiled, onChain } = comparison;
    return { offset, recompiled: renderCode(recompiled), onChain: renderCode(onChain) };
  };
  return { runtime: render(runtime), creation: render(creation) };
}

function renderCode(code: ComparedCode | undefined): WireComparison['onChain'] {
  if (code === undefined) return undefined;
  const { window, ...facts } = code;
  return isComplete(code) ? facts : { ...facts, window };
}

/** Unknown members are undefined, which JSON omits. */
function renderJobState({ failure, ...job }: VerificationJob): WireJob {
  return {
    id: job.id,
    state: job.state,
    chainId: job.chainId,
    address: checksumAddress(job.address),
    createdAt: job.createdAt.toISOString(),
    startedAt: job.startedAt?.toISOString(),
    finishedAt: job.finishedAt?.toISOString(),
    compileTimeMs: job.compileTimeMs,
    runtimeMatch: job.runtimeMatch,
    creationMatch: job.creationMatch,
    keptBeside: job.keptBeside,
    droppedSources: job.droppedSources,
    changedSettings: job.changedSettings,
    stored: job.eventNumber !== undefined,
    compilerDownload: renderDownload(job.compilerDownload),
    ...(failure && {
      failure: {
        kind: failureKindOf(failure.code),
        code: failure.code,
        message: failure.message,
        id: failure.id,
        data: failure.data,
        ...failure.codes,
        comparedCodes: failure.comparedCodes && renderComparedCodes(failure.comparedCodes),
      },
    }),
  };
}
