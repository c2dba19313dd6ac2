import {
  SolidityCompilation,
  Verification,
  YulCompilation,
  setLibSourcifyLoggerLevel,
  type ISolidityCompiler,
  type SourcifyChain,
} from '@ethereum-sourcify/lib-sourcify';
import { compileAll, type CompiledSample, type SolcInput } from './compiled-suite.ts';

// The forgeries in our cases trigger its warnings on purpose.
setLibSourcifyLoggerLevel(0);

/** The peer library's verdict: its value for each match, or the code of the error it throws. */
export interface PeerVerdict {
  readonly runtime: string | null;
  readonly creation: string | null;
}

/** A compiler for the peer library that returns the same cached outputs as ours. */
function compilerFor({ version }: CompiledSample): ISolidityCompiler {
  const compile = async (_version: string, input: object): Promise<unknown> => {
    const { language, sources, settings } = input as SolcInput;
    const [output] = await compileAll(version, [{ language, sources, settings }]);
    return output;
  };
  return { compile } as unknown as ISolidityCompiler;
}

/** A chain with this one contract. */
function chainWith(runtime: Uint8Array, creation: Uint8Array | undefined): SourcifyChain {
  const hex = (code: Uint8Array): string => `0x${Buffer.from(code).toString('hex')}`;
  return {
    chainId: 424242,
    getBytecode: () => Promise.resolve(hex(runtime)),
    getTx: () => Promise.resolve({ blockNumber: 1, from: `0x${'11'.repeat(20)}` }),
    getContractCreationBytecodeAndReceipt: () =>
      Promise.resolve({
        creationBytecode: creation === undefined ? undefined : hex(creation),
        txReceipt: { index: 0 },
      }),
  } as unknown as SourcifyChain;
}

/** Returns the peer library's verdict on on-chain bytecode, with the sample's input to compile. */
export async function askPeer(
  sample: CompiledSample,
  address: string,
  runtime: Uint8Array,
  creation?: Uint8Array,
): Promise<PeerVerdict> {
  const Compilation = sample.input.language === 'Yul' ? YulCompilation : SolidityCompilation;
  const compilation = new Compilation(
    compilerFor(sample),
    sample.version,
    structuredClone(sample.input),
    { name: sample.name, path: sample.path },
  );
  const hash = creation === undefined ? undefined : `0x${'22'.repeat(32)}`;
  const verification = new Verification(compilation, chainWith(runtime, creation), address, hash);
  try {
    await verification.verify();
  } catch (error) {
    const { code } = error as { code?: string };
    return { runtime: code ?? String(error), creation: code ?? String(error) };
  }
  const { runtimeMatch, creationMatch } = verification.status;
  return { runtime: runtimeMatch, creation: creationMatch };
}
