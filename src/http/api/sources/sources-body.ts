import { z } from 'zod';

import { FullmatchError } from '../../../errors.ts';
import { isAddress } from '../../../lib/address-text.ts';
import { type Members } from '../../../lib/members.ts';
import { printableText } from '../../../lib/printable-text.ts';
import {
  buildStandardJson,
  type Declaration,
  findDeployableContracts,
  findMissingImports,
  PlainSourcesError,
} from '../../../solidity/build-standard-json.ts';
import { type StandardJsonInput } from '../../../solidity/standard-json.ts';
import { buildVyperJson, vyperContractsIn } from '../../../solidity/vyper-sources.ts';
import { type VerificationRequest } from '../../../verification/verification-request.ts';
import {
  abiParser,
  requireBoundedPaths,
  requireSourceLimit,
  type RequestLimits,
} from '../../bodies/request-limits.ts';
import { invalidMember, validateBody } from '../../bodies/validate-body.ts';
import { namedValues } from '../../named-values.ts';
import { transactionHash, trySettings } from '../v2/verify-body.ts';

const TEXT_EXPECTED = 'a string is required';
const MAX_RUNS = 4_294_967_295;
const NAMES_SHOWN = 50;
const MAX_ENTRIES = 1000;
/** Limit on all remappings together: each remapping is compared with each import. */
const MAX_REMAPPED_CHARACTERS = 65_536;

/** The body of POST /v1/verify/sources/{chainId}/{address}. */
export const sourcesBodySchema = z
  .object({
    files: namedValues(z.string(TEXT_EXPECTED))
      .refine((files) => Object.keys(files).length > 0, 'at least one source is expected')
      .describe('Path to text, as imports name the paths'),
    compilerVersion: z
      .string(TEXT_EXPECTED)
      .min(1, TEXT_EXPECTED)
      .describe('0.8.30+commit.73712a01; the v and the commit are optional'),
    contract: z
      .string(TEXT_EXPECTED)
      .nullish()
      .describe('path:Name or Name; by default the contract whose bytecode is on chain'),
    language: z
      .enum(['Solidity', 'Yul', 'Vyper'], 'Solidity, Yul or Vyper is expected')
      .default('Solidity'),
    optimizer: z
      .object({
        enabled: z.boolean('true or false is expected').default(false),
        runs: z
          .int('a whole number is expected')
          .min(0, 'a whole number is expected')
          .max(MAX_RUNS, 'a smaller number is expected')
          .default(200),
      })
      .optional()
      .describe('By default the optimizer is off'),
    evmVersion: z
      .string(TEXT_EXPECTED)
      .nullish()
      .describe('Such as paris; by default, or for `default`, that of the compiler'),
    viaIR: z.boolean('true or false is expected').nullish(),
    libraries: namedValues(
      z.string(TEXT_EXPECTED).refine(isAddress, '0x and 40 hexadecimal digits are expected'),
    )
      .optional()
      .describe('path:Name, or Name if only one source declares it, to address'),
    remappings: z
      .array(z.string(TEXT_EXPECTED))
      .max(MAX_ENTRIES, 'fewer are expected')
      .refine(
        (texts) => texts.reduce((sum, { length }) => sum + length, 0) <= MAX_REMAPPED_CHARACTERS,
        'shorter ones are expected',
      )
      .optional()
      .describe('context:prefix=target'),
    creationTransactionHash: transactionHash.optional(),
    trySettings: trySettings.default(true),
  })
  .meta({ id: 'SourcesRequest', description: 'Source files and their settings' });

/** The verification that a body asks for, without chain and address. */
type Asked = Pick<VerificationRequest, 'compilation' | 'creationTransactionHash'>;

/**
 * Reads a body with plain sources and builds a standard JSON input.
 * @throws FullmatchError invalid_parameter, request_too_many_sources, source_path_too_long; missing_sources
 * with `details.missingSources`
 */
