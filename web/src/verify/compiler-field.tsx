import { type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { createApi } from '../api.ts';
import { Combobox } from '../parts/combobox.tsx';

interface Compiler {
  readonly compiler: 'solc' | 'vyper' | 'solar';
  readonly longVersion: string;
  readonly installed: boolean;
}

interface Props {
  readonly base: string;
  readonly value: string;
  readonly fault: string | undefined;
  /** Why the version in the field was proposed. */
  readonly proposed: string | undefined;
  readonly onChange: (version: string) => void;
}

const CHOICES_SHOWN = 12;

/** Selects a compiler: one of the service's, or any version as text. */
export function CompilerField({ base, value, fault, proposed, onChange }: Props): VNode {
  const [compilers, setCompilers] = useState<readonly Compiler[]>([]);
  useEffect(() => {
    void createApi((path) => fetch(`${base}${path}`))
      .get<{ compilers: Compiler[] }>('v1/compilers')
      // Without the list a version can still be typed.
      .then((answer) => {
        if (answer.state === 'ready') setCompilers(answer.value.compilers);
      });
  }, []);
  const typed = value.replace(/^v/, '');
  const fitting = compilers.filter(({ longVersion }) => longVersion.includes(typed));
  const isDownloading = compilers.some(({ installed }) => !installed);
  return (
    <Combobox
      id="compilerVersion"
      label="Compiler"
      hint={
        proposed ??
        'As the compiler prints it, such as 0.8.30+commit.73712a01; the commit is optional.'
      }
      text={value}
      fault={fault}
      choices={fitting.slice(0, CHOICES_SHOWN).map(({ compiler, longVersion, installed }) => ({
        key: longVersion,
        shown: (
          <>
            {longVersion} {compiler === 'vyper' && <span class="quiet">Vyper </span>}
            {isDownloading && (
              <span class="quiet">{installed ? 'installed' : 'downloaded first'}</span>
            )}
          </>
        ),
      }))}
      announcement={
        fitting.length === 1 ? '1 compiler matches' : `${fitting.length} compilers match`
      }
      onType={(text) => onChange(text.trim())}
      onTake={onChange}
    />
  );
}
