import { z } from 'zod';

import { isTransactionHash, type Hex } from '../../../lib/hex.ts';
import { type Members } from '../../../lib/members.ts';
import { listedSourcesOf } from '../../../solidity/metadata.ts';
import { toStandardJson } from '../../../solidity/to-standard-json.ts';
import {
  type SimilarityRequest,
  type VerificationRequest,
} from '../../../verification/verification-request.ts';
import { validateBody } from '../../bodies/validate-body.ts';
import { TRY_SETTINGS } from '../../job-schema.ts';
import { anyMembers, anyMembersOrNull, namedValues } from '../../named-values.ts';

const OBJECT_EXPECTED = 'an object is expected';
const TEXT_EXPECTED = 'a string is required';
const SOURCE_EXPECTED = 'its text is expected in "content"';

const text = z.string(TEXT_EXPECTED).min(1, TEXT_EXPECTED);

/** Schema of at least one source, by path. */
const sourcesOf = <Value extends z.ZodType>(value: Value) =>
  namedValues(value).refine(
    (sources) => Object.keys(sources).length > 0,
    'at least one source is expected',
  );

/** Schema of an optional transaction hash; empty text and null count as absent. */
export const transactionHash = z
  .string('0x and 64 hexadecimal digits are expected')
  .nullish()
  .transform((hash, context): Hex | undefined => {
    if (hash === undefined || hash === null || hash === '') return undefined;
    if (isTransactionHash(hash)) return hash.toLowerCase() as Hex;
    context.addIssue({ code: 'custom', message: '0x and 64 hexadecimal digits are expected' });
    return z.NEVER;
  })
  .meta({
    type: 'string',
    description: 'The transaction that created the contract; any other is ignored',
  });

/** Whether to try other settings. */
export const trySettings = z.boolean('true or false is expected').describe(TRY_SETTINGS);

/** A compiler's standard JSON input. */
export const standardJsonInputSchema = z
  .looseObject(
    {
      language: text.describe('Solidity, Yul or Vyper'),
      sources: sourcesOf(z.looseObject({ content: z.string(SOURCE_EXPECTED) }, OBJECT_EXPECTED)),
      settings: anyMembersOrNull.optional(),
      interfaces: anyMembersOrNull.optional().describe('For Vyper: path to ABI or text'),
      storage_layout_overrides: anyMembersOrNull.optional().describe('For Vyper: path to layout'),
    },
    OBJECT_EXPECTED,
  )
  .describe('The standard JSON input of the compiler');

/** The body of POST /v2/verify/{chainId}/{address}. */
export const standardJsonBodySchema = z
  .object({
    stdJsonInput: standardJsonInputSchema,
    compilerVersion: text.describe('0.8.30+commit.73712a01; the v and the commit are optional'),
    contractIdentifier: text
      .refine(
        (name) => name.includes(':'),
        'path:Name is expected, such as contracts/Token.sol:Token',
      )
      .describe('path:Name, split at the last colon'),
    creationTransactionHash: transactionHash.optional(),
    trySettings: trySettings.default(false),
  })
  .meta({ id: 'V2VerifyRequest', description: 'A compilation by its standard JSON input' });

/** Returns whether metadata embeds the text of each source that it lists. */
function isSelfContained(metadata: Members): boolean {
  const listed = listedSourcesOf(metadata);
  return listed.length > 0 && listed.every(({ content }) => content !== undefined);
}

/** The body of POST /v2/verify/metadata/{chainId}/{address}. */
export const metadataBodySchema = z
  .object({
    metadata: anyMembers.describe('The metadata.json of the contract'),
    sources: namedValues(z.string(TEXT_EXPECTED))
      .nullish()
      .transform((sources) => sources ?? {})
      .describe(
        'Path to content; a source with another path is found by its hash. Not needed if the metadata contains the sources',
      ),
    creationTransactionHash: transactionHash.optional(),
  })
  .refine(({ metadata, sources }) => Object.keys(sources).length > 0 || isSelfContained(metadata), {
    path: ['sources'],
    message: 'at least one source is expected',
  })
  .meta({ id: 'V2VerifyMetadataRequest', description: 'A compilation by its metadata' });

/** The body of POST /v2/verify/similarity/{chainId}/{address}. */
export const similarityBodySchema = z
  .object({ creationTransactionHash: transactionHash.optional() })
  .meta({ id: 'V2VerifySimilarityRequest', description: 'Details of the deployment' });

/** The body of POST /v2/verify/etherscan/{chainId}/{address}. */
export const explorerBodySchema = z
  .object({
    apiKey: z
      .string(TEXT_EXPECTED)
      .max(512, 'a shorter text is expected')
      .nullish()
      .transform((key) => key?.trim() || undefined)
      .meta({ type: 'string', description: 'Your own key for the other explorer; not stored' }),
  })
  .meta({ id: 'V2VerifyEtherscanRequest', description: 'Credentials for the other explorer' });

/** A request to another explorer. */
export type ExplorerRequest = z.output<typeof explorerBodySchema>;

/** The verification that a body asks for, without chain and address. */
type Asked = Pick<VerificationRequest, 'compilation' | 'creationTransactionHash'>;

/**
 * Reads a body with a standard JSON input.
 * @throws FullmatchError invalid_parameter
 */
export function readStandardJsonBody(body: Members): Asked {
  const {
    stdJsonInput,
    creationTransactionHash,
    trySettings: isTrying,
    ...names
  } = validateBody(standardJsonBodySchema, body);
  return {
    compilation: {
      ...{ kind: 'standard_json', input: toStandardJson(stdJsonInput), ...names },
      ...(isTrying && { trySettings: true }),
    },
    ...(creationTransactionHash && { creationTransactionHash }),
  };
}

/** Reads a body with metadata and sources. @throws FullmatchError invalid_parameter */
export function readMetadataBody(body: Members): Asked {
  const { creationTransactionHash, ...given } = validateBody(metadataBodySchema, body);
  return {
    compilation: { kind: 'metadata', ...given },
    ...(creationTransactionHash && { creationTransactionHash }),
  };
}

/**
 * Reads a body that asks for an import from another explorer.
 * @throws FullmatchError invalid_parameter
 */
export function readExplorerBody(body: Members): ExplorerRequest {
  return validateBody(explorerBodySchema, body);
}

/**
 * Reads a body that asks for a similarity search.
 * @throws FullmatchError invalid_parameter
 */
export function readSimilarityBody(body: Members): Omit<SimilarityRequest, 'chainId' | 'address'> {
  const { creationTransactionHash } = validateBody(similarityBodySchema, body);
  return {
    compilation: { kind: 'stored' },
    ...(creationTransactionHash && { creationTransactionHash }),
  };
}
