import { hexToBytes } from '../../../lib/hex.ts';
import { isMembers, type Members, membersOf } from '../../../lib/members.ts';
import { describeValues } from '../../../solidity/describe-values.ts';
import type { ContractSections } from '../../../repository/repository.ts';
import { type ResponseOf } from '../../answer.ts';
import { type valuesSchema } from './contract-schema.ts';

type Values = ResponseOf<typeof valuesSchema>;

const HEX = /^0x(?:[0-9a-f]{2})*$/i;

/**
 * Renders the values of a contract that only the chain provides, decoded with its ABI and its declarations as
 * far as these are known.
 */
export function renderValues({
  artifacts,
  compilation,
  creationCode,
  runtimeCode,
}: Partial<ContractSections>): Values {
  const given = creationCode?.values?.['constructorArguments'];
  const linked = [creationCode?.values, runtimeCode?.values].map((values) => values?.['libraries']);
  const libraries = Object.assign(
    {},
    configuredLibraries(compilation?.settings['libraries']),
    ...linked.map(membersOf),
  ) as Members;
  return {
    constructorArguments: isHex(given)
      ? { data: given, decoded: decodeArguments(artifacts?.['abi'], given) }
      : null,
    immutables: Object.entries(membersOf(runtimeCode?.values?.['immutables'])).flatMap(
      ([id, data]) =>
        isHex(data) ? [renderImmutable(id, data, runtimeCode?.immutables?.[id])] : [],
    ),
    libraries: Object.entries(libraries).flatMap(([name, address]) =>
      typeof address === 'string' ? [{ name, address }] : [],
    ),
  };
}

type StoredImmutable = NonNullable<
  NonNullable<ContractSections['runtimeCode']['immutables']>[string]
>;

function renderImmutable(
  id: string,
  data: string,
  { name, declared, abiType }: StoredImmutable = {},
): Values['immutables'][number] {
  const type = declared ?? abiType ?? null;
  const [described] =
    (abiType === undefined ? undefined : describeValues([{ type: abiType }], hexToBytes(data))) ??
    [];
  return { id, name: name ?? null, type, data, value: described?.value ?? null };
}

function decodeArguments(
  abi: unknown,
  data: string,
): NonNullable<Values['constructorArguments']>['decoded'] {
  const entries: unknown[] = Array.isArray(abi) ? abi : [];
  const constructor = entries.find((entry) => isMembers(entry) && entry['type'] === 'constructor');
  if (!isMembers(constructor)) return null;
  return describeValues(constructor['inputs'], hexToBytes(data)) ?? null;
}

/** Returns the libraries in the compiler settings: `path:Name` → address. */
function configuredLibraries(libraries: unknown): Members {
  return Object.fromEntries(
    Object.entries(membersOf(libraries)).flatMap(([path, byName]) =>
      Object.entries(membersOf(byName)).map(([name, address]) => [
        path === '' ? name : `${path}:${name}`,
        address,
      ]),
    ),
  );
}

const isHex = (value: unknown): value is string => typeof value === 'string' && HEX.test(value);
