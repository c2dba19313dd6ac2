import { createRoute, z } from '@hono/zod-openapi';

import { contractParameters } from '../../contract-parameters.ts';
import {
  COMPILER_DOWNLOAD,
  compilerDownloadSchema,
  DROPPED_SOURCES,
  CHANGED_SETTINGS,
  changedSettingsSchema,
  droppedSourcesSchema,
  STORED_AS_ALTERNATIVE,
} from '../../job-schema.ts';
import { anyMembers, namedValues } from '../../named-values.ts';
import { trustSchema } from '../../trust-schema.ts';
import { proxyResolutionSchema } from '../v2/contract-schema.ts';
import { problemResponse } from '../../problem-schema.ts';
import { overloadResponses } from '../../records/record-responses.ts';
import { jsonResponse } from '../../json-response.ts';
import { matchSchema, originSchema } from '../../match-schema.ts';

const sideMatchSchema = matchSchema.nullable();
const hashSchema = z.string().nullable().describe('keccak256; null if the bytecode is unknown');
const codeHashesSchema = z.strictObject({ onChain: hashSchema, recompiled: hashSchema });
const invalidParameter = problemResponse('A parameter is invalid (`invalid_parameter`)');

const alternativeMembers = {
  matchId: z.string(),
  name: z.string(),
  fullyQualifiedName: z.string(),
  language: z.string(),
  compilerVersion: z.string(),
  runtimeMatch: sideMatchSchema,
  creationMatch: sideMatchSchema,
  recordedAt: z.iso.datetime(),
};
/** Another input that compiles to the bytecode of a partial match. */
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
  .meta({ id: 'AlternativeText', description: 'Other sources, as standard JSON' });

/** The body of GET /v1/contracts/{chainId}/{address}. */
export const evidenceSchema = z
  .strictObject({
    chainId: z.int(),
    address: z.string().describe('With its checksum (EIP-55)'),
    match: matchSchema,
    runtimeMatch: sideMatchSchema,
    creationMatch: sideMatchSchema,
    origin: originSchema.describe(
      'Who verified it: this service on request, another service, or this service’s monitor',
    ),
    trust: trustSchema,
    source: z
      .string()
      .nullable()
      .describe('Where an imported match comes from, if the import named it'),
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
        'What the match does not prove: names, comments and settings without the metadata hash; immutables, library addresses and the storage written by the constructor without matching creation bytecode; libraries if the settings of a partial match contain their addresses; creation if the creation bytecode is known and differs; the imported creation transaction and constructor arguments until they are proven here',
      ),
    codeReading: z
      .strictObject({
        blockNumber: z.int(),
        blockHash: z.string(),
        endpoints: z.array(z.string()).describe('The labels of those that agreed'),
        witnesses: z
          .int()
          .optional()
          .describe(
            'The number of independent operators that agreed, by registrable domain; absent if an older version read it',
          ),
      })
      .nullable()
      .describe('Where the bytecode on chain was read; null if it was not read here'),
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
      .describe(
        'The result of each method used to find the creation transaction; null if there was no search',
      ),
    hasUnlistedSources: z
      .boolean()
      .describe(
        'Whether there are files that the metadata does not list. They are needed to reproduce the bytecode, but no hash proves their text',
      ),
    proxyResolution: proxyResolutionSchema
      .nullable()
      .describe('As last read from the chain; null if unknown'),
    license: z
      .string()
      .nullable()
      .describe(
        'SPDX identifier from a comment in the contract’s source; a partial match does not prove it',
      ),
    alternatives: z
      .array(alternativeSchema)
      .describe('Other sources that compile to the bytecode of a partial match; at most 5'),
    runtimeCode: codeHashesSchema,
    creationCode: codeHashesSchema,
  })
  .meta({ id: 'Evidence', description: 'A match and its evidence' });

/** GET /v1/contracts/{chainId}/{address}. */
export const evidenceRoute = createRoute({
  method: 'get',
  path: '/v1/contracts/{chainId}/{address}',
  summary: 'The match of a contract and its evidence',
  description: 'For sources and bytecode, use /v2/contract/{chainId}/{address}.',
  tags: ['Contracts'],
  request: { params: contractParameters },
  responses: {
    200: jsonResponse('The evidence', evidenceSchema),
    400: invalidParameter,
    404: problemResponse('The contract is not verified (`contract_not_found`)'),
    ...overloadResponses(problemResponse),
  },
});

const contractEventsSchema = z
  .strictObject({
    results: z
      .array(
        z.strictObject({
          eventNumber: z.string().describe('Increases with time'),
          kind: z
            .enum(['stored', 'upgraded', 'withdrawn', 'corrected'])
            .describe('A correction changes the record, not the match'),
          match: sideMatchSchema.describe(
            'After the event; null after a withdrawal and for a correction',
          ),
          origin: originSchema.nullable(),
          at: z.iso.datetime(),
          reason: z
            .string()
            .optional()
            .describe(
              'Why it was withdrawn or corrected: `code_replaced`, `creation_replaced`, `creation_disproved`, `creation_rolled_back`, `claim_disproved`, `call_protection_missing`, `verbatim_not_allowed`, `deployment_corrected` with the facts that were wrong, or the operator’s own words',
            ),
        }),
      )
      .describe('The newest 100, newest first; empty if there never was a match'),
  })
  .meta({ id: 'ContractEvents', description: 'The history of a contract’s match' });

