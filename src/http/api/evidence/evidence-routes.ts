import { createRoute, z } from '@hono/zod-openapi';

import { contractParameters } from '../../contract-parameters.ts';
import {
  COMPILER_DOWNLOAD,
  compilerDownloadSchema,
  DROPPED_SOURCES,
  droppedSourcesSchema,
  KEPT_BESIDE,
} from '../../job-schema.ts';
import { anyMembers, namedValues } from '../../named-values.ts';
import { proxyResolutionSchema } from '../v2/contract-schema.ts';
import { problemResponse } from '../../problem-schema.ts';
import { crowdedResponses } from '../../records/record-responses.ts';
import { jsonResponse } from '../../json-response.ts';

const matchSchema = z.enum(['full', 'partial']).nullable();
const hashSchema = z.string().nullable().describe('keccak256; null where the code is not known');
const codeHashesSchema = z.strictObject({ onChain: hashSchema, recompiled: hashSchema });
const invalidParameter = problemResponse(
  'A parameter is not as it should be (`invalid_parameter`)',
);

const alternativeMembers = {
  matchId: z.string(),
  name: z.string(),
  fullyQualifiedName: z.string(),
  language: z.string(),
  compilerVersion: z.string(),
  runtimeMatch: matchSchema,
  creationMatch: matchSchema,
  recordedAt: z.iso.datetime(),
};
/** Another text that gives the code of a partial match. */
export const alternativeSchema = z.strictObject(alternativeMembers);
/** The body of GET /v1/contracts/{chainId}/{address}/alternatives/{matchId}. */
export const alternativeTextSchema = z
  .strictObject({
    ...alternativeMembers,
    stdJsonInput: z.looseObject({
      language: z.string(),
      sources: namedValues(z.strictObject({ content: z.string() })),
      settings: z.looseObject({}),
    }),
  })
  .meta({ id: 'AlternativeText', description: 'Another text, as standard JSON' });

/** The body of GET /v1/contracts/{chainId}/{address}. */
export const evidenceSchema = z
  .strictObject({
    chainId: z.int(),
    address: z.string().describe('With its checksum (EIP-55)'),
    match: z.enum(['full', 'partial']),
    runtimeMatch: matchSchema,
    creationMatch: matchSchema,
    origin: z
      .enum(['verified', 'imported', 'monitored'])
      .describe('Verified by: this service when asked, another one, or this service by itself'),
    firstVerifiedAt: z.iso.datetime().describe('When this service stored its first match'),
    verifiedAt: z.iso.datetime().describe('When this service stored the current match'),
    matchId: z.string().nullable(),
    unproven: z
      .array(
        z.enum([
          'names',
          'comments',
          'settings',
          'immutables',
          'libraries',
          'storage',
          'creation',
          'transaction',
          'arguments',
        ]),
      )
      .describe(
        'What the match does not prove: names, comments and settings without the hash of the metadata, values of immutables, addresses of libraries and the storage that the constructor wrote without creation code that matches; libraries also where the settings of a partial match give them addresses; creation where the creation code is known and is other code; the creation transaction and the constructor arguments that an import reports, until they are proven here',
      ),
    codeReading: z
      .strictObject({
        blockNumber: z.int(),
        blockHash: z.string(),
        endpoints: z.array(z.string()).describe('By their labels: those that agreed'),
        witnesses: z
          .int()
          .optional()
          .describe(
            'How many independent operators agreed, by registrable domain; absent where an older version read it',
          ),
      })
      .nullable()
      .describe('Where the code on chain was read; null where it was not read here'),
    creationSearch: z
      .array(
        z.strictObject({
          method: z.string(),
          outcome: z.string(),
          detail: z.string().optional(),
          durationMs: z.number(),
        }),
      )
      .nullable()
      .describe('What each way to the creation transaction came to; null where none was gone'),
    hasUnlistedSources: z
      .boolean()
      .describe(
        'Whether there are files that the metadata does not list: without them the compiler gives another code, and no hash proves their text',
      ),
    proxyResolution: proxyResolutionSchema
      .nullable()
      .describe('As it was read last, since the chain is not asked; null where that is not known'),
    license: z
      .string()
      .nullable()
      .describe(
        'SPDX, as a comment of the contract’s source says; a partial match does not prove it',
      ),
    alternatives: z
      .array(alternativeSchema)
      .describe('Other texts that give the code of a partial match; at most 5'),
    runtimeCode: codeHashesSchema,
    creationCode: codeHashesSchema,
  })
  .meta({ id: 'Evidence', description: 'A match, who judged it, and from what' });

