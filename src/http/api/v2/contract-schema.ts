import { z } from '@hono/zod-openapi';

const matchSchema = z
  .enum(['exact_match', 'match'])
  .nullable()
  .describe('exact_match: full; match: partial; null: none');

const minimal = {
  matchId: z
    .string()
    .optional()
    .describe('Number of the evidence behind the match; ascends as matches are stored'),
  match: matchSchema,
  creationMatch: matchSchema,
  runtimeMatch: matchSchema,
  chainId: z.string().describe('Decimal digits'),
  address: z.string().describe('With its checksum (EIP-55)'),
  verifiedAt: z.iso.datetime().optional().describe('When this service stored the match'),
};

const unknownObject = z.record(z.string(), z.unknown());
const digits = z.string().nullable().optional();

const codeMembers = {
  onchainBytecode: z.string().nullable().optional(),
  recompiledBytecode: z.string().nullable().optional(),
  sourceMap: z.string().nullable().optional(),
  linkReferences: unknownObject.nullable().optional(),
  cborAuxdata: unknownObject.nullable().optional(),
  transformations: z.array(unknownObject).nullable().optional(),
  transformationValues: unknownObject.nullable().optional(),
};

/** The minimal object of a contract, verified or not. */
export const minimalContractSchema = z
  .strictObject(minimal)
  .meta({ id: 'V2MinimalContract', description: 'The match of a contract, without its evidence' });

/** A contract with the fields that were asked for. */
export const contractSchema = z
  .strictObject({
    ...minimal,
    creationMatch: matchSchema.optional(),
    runtimeMatch: matchSchema.optional(),
    creationBytecode: z.strictObject(codeMembers).optional(),
    runtimeBytecode: z
      .strictObject({
        ...codeMembers,
        immutableReferences: unknownObject.nullable().optional(),
        unprovenValues: z
          .array(z.enum(['immutables', 'libraries']))
          .nullable()
          .optional()
          .describe(
            'Values that nothing proves: immutables without creation code that matches; libraries without it too, and all of a partial match',
          ),
      })
      .optional(),
    deployment: z
      .strictObject({
        transactionHash: z.string().nullable().optional(),
        blockNumber: digits,
        transactionIndex: digits,
        deployer: z.string().nullable().optional(),
      })
      .optional(),
    sources: z.record(z.string(), z.strictObject({ content: z.string() })).optional(),
    compilation: z
      .strictObject({
        language: z.string().optional(),
        compiler: z.string().optional(),
        compilerVersion: z.string().optional(),
        compilerSettings: unknownObject.optional(),
        name: z.string().optional(),
        fullyQualifiedName: z.string().optional(),
      })
      .nullable()
      .optional(),
    abi: z.array(unknownObject).nullable().optional(),
    metadata: unknownObject.nullable().optional(),
    storageLayout: unknownObject.nullable().optional(),
    transientStorageLayout: unknownObject.nullable().optional(),
    userdoc: unknownObject.nullable().optional(),
    devdoc: unknownObject.nullable().optional(),
    sourceIds: unknownObject.nullable().optional(),
    stdJsonInput: unknownObject.nullable().optional(),
    stdJsonOutput: unknownObject.nullable().optional(),
  })
  .meta({ id: 'V2Contract', description: 'A verified contract; what is not known is null' });

/** Contracts, each as its minimal object. */
export const contractListSchema = z
  .strictObject({ results: z.array(minimalContractSchema) })
  .meta({ id: 'V2ContractList', description: 'Contracts without their evidence' });
