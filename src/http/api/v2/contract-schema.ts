import { z } from '@hono/zod-openapi';

import { anyMembers, anyMembersOrNull, namedValues } from '../../named-values.ts';
import { v2ErrorSchema } from './v2-error.ts';
import { originSchema } from '../../match-schema.ts';

const matchSchema = z
  .enum(['exact_match', 'match'])
  .nullable()
  .describe('exact_match: full; match: partial; null: none');

const minimal = {
  matchId: z
    .string()
    .optional()
    .describe('Number of the evidence behind the match; increases with every stored match'),
  match: matchSchema,
  creationMatch: matchSchema,
  runtimeMatch: matchSchema,
  chainId: z.string().describe('Decimal digits'),
  address: z.string().describe('With its checksum (EIP-55)'),
  verifiedAt: z.iso.datetime().optional().describe('When this service stored the match'),
};

const digits = z.string().nullable().optional();

const codeMembers = {
  onchainBytecode: z.string().nullable().optional(),
  recompiledBytecode: z.string().nullable().optional(),
  sourceMap: z.string().nullable().optional(),
  linkReferences: anyMembersOrNull.optional(),
  cborAuxdata: anyMembersOrNull.optional(),
  transformations: z.array(anyMembers).nullable().optional(),
  transformationValues: anyMembersOrNull.optional(),
  unprovenValues: z
    .array(z.enum(['immutables', 'libraries', 'arguments']))
    .nullable()
    .optional()
    .describe(
      'Values without proof. In runtime bytecode: immutables and libraries without matching creation bytecode, and all libraries of a partial match. In creation bytecode: imported constructor arguments until they are proven here; otherwise absent',
    ),
};

/** The minimal object of a contract, verified or not. */
export const minimalContractSchema = z
  .strictObject(minimal)
  .meta({ id: 'V2MinimalContract', description: 'The match of a contract, without its evidence' });

/** Proxy type names of the verification API v2. */
const proxyTypes = z.enum([
  'EIP1167Proxy',
  'EIP1967Proxy',
  'ZeppelinOSProxy',
  'PROXIABLEProxy',
  'GnosisSafeProxy',
  'SequenceWalletProxy',
  'DiamondProxy',
]);

/** Proxy resolution of a contract. */
export const proxyResolutionSchema = z
  .strictObject({
    isProxy: z.boolean(),
    proxyType: proxyTypes.nullable(),
    implementations: z.array(
      z.strictObject({
        address: z.string().describe('With its checksum (EIP-55)'),
        name: z.string().optional().describe('If the implementation is verified here'),
        match: z
          .enum(['exact_match', 'match'])
          .optional()
          .describe('The match of the implementation'),
        origin: originSchema.optional().describe('Who verified the implementation'),
      }),
    ),
    proxyResolutionError: v2ErrorSchema.describe('Only this member if the chain could not be read'),
  })
  .partial()
  .describe('Read from the chain for this response, so not included in fields=all');

const signature = z.strictObject({
  signature: z.string().meta({ example: 'transfer(address,uint256)' }),
  signatureHash32: z.string().describe('Its Keccak-256 hash: the first topic of an event'),
  signatureHash4: z.string().describe('The first four bytes: the selector'),
});
const signaturesSchema = z
  .strictObject({
    function: z.array(signature),
    event: z.array(signature),
    error: z.array(signature),
  })
  .partial()
  .describe('Of the ABI, each once');

interface DescribedValue {
  readonly name: string;
  readonly type: string;
  readonly value?: string | undefined;
  readonly members?: readonly DescribedValue[] | undefined;
}

/** A decoded value. */
const describedValueSchema: z.ZodType<DescribedValue> = z
  .strictObject({
    name: z.string().describe('The declared name, or the index in a list; empty if it has none'),
    type: z.string().meta({ example: 'address' }),
    value: z
      .string()
      .optional()
      .describe(
        'Numbers in decimal digits, addresses with their checksum, other bytes in hex; absent for lists and tuples',
      ),
    members: z
      .array(z.lazy(() => describedValueSchema))
      .readonly()
      .optional(),
  })
  .meta({ id: 'DescribedValue' });

/** Values of a contract that only the chain provides. */
export const valuesSchema = z
  .strictObject({
    constructorArguments: z
      .strictObject({
        data: z.string(),
        decoded: z
          .array(describedValueSchema)
          .readonly()
          .nullable()
          .describe(
            'Decoded by the ABI; null if it has no constructor, if they are not its strict encoding, or if there are more than 500 values',
          ),
      })
      .nullable()
      .describe('null if there are none or they are unknown'),
    immutables: z.array(
      z.strictObject({
        id: z.string().describe('As in immutableReferences'),
        name: z.string().nullable().describe('Name of the variable, if known'),
        type: z.string().nullable().describe('Its declared type, if known'),
        data: z.string().describe('The bytes in the bytecode'),
        value: z.string().nullable().describe('null if the type does not define how to read it'),
      }),
    ),
    libraries: z
      .array(z.strictObject({ name: z.string(), address: z.string() }))
      .describe('Libraries whose addresses are in the bytecode'),
  })
  .describe('What only the chain knows, decoded; unprovenValues says what of it nothing proves');

/** A contract with the selected fields. */
export const contractSchema = z
  .strictObject({
    ...minimal,
    creationMatch: matchSchema.optional(),
    runtimeMatch: matchSchema.optional(),
    creationBytecode: z.strictObject(codeMembers).optional(),
    runtimeBytecode: z
      .strictObject({
        ...codeMembers,
        immutableReferences: anyMembersOrNull.optional(),
      })
      .optional(),
    deployment: z
      .strictObject({
        transactionHash: z.string().nullable().optional(),
        blockNumber: digits,
        transactionIndex: digits,
        deployer: z.string().nullable().optional(),
        unprovenValues: z
          .array(z.enum(['transaction']))
          .optional()
          .describe('An imported transaction until it is proven here; otherwise absent'),
      })
      .optional(),
    sources: namedValues(z.strictObject({ content: z.string() })).optional(),
    compilation: z
      .strictObject({
        language: z.string().optional(),
        compiler: z.string().optional(),
        compilerVersion: z.string().optional(),
        compilerSettings: anyMembers.optional(),
        name: z.string().optional(),
        fullyQualifiedName: z.string().optional(),
      })
      .nullable()
      .optional(),
    abi: z.array(anyMembers).nullable().optional(),
    metadata: anyMembersOrNull.optional(),
    storageLayout: anyMembersOrNull.optional(),
    transientStorageLayout: anyMembersOrNull.optional(),
    userdoc: anyMembersOrNull.optional(),
    devdoc: anyMembersOrNull.optional(),
    sourceIds: anyMembersOrNull.optional(),
    stdJsonInput: anyMembersOrNull.optional(),
    stdJsonOutput: anyMembersOrNull.optional(),
    signatures: signaturesSchema.optional(),
    values: valuesSchema.partial().optional(),
    proxyResolution: proxyResolutionSchema.optional(),
  })
  .meta({ id: 'V2Contract', description: 'A verified contract; unknown values are null' });

/** A list of contracts, each as its minimal object. */
export const contractListSchema = z
  .strictObject({ results: z.array(minimalContractSchema) })
  .meta({ id: 'V2ContractList', description: 'Contracts without their evidence' });
