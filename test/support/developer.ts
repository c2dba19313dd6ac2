import { compileInChild, type SolcVersion } from './compile-in-child.ts';

/** A test's standard JSON input. */
export interface TestInput {
  readonly language: string;
  readonly sources: Readonly<Record<string, { readonly content: string }>>;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** A Solidity input with one or several sources. */
export function inputOf(
  sources: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, unknown>> = {},
): TestInput {
  return {
    language: 'Solidity',
    sources: Object.fromEntries(
      Object.entries(sources).map(([path, content]) => [path, { content }]),
    ),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { '*': { '*': ['*'] } },
      ...settings,
    },
  };
}

interface Output {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts?: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly metadata: string;
            readonly evm: { readonly bytecode: { readonly object: string } };
          }
        >
      >
    >
  >;
}

/** A contract as its developer compiled it, outside the service. */
export interface DevelopersContract {
  readonly creationCode: string;
  readonly metadata: string;
}

/**
 * Compiles with a solc version in a child process.
 * @param root the only source given to the compiler, as on a command line; it resolves the others through
 * imports
 */
export async function compileAsDeveloper(
  version: SolcVersion,
  input: TestInput,
  path: string,
  name: string,
  root?: string,
): Promise<DevelopersContract> {
  const [output] = await compileInChild<Output>(version, [input], root);
  const contract = output?.contracts?.[path]?.[name];
  if (contract === undefined) {
    throw new Error(
      (output?.errors ?? []).map(({ formattedMessage }) => formattedMessage).join('\n'),
    );
  }
  return { creationCode: contract.evm.bytecode.object, metadata: contract.metadata };
}
