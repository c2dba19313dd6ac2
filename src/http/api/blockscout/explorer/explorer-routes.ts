import { createRoute, z } from '@hono/zod-openapi';

import { contractParameters, chainIdParameter } from '../../../contract-parameters.ts';
import { recordResponses } from '../../../records/record-responses.ts';
import { SUBMISSION_FORMATS, type SubmissionFormat } from './read-submission.ts';
import { jsonResponse } from '../../../json-response.ts';

const tags = ['Blockscout API'];
const BASE = '/evm/{chainId}/blockscout/api/v2/smart-contracts';

/** Body of an error and of an accepted submission. */
export const messageSchema = z
  .strictObject({ message: z.string() })
  .meta({ id: 'BlockscoutMessage', description: 'A message of the Blockscout API' });

/** A contract in the format of Blockscout's API; an unverified contract has only the first three members. */
export const smartContractSchema = z
  .strictObject({
    is_verified: z.boolean(),
    is_fully_verified: z.boolean(),
    is_partially_verified: z.boolean(),
    name: z.string().optional(),
    language: z.string().optional().describe('solidity, vyper or yul'),
    compiler_version: z.string().optional().describe('v0.8.30+commit.73712a01'),
    compiler_settings: z.record(z.string(), z.unknown()).optional(),
    optimization_enabled: z.boolean().nullable().optional().describe('null for Vyper'),
    optimization_runs: z.int().nullable().optional(),
    evm_version: z.string().optional().describe('default, or an EVM version'),
    abi: z.array(z.unknown()).nullable().optional(),
    file_path: z.string().optional(),
    source_code: z.string().optional().describe('The file at file_path'),
    additional_sources: z
      .array(z.strictObject({ file_path: z.string(), source_code: z.string() }))
      .optional(),
    constructor_args: z.string().nullable().optional().describe('Hexadecimal digits without 0x'),
    verified_at: z.string().optional(),
  })
  .meta({ id: 'BlockscoutContract', description: 'A contract as the Blockscout API returns it' });

const errorResponse = (description: string) => jsonResponse(description, messageSchema);

/** GET …/smart-contracts/{address}. */
export const smartContractRoute = createRoute({
  method: 'get',
  path: `${BASE}/{address}`,
  summary: 'Read a contract with the Blockscout API',
  tags,
  request: { params: contractParameters },
  responses: {
    200: jsonResponse('The contract, verified or not', smartContractSchema),
    400: errorResponse('Invalid address, or unknown chain'),
    404: errorResponse('The address has no code'),
    ...recordResponses(errorResponse),
  },
});

const configSchema = z
  .strictObject({
    verification_options: z.array(z.enum(SUBMISSION_FORMATS)),
    solidity_compiler_versions: z.array(z.string()),
    vyper_compiler_versions: z.array(z.string()),
    solidity_evm_versions: z.array(z.string()),
    vyper_evm_versions: z.array(z.string()),
    is_rust_verifier_microservice_enabled: z.boolean(),
    license_types: z.record(z.string(), z.int()),
  })
  .meta({ id: 'BlockscoutVerificationConfig', description: 'What can be verified and how' });

/** GET …/smart-contracts/verification/config. */
export const verificationConfigRoute = createRoute({
  method: 'get',
  path: `${BASE}/verification/config`,
  summary: 'List compilers and verification methods with the Blockscout API',
  tags,
  request: { params: z.object({ chainId: chainIdParameter }) },
  responses: {
    200: jsonResponse('Compiler versions, newest first, and verification methods', configSchema),
    400: errorResponse('Unknown chain'),
  },
});

const file = z.string().meta({ format: 'binary' });
const text = z.string();
const shared = {
  compiler_version: text,
  license_type: text.optional().describe('Ignored'),
  contract_name: text
    .optional()
    .describe('Name or path:Name; by default the contract whose bytecode is on chain'),
  constructor_args: text.optional().describe('Compared if autodetect_constructor_args is false'),
  autodetect_constructor_args: text.optional(),
};
const settings = {
  is_optimization_enabled: text.optional(),
  optimization_runs: text.optional(),
  evm_version: text.optional(),
  libraries: text.optional().describe('JSON: names to addresses'),
};
const files = { 'files[0]': file.describe('Further files are files[1] and so on') };

const FORMS: Readonly<Record<SubmissionFormat, z.ZodObject>> = {
  'standard-input': z.object({ ...shared, ...files }),
  'vyper-standard-input': z.object({ ...shared, ...files }),
  'flattened-code': z.object({ ...shared, ...settings, source_code: text }),
  'multi-part': z.object({ ...shared, ...settings, ...files }),
  'vyper-code': z.object({ ...shared, evm_version: text.optional(), source_code: text }),
  'vyper-multi-part': z.object({
    ...{ ...shared, ...files, evm_version: text.optional() },
    'interfaces[0]': file.optional(),
  }),
  sourcify: z.object({
    ...files,
    chosen_contract_index: text.optional().describe('If the files describe several contracts'),
  }),
};

/** POST …/smart-contracts/{address}/verification/via/{way}. */
export const submissionRoutes = SUBMISSION_FORMATS.map((way) => ({
  way,
  route: createRoute({
    method: 'post',
    path: `${BASE}/{address}/verification/via/${way}`,
    summary: `Verify a contract with the Blockscout API: ${way}`,
    tags,
    request: {
      params: contractParameters,
      body: {
        required: true,
        content: {
          'multipart/form-data': { schema: FORMS[way] },
          // Blockscout's own frontend sends forms without files as JSON.
          ...(!('files[0]' in FORMS[way].shape) && { 'application/json': { schema: FORMS[way] } }),
        },
      },
    },
    responses: {
      200: jsonResponse(
        'The verification is in the queue; request the contract until it is verified',
        messageSchema,
      ),
      400: errorResponse('Invalid form or address, or unknown chain'),
      404: errorResponse('The address has no code'),
      409: errorResponse('The contract already has a full match'),
      401: errorResponse('A token is required, as `apikey` in the query'),
      403: errorResponse('Verification is turned off'),
      413: errorResponse('The body is too large or contains too much'),
      422: errorResponse('The body takes too long or too much memory to read'),
      429: errorResponse('Too many requests from this client'),
      503: errorResponse('The queue is full, or the database cannot be reached'),
    },
  }),
}));

/** The routes of this file. */
export const explorerApiRoutes = [
  smartContractRoute,
  verificationConfigRoute,
  ...submissionRoutes.map(({ route }) => route),
] as const;
