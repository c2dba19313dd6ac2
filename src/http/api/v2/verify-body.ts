import { FullmatchError } from '../../../errors.ts';
import { isTransactionHash, type Hex } from '../../../lib/hex.ts';
import { isMembers, type Members } from '../../../lib/members.ts';
import { printableText } from '../../../lib/printable-text.ts';
import {
  type MetadataCompilation,
  type StandardJsonCompilation,
} from '../../../verification/verification-request.ts';

const NAME_SHOWN_CHARACTERS = 100;

function invalid(parameter: string, expected: string): FullmatchError {
  return new FullmatchError('invalid_parameter', `${parameter}: ${expected}.`, {
    details: { parameter },
  });
}

function readMembers(value: unknown, parameter: string): Members {
  if (isMembers(value)) return value;
  throw invalid(parameter, 'an object is expected');
}

function readText(value: unknown, parameter: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(parameter, 'text is expected');
}

function readSources(value: unknown, parameter: string): [string, unknown][] {
  const entries = Object.entries(readMembers(value, parameter));
  if (entries.length === 0) throw invalid(parameter, 'at least one source is expected');
  return entries;
}

function nameOf(parameter: string, path: string): string {
  return `${parameter}["${printableText(path, NAME_SHOWN_CHARACTERS)}"]`;
}

/** The creation transaction of a body, where it names one. @throws FullmatchError invalid_parameter */
export function readTransactionHash(value: unknown, parameter: string): Hex | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string' && isTransactionHash(value)) return value.toLowerCase() as Hex;
  throw invalid(parameter, '0x and 64 hexadecimal digits are expected');
}

/**
 * The body of a verification with a standard JSON input. Sources keep their names, whatever they are: a schema
 * library would drop one that is called `__proto__`.
 * @throws FullmatchError invalid_parameter
 */
export function readStandardJsonBody(body: Members): StandardJsonCompilation {
  const input = readMembers(body['stdJsonInput'], 'stdJsonInput');
  const language = readText(input['language'], 'stdJsonInput.language');
  const sources = readSources(input['sources'], 'stdJsonInput.sources').map(([path, source]) => {
    const name = nameOf('stdJsonInput.sources', path);
    const { content } = readMembers(source, name);
    if (typeof content !== 'string') throw invalid(name, 'its text is expected in "content"');
    return [path, { content }] as const;
  });
  const contractIdentifier = readText(body['contractIdentifier'], 'contractIdentifier');
  if (!contractIdentifier.includes(':')) {
    throw invalid('contractIdentifier', 'path:Name is expected, such as contracts/Token.sol:Token');
  }
  return {
    kind: 'standard_json',
    input: {
      language,
      sources: Object.fromEntries(sources),
      settings: readMembers(input['settings'] ?? {}, 'stdJsonInput.settings'),
    },
    compilerVersion: readText(body['compilerVersion'], 'compilerVersion'),
    contractIdentifier,
  };
}

/** The body of a verification with metadata and sources. @throws FullmatchError invalid_parameter */
export function readMetadataBody(body: Members): MetadataCompilation {
  const sources = readSources(body['sources'], 'sources').map(([path, content]) => {
    if (typeof content !== 'string') throw invalid(nameOf('sources', path), 'text is expected');
    return [path, content] as const;
  });
  return {
    kind: 'metadata',
    metadata: readMembers(body['metadata'], 'metadata'),
    sources: Object.fromEntries(sources),
  };
}
