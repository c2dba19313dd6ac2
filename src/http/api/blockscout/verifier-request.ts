import { z } from 'zod';

import { isAddress } from '../../../lib/address-text.ts';
import { type Hex } from '../../../lib/hex.ts';
import { buildStandardJson, PlainSourcesError } from '../../../solidity/build-standard-json.ts';
import { type StandardJsonInput } from '../../../solidity/standard-json.ts';
import { buildVyperJson } from '../../../solidity/vyper-sources.ts';
import { toStandardJson } from '../../../solidity/to-standard-json.ts';
import { type SubmittedCodes } from '../../../verification/submitted-codes/submitted-codes.ts';
import { type StandardJsonCompilation } from '../../../verification/verification-request.ts';
import {
  abiParser,
  parseJsonText,
  parseJsonBody,
  type RequestLimits,
} from '../../bodies/request-limits.ts';
import { invalidMember, validateBody } from '../../bodies/validate-body.ts';
import { namedValues } from '../../named-values.ts';
import { standardJsonInputSchema } from '../v2/verify-body.ts';

/** Kind of request that a path of the verifier expects. */
export interface BlockscoutForm {
  readonly kind: 'blockscout';
  readonly language: 'solidity' | 'vyper';
  readonly sources: 'standard_json' | 'multi_part';
  /** Whether the compilation comes with the bytecode of several contracts. */
  readonly isBatch: boolean;
}

/** A compilation, and the bytecode to match it against. */
export interface VerifierRequest {
  readonly compilation: StandardJsonCompilation;
  readonly codes: readonly SubmittedCodes[];
  /** Whether to locate the methods in the sources. */
  readonly wantsMethods: boolean;
}

const NO_ADDRESS: Hex = `0x${'0'.repeat(40)}`;
const MAX_CODES = 100;
const CODE_EXPECTED = '0x and hexadecimal digits in pairs are expected';

/** Hexadecimal bytecode, with or without 0x. */
export const code = z
  .string(CODE_EXPECTED)
  .regex(/^(?:0x)?(?:[0-9a-fA-F]{2})+$/, CODE_EXPECTED)
  .transform((text): Hex => `0x${text.replace(/^0x/, '').toLowerCase()}`);
const text = z.string('text is expected');
const metadata = z.looseObject({ contractAddress: z.string().nullish() }).nullish();

/** Whether bytecode is creation or runtime bytecode. */
export const bytecodeType = z.enum(
  ['CREATION_INPUT', 'DEPLOYED_BYTECODE'],
  'CREATION_INPUT or DEPLOYED_BYTECODE is expected',
);

/** Actions to run on a match; unsupported actions are ignored. */
const postActions = z.looseObject({
  postActions: z.array(z.string(), 'a list of actions is expected').nullish(),
});

/** `bytecode` of one contract, or the bytecode of several. */
const single = z.looseObject({
  bytecode: code,
  bytecodeType,
  metadata,
});
const batch = z.looseObject({
  contracts: z
    .array(
      z.looseObject({ creationCode: code.nullish(), runtimeCode: code.nullish(), metadata }),
      'a list of contracts is expected',
    )
    .min(1, 'at least one contract is expected')
    .max(MAX_CODES, `at most ${MAX_CODES} contracts are expected`),
});

const compilerVersion = text.min(1, 'the version of a compiler is expected');
const named = namedValues(text).refine(
  (files) => Object.keys(files).length > 0,
  'at least one source is expected',
);
const multiPart = z.looseObject({
  compilerVersion,
  sourceFiles: named.optional(),
  sources: named.optional(),
  evmVersion: z.string().nullish(),
  optimizationRuns: z.int('a whole number is expected').min(0).nullish(),
  libraries: namedValues(text).nullish(),
  interfaces: namedValues(text).nullish(),
});
const standardJson = z.looseObject({ compilerVersion, input: text });

/**
 * Reads a request that Blockscout sends to its verifier.
 * @throws FullmatchError invalid_parameter, invalid_json, request_too_many_values
 */
export function readVerifierRequest(
  bytes: Buffer<ArrayBuffer>,
  form: BlockscoutForm,
  limits: RequestLimits,
): VerifierRequest {
  const body = parseJsonBody(bytes, limits);
  const codes = form.isBatch
    ? codesOf(validateBody(batch, body))
    : [codeOf(validateBody(single, body))];
  const [version, input] =
    form.sources === 'standard_json'
      ? readWhole(validateBody(standardJson, body), limits)
      : readParts(validateBody(multiPart, body), form, limits);
  const actions = validateBody(postActions, body).postActions ?? [];
  return {
    codes,
    wantsMethods: !form.isBatch && actions.includes('lookup-methods'),
    compilation: {
      ...{ kind: 'standard_json', input },
      ...(form.sources !== 'standard_json' && { trySettings: true }),
      compilerVersion: version.replace(/^vyper:/, ''),
    },
  };
}

function codeOf({
  bytecode,
  bytecodeType,
  metadata: place,
}: z.output<typeof single>): SubmittedCodes {
  const address = addressOf(place);
  return bytecodeType === 'CREATION_INPUT'
    ? { address, creationCode: bytecode }
    : { address, runtimeCode: bytecode };
}

function codesOf({ contracts }: z.output<typeof batch>): readonly SubmittedCodes[] {
  return contracts.map(({ creationCode, runtimeCode, metadata: place }) => {
    if (!creationCode && !runtimeCode) {
      throw invalidMember('contracts', 'creationCode or runtimeCode is expected of each');
    }
    return {
      address: addressOf(place),
      ...(creationCode && { creationCode }),
      ...(runtimeCode && { runtimeCode }),
    };
  });
}

function addressOf(place: z.output<typeof metadata>): Hex {
  return addressOrZero(place?.contractAddress ?? '');
}

/** Returns an address in lower case; the zero address if the text is not an address. */
export function addressOrZero(address: string): Hex {
  return isAddress(address) ? (address.toLowerCase() as Hex) : NO_ADDRESS;
}

function readWhole(
  { compilerVersion: version, input }: z.output<typeof standardJson>,
  limits: RequestLimits,
): readonly [string, StandardJsonInput] {
  const value = parseJsonText(input, limits, 'The member input');
  return [version, toStandardJson(validateBody(standardJsonInputSchema, value))];
}

function readParts(
  { compilerVersion: version, ...parts }: z.output<typeof multiPart>,
  { language }: BlockscoutForm,
  limits: RequestLimits,
): readonly [string, StandardJsonInput] {
  const sources = parts.sourceFiles ?? parts.sources;
  if (sources === undefined) throw invalidMember('sourceFiles', 'the sources are expected');
  const evmVersion = parts.evmVersion ?? '';
  const paths = Object.keys(sources);
  const runs = parts.optimizationRuns;
  try {
    if (language === 'vyper') {
      const interfaces = parts.interfaces ?? {};
      const parseAbi = abiParser(limits);
      return [version, buildVyperJson({ sources, interfaces, evmVersion, parseAbi })];
    }
    const input = buildStandardJson({
      sources,
      language: paths.every((path) => path.endsWith('.yul')) ? 'Yul' : 'Solidity',
      optimizer: typeof runs === 'number' ? { enabled: true, runs } : { enabled: false },
      evmVersion,
      libraries: parts.libraries ?? {},
      skipUnplacedLibraries: true,
    });
    return [version, input];
  } catch (error) {
    if (!(error instanceof PlainSourcesError)) throw error;
    throw invalidMember(error.part, error.message.replace(/\.$/, ''));
  }
}
