import { type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { formatCount } from '../format.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { type Dropped, type DroppedFile } from './read-dropped.ts';

interface Props {
  readonly files: readonly DroppedFile[];
  readonly dropped: Dropped | undefined;
  readonly fault: string | undefined;
  readonly onFiles: (files: readonly DroppedFile[]) => void;
}

const NAMES = /\.(?:json|sol|yul|vy|txt)$/i;
const FILES_MAX = 3000;
const BYTES_MAX = 40_000_000;
const MISSING_SHOWN = 8;

async function readFiles(list: FileList): Promise<readonly DroppedFile[]> {
  const fitting = Array.from(list).filter(({ name }) => NAMES.test(name));
  const bytes = fitting.reduce((sum, { size }) => sum + size, 0);
  if (fitting.length > FILES_MAX || bytes > BYTES_MAX) {
    throw new Error(
      `These are ${formatCount(fitting.length)} files with ${formatCount(bytes)} bytes: more than a compilation needs. Choose the files of one compilation.`,
    );
  }
  return Promise.all(
    fitting.map(async (file) => ({
      path: file.webkitRelativePath === '' ? file.name : file.webkitRelativePath,
      text: await file.text(),
    })),
  );
}

/** Takes the files of a compilation: dropped, or chosen by the keyboard. They stay in the browser until they are sent. */
export function FileField({ files, dropped, fault, onFiles }: Props): VNode {
  const [isOver, setOver] = useState(false);
  const [refusal, setRefusal] = useState<string>();
  const read = (list: FileList | null | undefined, isMore: boolean): void => {
    if (list === null || list === undefined || list.length === 0) return;
    readFiles(list).then(
      (added) => {
        setRefusal(undefined);
        const paths = new Set(added.map(({ path }) => path));
        const kept = isMore ? files.filter(({ path }) => !paths.has(path)) : [];
        onFiles([...kept, ...added]);
      },
      (error: unknown) => setRefusal(error instanceof Error ? error.message : String(error)),
    );
  };
  const wrong = refusal ?? fault;
  return (
    <fieldset
      class={isOver ? 'field drop over' : 'field drop'}
      aria-describedby={wrong === undefined ? undefined : 'files-fault'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        read(event.dataTransfer?.files, files.length > 0);
      }}
    >
      <legend>The compilation</legend>
      <p class="hint">
        Drop files here, or choose them: a standard JSON input, a build info of Hardhat (
        <code>artifacts/build-info</code>), an artifact of Foundry (<code>out</code>) with its
        sources, or a metadata.json with its sources.
      </p>
      <p class="choosers">
        <label>
          Files{' '}
          <input
            type="file"
            id="files"
            multiple
            onChange={(event) => read(event.currentTarget.files, false)}
          />
        </label>
        <label>
          or a folder of sources, beside them{' '}
          <input
            type="file"
            {...{ webkitdirectory: true }}
            onChange={(event) => read(event.currentTarget.files, true)}
          />
        </label>
      </p>
      <div aria-live="polite">
        {dropped !== undefined && dropped.kind !== 'unusable' && <Found dropped={dropped} />}
      </div>
      {wrong !== undefined && (
        <p class="fault" id="files-fault">
          <SafeText text={wrong} />
        </p>
      )}
      {files.length > 0 && (
        <button type="button" onClick={() => onFiles([])}>
          Take {files.length === 1 ? 'the file' : `all ${formatCount(files.length)} files`} out
        </button>
      )}
    </fieldset>
  );
}

function Found({ dropped }: { readonly dropped: Exclude<Dropped, { kind: 'unusable' }> }): VNode {
  if (dropped.kind === 'standard_json') {
    return (
      <p class="found">
        {dropped.from} with {formatCount(dropped.sources)}{' '}
        {dropped.sources === 1 ? 'source' : 'sources'}
        {dropped.compilerVersion !== undefined && (
          <>
            , compiled by <SafeText text={dropped.compilerVersion} />
          </>
        )}
        .
      </p>
    );
  }
  const { missing } = dropped;
  return (
    <>
      <p class="found">
        {dropped.from} of <SafeText text={dropped.contract} /> with{' '}
        {formatCount(Object.keys(dropped.sources).length)} sources.
      </p>
      {missing.length > 0 && (
        <div class="fault">
          <p>Add these sources; the metadata names them:</p>
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
      )}
    </>
  );
}
