import { type VNode } from 'preact';
import { isMembers, type Members } from '../../../src/lib/members.ts';
import { SafeText } from '../parts/safe-text.tsx';

/** Key facts of a compilation: its language, its compiler, and the settings that affect bytecode. */
export function chipsOf({
  language,
  compiler,
  compilerVersion,
  compilerSettings: settings,
}: {
  readonly language: string;
  readonly compiler: string;
  readonly compilerVersion: string;
  readonly compilerSettings: Members;
}): readonly string[] {
  const { optimizer, optimize, evmVersion, viaIR } = settings;
  return [
    language,
    `${compiler} ${compilerVersion.replace(/\+.*$/, '')}`,
    ...optimizerOf(isMembers(optimizer) ? optimizer : {}, optimize),
    typeof evmVersion === 'string' && evmVersion !== ''
      ? `EVM ${evmVersion}`
      : 'default EVM version',
    ...(viaIR === true ? ['via IR'] : []),
  ].map((text) => text.slice(0, CHIP_CHARACTERS));
}

const CHIP_CHARACTERS = 60;

function optimizerOf({ enabled, runs }: Members, optimize: unknown): readonly string[] {
  if (typeof optimize === 'string') return [`optimize ${optimize}`];
  if (enabled !== true) return ['not optimized'];
  return [typeof runs === 'number' ? `optimizer ${runs} runs` : 'optimizer'];
}

/** Chips of a contract. */
export function Chips({ texts }: { readonly texts: readonly string[] }): VNode {
  return (
    <ul class="chips" aria-label="Compilation">
      {texts.map((text) => (
        <li key={text}>
          <SafeText text={text} />
        </li>
      ))}
    </ul>
  );
}
