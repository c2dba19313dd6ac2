import { isMembers, type Members } from '../../../src/lib/members.ts';

/** An entry of an ABI as its source would declare it. */
export interface AbiSignature {
  readonly kind: string;
  readonly text: string;
}

const PARAMETERS_DEPTH = 8;

/** The entries of an ABI as people read them, in its order. What has no form of an entry is left out. */
export function describeAbi(abi: unknown): AbiSignature[] {
  if (!Array.isArray(abi)) return [];
  return abi.filter(isMembers).map((entry) => {
    const kind = textOf(entry['type'], 'function');
    const name = textOf(entry['name'], kind);
    const mutability = textOf(entry['stateMutability'], '');
    const outputs = parametersOf(entry['outputs']);
    const words = [
      `${name}(${parametersOf(entry['inputs'])})`,
      ['', 'nonpayable'].includes(mutability) ? '' : mutability,
      outputs === '' ? '' : `→ ${outputs}`,
    ];
    return { kind, text: words.filter((word) => word !== '').join(' ') };
  });
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}

function parametersOf(value: unknown): string {
  const parameters: unknown[] = Array.isArray(value) ? value : [];
  return parameters
    .filter(isMembers)
    .map((each) =>
      [typeOf(each, 0), each['indexed'] === true ? 'indexed' : '', textOf(each['name'], '')]
        .filter((word) => word !== '')
        .join(' '),
    )
    .join(', ');
}

/** A tuple by the types of its members. */
function typeOf(parameter: Members, depth: number): string {
  const type = textOf(parameter['type'], '?');
  const components: unknown = parameter['components'];
  if (!type.startsWith('tuple') || !Array.isArray(components) || depth > PARAMETERS_DEPTH) {
    return type;
  }
  const members = components.filter(isMembers).map((each) => typeOf(each, depth + 1));
  return `(${members.join(', ')})${type.slice('tuple'.length)}`;
}
