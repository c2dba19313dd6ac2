import { type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { formatCount } from '../format.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { describeSettings } from './describe-settings.ts';
import { type InputFile } from '../../../src/solidity/input-file.ts';
import {
  type DetectedCompilation,
  type InputFiles,
} from '../../../src/solidity/detected-compilation.ts';
import { InputTabs } from './input-tabs.tsx';
import { PasteField } from './paste-field.tsx';
import { filesOfDrop, filesOfField, type PlacedFile, readFiles } from './read-files.ts';

interface Props {
  readonly files: readonly InputFile[];
  readonly dropped: InputFiles | undefined;
  /** The compilation in the form. */
  readonly compilation: DetectedCompilation | undefined;
  readonly fault: string | undefined;
  /** Whether files were selected before that the browser could not keep. */
  readonly areLost: boolean;
  readonly onFiles: (files: readonly InputFile[]) => Promise<void>;
  /** Set to a function that adds the pasted text, while there is text that was not added. */
  readonly addPasted: { current: (() => Promise<void>) | undefined };
}

const MISSING_SHOWN = 8;
const PATHS_SHOWN = 12;

/**
 * Accepts the files of a compilation: dropped, or selected by keyboard. They stay in the browser until they
 * are submitted.
 */
export function FileField(props: Props): VNode {
  const { files, dropped, compilation, fault, areLost, onFiles, addPasted } = props;
  const [isOver, setOver] = useState(false);
  const [refusal, setRefusal] = useState<string>();
  const take = async (
    chosen: readonly PlacedFile[] | Promise<readonly PlacedFile[]>,
    isMore: boolean,
  ): Promise<void> => {
    try {
      const added = await readFiles(await chosen);
      setRefusal(undefined);
      const paths = new Set(added.map(({ path }) => path));
      const kept = isMore ? files.filter(({ path }) => !paths.has(path)) : [];
      // New files come first: of two compilations of a contract the first is used.
      await onFiles([...added, ...kept]);
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error));
    }
  };
  const wrong = refusal ?? fault;
  return (
    <fieldset
      class={isOver ? 'field drop over' : 'field drop'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        if (event.dataTransfer !== null) {
          void take(filesOfDrop(event.dataTransfer), files.length > 0);
        }
      }}
    >
      <legend>Source code</legend>
      <p class="hint">Drop files and folders anywhere in this box.</p>
      <Ways
        fault={wrong}
        onTake={(chosen, isMore) => void take(chosen, isMore)}
        {...{ files, onFiles, addPasted }}
      />
      {areLost && (
        <p class="fault">
          The browser could not keep the files because they are too large. Choose them again.
        </p>
      )}
      <div aria-live="polite">
        {dropped?.kind === 'usable' && compilation !== undefined && (
          <Found dropped={dropped} compilation={compilation} />
        )}
      </div>
      {wrong !== undefined && (
        <p class="fault" id="files-fault">
          <SafeText text={wrong} />
        </p>
      )}
      {files.length > 0 && (
        <button
          type="button"
          onClick={({ currentTarget }) => {
            // Otherwise the inputs keep the files, and choosing the same ones again has no effect.
            for (const field of currentTarget.closest('fieldset')?.elements ?? [])
              if (field instanceof HTMLInputElement && field.type === 'file') field.value = '';
            void onFiles([]);
          }}
        >
          Remove all files
        </button>
      )}
    </fieldset>
  );
}

