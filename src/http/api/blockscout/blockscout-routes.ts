import { createRoute, z } from '@hono/zod-openapi';

import { problemResponse } from '../../problem-schema.ts';
import { BLOCKSCOUT_BASE_PATHS } from './base-paths.ts';
import { type BlockscoutForm } from './verifier-request.ts';
import { jsonResponse } from '../../json-response.ts';
import { JSON_BODY } from '../../json-body.ts';

const tags = ['Verify'];

const jsonText = z.string().describe('JSON');
const artifacts = jsonText.nullable();

/** A compilation in Blockscout's format. */
export const sourceSchema = z.strictObject({
  fileName: z.string(),
  contractName: z.string(),
  compilerVersion: z.string(),
  compilerSettings: jsonText,
  sourceType: z.enum(['SOLIDITY', 'VYPER', 'YUL']),
  sourceFiles: z.record(z.string(), z.string()),
  abi: artifacts,
  constructorArguments: z.string().nullable(),
  matchType: z.enum(['PARTIAL', 'FULL']),
  compilationArtifacts: artifacts,
  creationInputArtifacts: artifacts,
  deployedBytecodeArtifacts: artifacts,
  isBlueprint: z.boolean(),
  libraries: z.record(z.string(), z.string()),
});
const partsSchema = z.array(z.strictObject({ type: z.enum(['main', 'meta']), data: z.string() }));

const methodPlaces = z.strictObject({
  methods: z.record(
    z.string(),
    z.strictObject({ fileName: z.string(), fileOffset: z.int(), length: z.int() }),
  ),
});
const methodsSchema = methodPlaces.meta({
  id: 'BlockscoutMethods',
  description: 'By selectors; offsets and lengths in bytes',
});

/** Response to the verification of one contract. */
export const verdictSchema = z
  .strictObject({
    message: z.string(),
    status: z.enum(['SUCCESS', 'FAILURE']),
    source: sourceSchema.nullable(),
    extraData: z
      .strictObject({
        localCreationInputParts: partsSchema,
        localDeployedBytecodeParts: partsSchema,
      })
      .nullable(),
    postActionResponses: z.strictObject({ lookupMethods: methodPlaces.nullable() }).nullable(),
  })
  .meta({ id: 'BlockscoutVerdict', description: 'The verdict on bytecode and sources' });

const matchDetails = z
  .strictObject({
    matchType: z.enum(['PARTIAL', 'FULL']),
    values: jsonText,
    transformations: jsonText,
  })
  .optional();

const successSchema = z.strictObject({
  creationCode: z.string(),
  runtimeCode: z.string(),
  compiler: z.enum(['SOLC', 'VYPER']),
  compilerVersion: z.string(),
  language: z.enum(['SOLIDITY', 'YUL', 'VYPER']),
  fileName: z.string(),
  contractName: z.string(),
  sources: z.record(z.string(), z.string()),
  compilerSettings: jsonText,
  compilationArtifacts: jsonText,
  creationCodeArtifacts: jsonText,
  runtimeCodeArtifacts: jsonText,
  creationMatchDetails: matchDetails,
  runtimeMatchDetails: matchDetails,
});

/** Response to the verification of several contracts. */
export const batchSchema = z
  .union([
    z.strictObject({ compilationFailure: z.strictObject({ message: z.string() }) }),
    z.strictObject({
      contractVerificationResults: z.strictObject({
        items: z.array(
          z.union([
            z.strictObject({ success: successSchema }),
            z.strictObject({ failure: z.strictObject({}) }),
          ]),
        ),
      }),
    }),
  ])
  .meta({
    id: 'BlockscoutBatch',
    description: 'The verdicts on several bytecodes and one compilation',
  });

function verifierRoute<Schema extends z.ZodType>(
  base: string,
  form: BlockscoutForm,
  schema: Schema,
) {
  const { language, sources, isBatch } = form;
  const what = `${isBatch ? 'batch-' : ''}verify-${sources === 'standard_json' ? 'standard-json' : 'multi-part'}`;
  return createRoute({
    method: 'post',
    path: `${base}/api/v2/verifier/${language}/sources:${what}`,
    summary: `Blockscout verifier: ${isBatch ? 'several bytecodes' : 'bytecode'} with ${language === 'vyper' ? 'Vyper' : 'Solidity'}, ${sources === 'standard_json' ? 'standard JSON' : 'sources and settings'}`,
    tags,
    request: { body: JSON_BODY },
    responses: {
      200: jsonResponse('The verdict, or the error in the request', schema),
    },
  });
}

