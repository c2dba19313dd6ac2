import { type VNode } from 'preact';
import { isMembers, type Members } from '../../../src/lib/members.ts';
import { SafeText } from '../parts/safe-text.tsx';

const CHIP_CHARACTERS = 60;

/** The language and the compiler of a compilation. */
export function compilerChips({
  language,
  compiler,
  compilerVersion,
}: {
  readonly language: string;
  readonly compiler: string;
  readonly compilerVersion: string;
}): readonly string[] {
  return [language, `${compiler} ${compilerVersion.replace(/\+.*$/, '')}`].map((text) =>
    text.slice(0, CHIP_CHARACTERS),
  );
}

/** Key facts of a compilation: its language, its compiler, and the settings that affect bytecode. */
export function chipsOf({
  compilerSettings: settings,
  ...compilation
}: {
  readonly language: string;
  readonly compiler: string;
  readonly compilerVersion: string;
  readonly compilerSettings: Members;
}): readonly string[] {
  const { optimizer, optimize, evmVersion, viaIR } = settings;
  const chips = [
    ...optimizerOf(isMembers(optimizer) ? optimizer : {}, optimize),
    typeof evmVersion === 'string' && evmVersion !== ''
      ? `EVM ${evmVersion}`
      : 'default EVM version',
    ...(viaIR === true ? ['via IR'] : []),
  ].map((text) => text.slice(0, CHIP_CHARACTERS));
  return [...compilerChips(compilation), ...chips];
}

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