/** Tabs for the kinds of input. */
function Ways({
  files,
  fault,
  onTake,
  onFiles,
  addPasted,
}: Pick<Props, 'files' | 'fault' | 'onFiles' | 'addPasted'> & {
  readonly onTake: (chosen: readonly PlacedFile[], isMore: boolean) => void;
}): VNode {
  return (
    <InputTabs
      label="Type of input"
      tabs={[
        {
          key: 'files',
          title: 'Files',
          panel: (
            <>
              <p class="hint" id="files-hint">
                Plain <code>.sol</code> or <code>.vy</code> files, a metadata.json with its sources,
                any of the JSON files of a project, or the downloads of a verified contract.
              </p>
              <Chooser
                id="files"
                label="Files"
                fault={fault}
                onTake={(chosen) => onTake(chosen, false)}
              />
            </>
          ),
        },
        {
          key: 'paste',
          title: 'Paste',
          panel: (
            <PasteField
              addPasted={addPasted}
              onAdd={(file) => onFiles([file, ...files.filter(({ path }) => path !== file.path)])}
            />
          ),
        },
        {
          key: 'project',
          title: 'Project or JSON',
          panel: (
            <>
              <p class="hint" id="project-hint">
                A standard JSON input, a build info of Hardhat (<code>artifacts/build-info</code>
                ), an artifact of Foundry (<code>out</code>) with its sources, or what{' '}
                <code>vyper -f solc_json</code> writes.
              </p>
              <Chooser
                id="project"
                label="JSON files"
                accept=".json,application/json"
                fault={fault}
                onTake={(chosen) => onTake(chosen, false)}
              />
              <Chooser
                id="folder"
                describedBy="project"
                label="Or choose a project folder"
                isFolder
                fault={fault}
                onTake={(chosen) => onTake(chosen, true)}
              />
            </>
          ),
        },
      ]}
    />
  );
}

/** Accepts files or a folder from the user's machine. */
function Chooser({
  id,
  describedBy = id,
  label,
  accept,
  isFolder = false,
  fault,
  onTake,
}: {
  readonly id: string;
  readonly describedBy?: string;
  readonly label: string;
  readonly accept?: string;
  readonly isFolder?: boolean;
  readonly fault: string | undefined;
  readonly onTake: (files: readonly PlacedFile[]) => void;
}): VNode {
  return (
    <p class="choosers">
      <label>
        {label}{' '}
        <input
          type="file"
          id={id}
          {...(isFolder ? { webkitdirectory: true } : { multiple: true })}
          {...(accept !== undefined && { accept })}
          aria-invalid={fault !== undefined}
          aria-describedby={`${describedBy}-hint${fault === undefined ? '' : ' files-fault'}`}
          onChange={(event) => onTake(filesOfField(event.currentTarget.files))}
        />
      </label>
    </p>
  );
}

function Found({
  dropped: { from },
  compilation,
}: {
  readonly dropped: Extract<InputFiles, { kind: 'usable' }>;
  readonly compilation: DetectedCompilation;
}): VNode {
  if (compilation.kind === 'sources') return <FoundSources from={from} {...compilation} />;
  const isInput = compilation.kind === 'standard_json';
  const document = isInput ? compilation.input : compilation.metadata;
  const count = Object.keys(document['sources'] ?? {}).length;
  const missing = isInput ? [] : compilation.missing;
  const { compilerVersion } = compilation;
  return (
    <>
      <p class="found">{from}.</p>
      <p class="hint">
        {formatCount(count)} {count === 1 ? 'source' : 'sources'} ·{' '}
        <SafeText
          text={`${compilerVersion === undefined ? '' : `Compiler: ${compilerVersion} · `}${describeSettings(document['settings'])}`}
        />
      </p>
      <Missing
        missing={missing}
        why="Missing sources. Add these files, which the metadata lists:"
      />
    </>
  );
}

/** Sources without settings: their paths, and missing imports. */
function FoundSources({
  from,
  sources,
  missing,
}: {
  readonly from: string;
  readonly sources: Readonly<Record<string, string>>;
  readonly missing: readonly string[];
}): VNode {
  const paths = Object.keys(sources);
  return (
    <>
      <p class="found">{from}.</p>
      <ul class="files">
        {paths.slice(0, PATHS_SHOWN).map((path) => (
          <li key={path}>
            <SafeText text={path} />
          </li>
        ))}
        {paths.length > PATHS_SHOWN && <li>and {formatCount(paths.length - PATHS_SHOWN)} more</li>}
      </ul>
      <Missing missing={missing} why="Missing imports. Add these files or a remapping:" />
    </>
  );
}

function Missing({
  missing,
  why,
}: {
  readonly missing: readonly string[];
  readonly why: string;
}): VNode | null {
  if (missing.length === 0) return null;
  return (
    <div class="fault">
      <p>{why}</p>
      <ul>
        {missing.slice(0, MISSING_SHOWN).map((name) => (
          <li key={name}>
            <SafeText text={name} />
          </li>
        ))}
        {missing.length > MISSING_SHOWN && (
          <li>and {formatCount(missing.length - MISSING_SHOWN)} more</li>
        )}
      </ul>
    </div>
  );
}