/** Returns the routes of the languages for both source formats, at each base. */
function formsOf(languages: readonly BlockscoutForm['language'][], isBatch: boolean) {
  return BLOCKSCOUT_BASE_PATHS.flatMap((base) =>
    languages.flatMap((language) =>
      (['standard_json', 'multi_part'] as const).map((sources) => ({
        base,
        form: { kind: 'blockscout' as const, language, sources, isBatch },
      })),
    ),
  );
}

/** POST …/api/v2/verifier/{solidity,vyper}/sources:{verify-standard-json,verify-multi-part}. */
export const verdictRoutes = formsOf(['solidity', 'vyper'], false).map(({ base, form }) => ({
  form,
  route: verifierRoute(base, form, verdictSchema),
}));

/** POST …/api/v2/verifier/solidity/sources:{batch-verify-standard-json,batch-verify-multi-part}. */
export const batchRoutes = formsOf(['solidity'], true).map(({ base, form }) => ({
  form,
  route: verifierRoute(base, form, batchSchema),
}));

function storedRoute(base: string, what: 'verify' | 'verify-from-etherscan', summary: string) {
  return createRoute({
    method: 'post',
    path: `${base}/api/v2/verifier/sourcify/sources:${what}`,
    summary: `Blockscout verifier: ${summary}`,
    tags,
    request: { body: JSON_BODY },
    responses: {
      200: jsonResponse('The stored match, or why there is none', verdictSchema),
    },
  });
}

/** POST …/api/v2/verifier/sourcify/sources:{verify,verify-from-etherscan}. */
export const storedRoutes = BLOCKSCOUT_BASE_PATHS.map((base) => ({
  verify: storedRoute(base, 'verify', 'a contract on chain by its metadata and sources'),
  takeOver: storedRoute(
    base,
    'verify-from-etherscan',
    'a contract on chain with sources from another explorer',
  ),
}));

const versionsSchema = z
  .strictObject({ compilerVersions: z.array(z.string()) })
  .meta({ id: 'BlockscoutVersions', description: 'Newest first' });

/** GET …/api/v2/verifier/{solidity,vyper}/versions. */
export const versionsRoutes = BLOCKSCOUT_BASE_PATHS.flatMap((base) =>
  (['solidity', 'vyper'] as const).map((language) => ({
    language,
    route: createRoute({
      method: 'get',
      path: `${base}/api/v2/verifier/${language}/versions`,
      summary: `Blockscout verifier: versions of ${language === 'vyper' ? 'Vyper' : 'Solidity'}`,
      tags,
      responses: {
        200: jsonResponse('The versions', versionsSchema),
      },
    }),
  })),
);

/** POST …/api/v2/verifier/solidity/methods:lookup. */
export const methodsRoutes = BLOCKSCOUT_BASE_PATHS.map((base) =>
  createRoute({
    method: 'post',
    path: `${base}/api/v2/verifier/solidity/methods:lookup`,
    summary: 'Blockscout verifier: map the functions of runtime code to its sources',
    tags,
    request: { body: JSON_BODY },
    responses: {
      200: jsonResponse('The functions that were found', methodsSchema),
      400: problemResponse('The request is invalid (`invalid_parameter`, `invalid_json`)'),
      413: problemResponse('The body is too large or contains too much'),
    },
  }),
);

/** GET /blockscout/health. */
export const blockscoutHealthRoute = createRoute({
  method: 'get',
  path: '/blockscout/health',
  summary: 'Health of the Blockscout verifier',
  tags,
  responses: {
    200: jsonResponse(
      'It is serving',
      z
        .strictObject({ status: z.literal('SERVING') })
        .meta({ id: 'BlockscoutHealth', description: 'A status of gRPC' }),
    ),
  },
});