export function readSourcesBody(body: Members, limits: RequestLimits): Asked {
  const given = validateBody(sourcesBodySchema, body);
  const { files, compilerVersion, contract, language, creationTransactionHash } = given;
  const { optimizer, evmVersion, viaIR, libraries, remappings } = given;
  const paths = Object.keys(files);
  requireSourceLimit(paths.length, limits);
  requireBoundedPaths(paths);
  const isVyper = language === 'Vyper';
  const input = namingMembers(() => {
    if (isVyper) return buildVyper(given, limits);
    const sources = {
      ...{ sources: files, language },
      ...(optimizer && { optimizer }),
      ...(typeof evmVersion === 'string' && { evmVersion }),
      ...(typeof viaIR === 'boolean' && { viaIR }),
      ...(libraries && { libraries }),
      ...(remappings && { remappings }),
    };
    if (language === 'Solidity') requireImports(sources);
    return buildStandardJson(sources);
  });
  const declared = isVyper ? vyperContractsIn(paths) : findDeployableContracts(files);
  const contractIdentifier = placeContract(contract ?? '', declared);
  return {
    compilation: {
      ...{ kind: 'standard_json', input, compilerVersion },
      ...(given.trySettings && { trySettings: true }),
      ...(contractIdentifier !== undefined && { contractIdentifier }),
    },
    ...(creationTransactionHash && { creationTransactionHash }),
  };
}

const NOT_OF_VYPER = ['optimizer', 'viaIR', 'libraries', 'remappings'] as const;

function buildVyper(
  given: z.infer<typeof sourcesBodySchema>,
  limits: RequestLimits,
): StandardJsonInput {
  const other = NOT_OF_VYPER.find((name) => (given[name] ?? false) !== false);
  if (other === undefined) {
    const { files: sources, evmVersion } = given;
    return buildVyperJson({ sources, evmVersion: evmVersion ?? '', parseAbi: abiParser(limits) });
  }
  throw invalidMember(
    other,
    'is not said of Vyper; a pragma in the source says it, or settings in a standard JSON input',
  );
}

/** Builds the input; reports a fault as an error of the member that causes it. */
function namingMembers(build: () => StandardJsonInput): StandardJsonInput {
  try {
    return build();
  } catch (error) {
    if (!(error instanceof PlainSourcesError)) throw error;
    const member = error.part === 'sources' ? 'files' : error.part;
    throw invalidMember(member, error.message.replace(/\.$/, ''));
  }
}

/** @throws FullmatchError missing_sources */
function requireImports(sources: Parameters<typeof findMissingImports>[0]): void {
  const missing = findMissingImports(sources);
  if (missing.length === 0) return;
  const shown = missing.slice(0, NAMES_SHOWN).map(({ name, from, path }) => ({
    name: printableText(name),
    from: printableText(from),
    path: printableText(path),
  }));
  const named = shown.map(({ path, from }) => `${path} (imported by ${from})`);
  throw new FullmatchError(
    'missing_sources',
    `The sources import what is not among them: ${named.join(', ')}. Add these files under these paths, or a remapping that leads to them.`,
    { details: { missingSources: shown } },
  );
}

/** Returns the contract as path:Name; undefined if the bytecode on chain must decide which contract it is. */
function placeContract(contract: string, declared: readonly Declaration[]): string | undefined {
  if (contract.includes(':')) return contract;
  const fitting = declared.filter(({ name }) => contract === '' || name === contract);
  const [only, another] = fitting;
  if (only !== undefined && another === undefined) return `${only.path}:${only.name}`;
  if (contract === '') return undefined;
  const listed = (fitting.length > 0 ? fitting : declared)
    .slice(0, NAMES_SHOWN)
    .map(({ path, name }) => printableText(`${path}:${name}`));
  throw invalidMember(
    'contract',
    fitting.length === 0
      ? `no source declares it; it may be: ${listed.join(', ')}`
      : `several sources declare it; name one: ${listed.join(', ')}`,
  );
}