/** GET /v1/contracts/{chainId}/{address}/events. */
export const contractEventsRoute = createRoute({
  method: 'get',
  path: '/v1/contracts/{chainId}/{address}/events',
  summary: 'The history of a contract’s match, newest first',
  description: 'The event log is kept after a withdrawal, with its reason.',
  tags: ['Events'],
  request: { params: contractParameters },
  responses: {
    200: jsonResponse('The events', contractEventsSchema),
    400: invalidParameter,
    ...overloadResponses(problemResponse),
  },
});

/** GET /v1/contracts/{chainId}/{address}/alternatives/{matchId}. */
export const alternativeRoute = createRoute({
  method: 'get',
  path: '/v1/contracts/{chainId}/{address}/alternatives/{matchId}',
  summary: 'Other sources that compile to the bytecode of a partial match',
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
    404: problemResponse('The contract has no such alternative (`contract_not_found`)'),
    ...overloadResponses(problemResponse),
  },
});

/** Number of sources per page. */
export const SOURCES_PER_PAGE = 200;

/** The body of GET /v1/contracts/{chainId}/{address}/sources. */
export const sourcePageSchema = z
  .strictObject({
    total: z.int().describe('The number of sources; 10,000 means 10,000 or more'),
    metadataBytes: z.int().describe('Size of metadata.json; 0 if there is none'),
    sources: z
      .array(
        z.strictObject({
          path: z.string(),
          bytes: z.int(),
          content: z.string().nullable().describe('null after the first 2 MB of a page'),
        }),
      )
      .describe(`Ordered by path, at most ${SOURCES_PER_PAGE}`),
    next: z.string().nullable().describe('`after` of the next page; null on the last one'),
    shown: z
      .strictObject({
        path: z.string(),
        bytes: z.int(),
        content: z.string().describe('The first million characters'),
      })
      .nullable()
      .describe('The source at `path`, otherwise that of the contract, otherwise the first'),
  })
  .meta({ id: 'SourcePage', description: 'Some of the sources of a contract' });

/** GET /v1/contracts/{chainId}/{address}/sources. */
export const sourcePageRoute = createRoute({
  method: 'get',
  path: '/v1/contracts/{chainId}/{address}/sources',
  summary: 'The sources of a contract, in pages',
  description: 'Each response has a bounded size. For all sources at once, use /v2/contract.',
  tags: ['Contracts'],
  request: {
    params: contractParameters,
    query: z.object({
      after: z.string().optional().describe('`next` of the previous page'),
      path: z.string().optional().describe('A source to include as `shown`'),
    }),
  },
  responses: {
    200: jsonResponse('The page', sourcePageSchema),
    400: invalidParameter,
    404: problemResponse('The contract is not verified (`contract_not_found`)'),
    ...overloadResponses(problemResponse),
  },
});

const codeSchema = z.string().optional().describe('0x and hexadecimal digits');

const comparedCodeSchema = z.strictObject({
  bytes: z.int(),
  sha256: z.string().describe('Of the whole bytecode'),
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
    runtimeMatch: sideMatchSchema,
    creationMatch: sideMatchSchema,
    stored: z.boolean().describe('Whether it stored a match that was not there before'),
    keptBeside: z.boolean().describe(STORED_AS_ALTERNATIVE),
    droppedSources: droppedSourcesSchema.optional().describe(DROPPED_SOURCES),
    changedSettings: changedSettingsSchema.optional().describe(CHANGED_SETTINGS),
    compilerDownload: compilerDownloadSchema.optional().describe(COMPILER_DOWNLOAD),
    failure: z
      .strictObject({
        kind: z
          .enum(['no_match', 'invalid_input', 'not_checked'])
          .describe('The code differs, the input is invalid, or it could not be checked'),
        code: z.string(),
        message: z.string(),
        id: z.string().describe('Look it up in the log for details'),
        data: anyMembers.optional(),
        recompiledCreationCode: codeSchema,
        recompiledRuntimeCode: codeSchema,
        onchainCreationCode: codeSchema,
        onchainRuntimeCode: codeSchema,
        creationTransactionHash: z
          .string()
          .optional()
          .describe('The transaction the creation bytecode comes from'),
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
    ...overloadResponses(problemResponse),
  },
});

/** POST /v1/jobs/{id}/cancel. */
export const cancelJobRoute = createRoute({
  method: 'post',
  path: '/v1/jobs/{id}/cancel',
  summary: 'Cancel your own verification job',
  description:
    'A waiting job ends at once, a running one within seconds. You can cancel jobs that were sent from your address.',
  tags: ['Verify'],
  request: { params: z.object({ id: z.string() }) },
  responses: {
    202: jsonResponse('The job is being cancelled', stateOfJobSchema),
    403: problemResponse('It was sent by another client (`job_of_another_client`)'),
    404: problemResponse('The job does not exist (`job_not_found`)'),
    409: problemResponse('It has already ended (`job_ended`)'),
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