/** GET /v1/contracts/{chainId}/{address}. */
export const evidenceRoute = createRoute({
  method: 'get',
  path: '/v1/contracts/{chainId}/{address}',
  summary: 'The match of a contract and its evidence',
  description: 'Sources and bytecode are at /v2/contract/{chainId}/{address}.',
  tags: ['Contracts'],
  request: { params: contractParameters },
  responses: {
    200: jsonResponse('The evidence', evidenceSchema),
    400: invalidParameter,
    404: problemResponse('The contract is not verified (`contract_not_found`)'),
    ...crowdedResponses(problemResponse),
  },
});

const contractEventsSchema = z
  .strictObject({
    results: z
      .array(
        z.strictObject({
          eventNumber: z.string().describe('Ascends with time'),
          kind: z
            .enum(['stored', 'upgraded', 'withdrawn', 'corrected'])
            .describe('A correction changes the record, not the match'),
          match: matchSchema.describe(
            'After the event; null after a withdrawal, and of a correction',
          ),
          origin: z.enum(['verified', 'imported', 'monitored']).nullable(),
          at: z.iso.datetime(),
          reason: z
            .string()
            .optional()
            .describe(
              'Why it was withdrawn or corrected: `code_replaced`, `creation_replaced`, `creation_disproved`, `creation_rolled_back`, `claim_disproved`, `call_protection_missing`, `verbatim_not_allowed`, `deployment_corrected` with the facts that were wrong, or the operator’s own words',
            ),
        }),
      )
      .describe('The newest 100, newest first; empty where there never was a match'),
  })
  .meta({ id: 'ContractEvents', description: 'What happened to the match of a contract' });

/** GET /v1/contracts/{chainId}/{address}/events. */
export const contractEventsRoute = createRoute({
  method: 'get',
  path: '/v1/contracts/{chainId}/{address}/events',
  summary: 'What happened to the match of a contract, newest first',
  description: 'The event log keeps it, and the reason of a withdrawal, when the match is gone.',
  tags: ['Events'],
  request: { params: contractParameters },
  responses: {
    200: jsonResponse('The events', contractEventsSchema),
    400: invalidParameter,
    ...crowdedResponses(problemResponse),
  },
});

/** GET /v1/contracts/{chainId}/{address}/alternatives/{matchId}. */
export const alternativeRoute = createRoute({
  method: 'get',
  path: '/v1/contracts/{chainId}/{address}/alternatives/{matchId}',
  summary: 'Another text that gives the code of a partial match',
  description:
    'A partial match proves neither names nor comments. The first sources are shown; others are stored as alternatives.',
  tags: ['Contracts'],
  request: {
    params: contractParameters.extend({
      matchId: z
        .string()
        .regex(/^\d{1,19}$/, 'is not a number of at most 19 digits')
        .describe('As in `alternatives`'),
    }),
  },
  responses: {
    200: jsonResponse('The text', alternativeTextSchema),
    400: invalidParameter,
    404: problemResponse('The contract has no such text (`contract_not_found`)'),
    ...crowdedResponses(problemResponse),
  },
});

/** Sources of a page. */
export const SOURCES_PER_PAGE = 200;

const sourcePageSchema = z
  .strictObject({
    total: z.int().describe('The number of sources; 10,000 means that many or more'),
    metadataBytes: z.int().describe('Of metadata.json; 0 without one'),
    sources: z
      .array(
        z.strictObject({
          path: z.string(),
          bytes: z.int(),
          content: z.string().nullable().describe('Null behind the first 2 MB of a page'),
        }),
      )
      .describe(`In the order of their paths, at most ${SOURCES_PER_PAGE}`),
    next: z.string().nullable().describe('`after` of the next page; null on the last one'),
    shown: z
      .strictObject({
        path: z.string(),
        bytes: z.int(),
        content: z.string().describe('The first million characters'),
      })
      .nullable()
      .describe('The source at `path`, else that of the contract, else the first'),
  })
  .meta({ id: 'SourcePage', description: 'Some of the sources of a contract' });

