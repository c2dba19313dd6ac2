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
import { overloadResponses } from '../../records/record-responses.ts';
import { minimalContractSchema } from './contract-schema.ts';
import { v2ErrorResponse } from './v2-error.ts';
import {
  explorerBodySchema,
  metadataBodySchema,
  similarityBodySchema,
  standardJsonBodySchema,
} from './verify-body.ts';
import { jsonResponse } from '../../json-response.ts';
import { submissionResponses } from '../submission-responses.ts';

const tags = ['Verify'];

const submittedSchema = z
  .strictObject({ verificationId: z.uuid().describe('Poll /v2/verify/{verificationId}') })
  .meta({ id: 'V2Submitted', description: 'A verification in the queue' });

const submitResponses = {
  202: jsonResponse('The verification is in the queue', submittedSchema),
  400: v2ErrorResponse(
    'The request is invalid (`invalid_parameter`, `invalid_json`, `unsupported_chain`)',
  ),
  ...submissionResponses(v2ErrorResponse),
  413: v2ErrorResponse(
    'The body is too large (`request_too_large`), contains too much (`request_too_many_values`, `request_too_many_sources`) or is too expensive to read (`request_too_complex`)',
  ),
  429: v2ErrorResponse(
    'This input is already being verified (`duplicate_verification_request`), the queue is full (`queue_full`), or this client has too many requests in progress (`too_many_client_bodies`) or in the last hour (`too_many_verifications`)',
  ),
};

/** POST /v2/verify/{chainId}/{address}. */
export const verifyRoute = createRoute({
  method: 'post',
  path: '/v2/verify/{chainId}/{address}',
  summary: 'Verify a contract with standard JSON input',
  tags,
  request: {
    params: contractParameters,
    body: { required: true, content: { 'application/json': { schema: standardJsonBodySchema } } },
  },
  responses: submitResponses,
});

/** POST /v2/verify/metadata/{chainId}/{address}. */
export const verifyMetadataRoute = createRoute({
  method: 'post',
  path: '/v2/verify/metadata/{chainId}/{address}',
  summary: 'Verify a contract with its metadata and sources',
  tags,
  request: {
    params: contractParameters,
    body: { required: true, content: { 'application/json': { schema: metadataBodySchema } } },
  },
  responses: submitResponses,
});

/** POST /v2/verify/similarity/{chainId}/{address}. */
export const verifySimilarityRoute = createRoute({
  method: 'post',
  path: '/v2/verify/similarity/{chainId}/{address}',
  summary: 'Verify a contract with sources stored here',
  description:
    'The request needs no sources: contracts of stored compilations are found by their runtime code, including those deployed only by other contracts, such as children of a factory. A candidate is verified as if its sources had been submitted. The job fails with `no_similar_match_found` if no stored compilation produces the code.',
  tags,
  request: {
    params: contractParameters,
    body: { required: false, content: { 'application/json': { schema: similarityBodySchema } } },
  },
  responses: submitResponses,
});

/** POST /v2/verify/etherscan/{chainId}/{address}. */
export const verifyExplorerRoute = createRoute({
  method: 'post',
  path: '/v2/verify/etherscan/{chainId}/{address}',
  summary: 'Verify a contract with sources from another explorer',
  description:
    'The operator configures which explorer is queried (`etherscan.url`). Without it, a request with an `apiKey` is looked up at Etherscan. The sources found are verified as if they had been submitted.',
  tags,
  request: {
    params: contractParameters,
    body: { required: false, content: { 'application/json': { schema: explorerBodySchema } } },
  },
  responses: {
    ...submitResponses,
    404: v2ErrorResponse('The explorer has not verified it (`not_etherscan_verified`)'),
    429: v2ErrorResponse(
      'The explorer’s rate limit is reached (`etherscan_limit`); otherwise as for the other verifications',
    ),
    502: v2ErrorResponse(
      'The explorer does not respond (`etherscan_request_failed`), or its response is malformed (`malformed_etherscan_response`)',
    ),
  },
});

/** State of a submission to another explorer. */
const externalVerificationSchema = z.strictObject({
  state: z
    .enum(['waiting', 'submitted', 'verified', 'failed'])
    .describe(
      'waiting: not sent yet, or to be sent again; submitted: waiting for the explorer’s verdict',
    ),
  verificationId: z.string().optional().describe("The explorer's own id"),
  error: z.string().optional().describe('Its last message, if it did not verify'),
  statusUrl: z.url().optional(),
  contractApiUrl: z.url().optional(),
});

/** The body of GET /v2/verify/{verificationId}. */
export const jobSchema = z
  .strictObject({
    isJobCompleted: z.boolean(),
    verificationId: z.uuid(),
    jobStartTime: z.iso.datetime(),
    jobFinishTime: z.iso.datetime().optional(),
    compilationTime: z.string().optional().describe('Milliseconds'),
    error: z
      .looseObject({ customCode: z.string(), message: z.string(), errorId: z.uuid() })
      .optional()
      .describe('Present only when the job failed'),
    contract: minimalContractSchema,
    compilerDownload: compilerDownloadSchema.optional().describe(COMPILER_DOWNLOAD),
    stored: z
      .boolean()
      .optional()
      .describe(
        'Present when the job succeeded: whether it stored a match that was not there before',
      ),
    keptBeside: z.boolean().optional().describe(STORED_AS_ALTERNATIVE),
    droppedSources: droppedSourcesSchema.optional().describe(DROPPED_SOURCES),
    changedSettings: changedSettingsSchema.optional().describe(CHANGED_SETTINGS),
    externalVerifications: z
      .strictObject({
        etherscan: externalVerificationSchema,
        blockscout: externalVerificationSchema,
        routescan: externalVerificationSchema,
      })
      .partial()
      .optional()
      .describe('The state of forwarding to other explorers, if the operator configured it'),
  })
  .meta({ id: 'V2Job', description: 'A verification job' });

/** GET /v2/verify/{verificationId}. */
export const jobRoute = createRoute({
  method: 'get',
  path: '/v2/verify/{verificationId}',
  summary: 'The result of a verification',
  description:
    'A failed verification also returns 200, with an `error`. While a job is less than five seconds old, the response waits for it to end.',
  tags,
  request: { params: z.object({ verificationId: z.string() }) },
  responses: {
    200: jsonResponse('The job', jobSchema),
    404: v2ErrorResponse('The job does not exist (`job_not_found`)'),
    ...overloadResponses(v2ErrorResponse),
  },
});

/** The routes of this file. */
export const v2VerifyRoutes = [
  verifyRoute,
  verifyMetadataRoute,
  verifySimilarityRoute,
  verifyExplorerRoute,
  jobRoute,
] as const;