/** GET /v1/contracts/{chainId}/{address}/sources. */
export const sourcePageRoute = createRoute({
  method: 'get',
  path: '/v1/contracts/{chainId}/{address}/sources',
  summary: 'The sources of a contract, page by page',
  description: 'An answer is of bounded size. All sources at once are at /v2/contract.',
  tags: ['Contracts'],
  request: {
    params: contractParameters,
    query: z.object({
      after: z.string().optional().describe('`next` of the page before'),
      path: z.string().optional().describe('A source to show on the page'),
    }),
  },
  responses: {
    200: jsonResponse('The page', sourcePageSchema),
    400: invalidParameter,
    404: problemResponse('The contract is not verified (`contract_not_found`)'),
    ...crowdedResponses(problemResponse),
  },
});

const codeSchema = z.string().optional().describe('0x and hexadecimal digits');

const comparedCodeSchema = z.strictObject({
  bytes: z.int(),
  sha256: z.string().describe('Of the whole code'),
  window: z
    .string()
    .optional()
    .describe('The bytes from offset on; absent if the whole code is present'),
});
const comparisonSchema = z.strictObject({
  offset: z.int().describe('Where both windows begin'),
  recompiled: comparedCodeSchema.optional(),
  onChain: comparedCodeSchema.optional(),
});

/** The body of GET /v1/jobs/{id}. */
export const stateOfJobSchema = z
  .strictObject({
    id: z.uuid(),
    state: z.enum(['queued', 'running', 'succeeded', 'failed']),
    chainId: z.int(),
    address: z.string().describe('With its checksum (EIP-55)'),
    createdAt: z.iso.datetime(),
    startedAt: z.iso.datetime().optional(),
    finishedAt: z.iso.datetime().optional(),
    compileTimeMs: z.int().optional(),
    runtimeMatch: matchSchema,
    creationMatch: matchSchema,
    stored: z.boolean().describe('Whether it stored a match that was not there before'),
    keptBeside: z.boolean().describe(KEPT_BESIDE),
    droppedSources: droppedSourcesSchema.optional().describe(DROPPED_SOURCES),
    compilerDownload: compilerDownloadSchema.optional().describe(COMPILER_DOWNLOAD),
    failure: z
      .strictObject({
        kind: z
          .enum(['no_match', 'invalid_input', 'not_checked'])
          .describe('The code differs, the input is invalid, or it could not be checked'),
        code: z.string(),
        message: z.string(),
        id: z.string().describe('The log says more under it'),
        data: anyMembers.optional(),
        recompiledCreationCode: codeSchema,
        recompiledRuntimeCode: codeSchema,
        onchainCreationCode: codeSchema,
        onchainRuntimeCode: codeSchema,
        creationTransactionHash: z
          .string()
          .optional()
          .describe('The transaction that the creation code comes from'),
        comparedCodes: z
          .strictObject({
            runtime: comparisonSchema.optional(),
            creation: comparisonSchema.optional(),
          })
          .optional()
          .describe(
            'The bytecodes that differ; for large ones, excerpts around the first difference',
          ),
      })
      .optional()
      .describe('Present only when the job failed'),
  })
  .meta({ id: 'JobState', description: 'The state of a verification job' });

/** GET /v1/jobs/{id}. */
export const jobStateRoute = createRoute({
  method: 'get',
  path: '/v1/jobs/{id}',
  summary: 'The current state of a verification job',
  description: 'Responds immediately, unlike /v2/verify/{verificationId}.',
  tags: ['Verify'],
  request: { params: z.object({ id: z.string() }) },
  responses: {
    200: jsonResponse('The job', stateOfJobSchema),
    404: problemResponse('The job does not exist (`job_not_found`)'),
    ...crowdedResponses(problemResponse),
  },
});

/** POST /v1/jobs/{id}/cancel. */
export const cancelJobRoute = createRoute({
  method: 'post',
  path: '/v1/jobs/{id}/cancel',
  summary: 'End a verification job of your own',
  description:
    'A job that waits ends at once, one that runs within seconds. Your own are those that were sent from your address.',
  tags: ['Verify'],
  request: { params: z.object({ id: z.string() }) },
  responses: {
    202: jsonResponse('It ends', stateOfJobSchema),
    403: problemResponse('Another client has sent it (`job_of_another_client`)'),
    404: problemResponse('The job does not exist (`job_not_found`)'),
    409: problemResponse('It has ended already (`job_ended`)'),
  },
});

/** The routes of this file. */
export const evidenceRoutes = [
  evidenceRoute,
  contractEventsRoute,
  alternativeRoute,
  sourcePageRoute,
  jobStateRoute,
  cancelJobRoute,
] as const;
