import { type VNode } from 'preact';
import { describeDiagnosis, type Diagnosis } from '../../../src/solidity/diagnosis.ts';
import { type ExpectedRange } from '../contract/code-difference.ts';
import { formatCount } from '../format.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { CodeDifferenceView, type CodeWindow } from './code-difference-view.tsx';
import { adviceFor, adviceForDiagnosis, FAILURE_TITLES, headingOf } from './failure-advice.ts';
import { type JobState } from '../answers.ts';
import { type ComparedCode, type JobFailure } from './job-state.ts';
import { useKeptInput } from './own-jobs.ts';
import { SuggestedChanges } from './suggested-changes.tsx';

/** Cause of a bytecode difference, in its short form. */
interface CodeMismatch {
  readonly explained?: readonly ExpectedRange[];
  /** What contains the first difference. */
  readonly within?: string;
}

const TEXTS_SHOWN = 20;
/** Limits of shown text: characters, and runs of invisible ones. */
const TEXT = { most: 20_000, marks: 200 };

/** A text, or the lines of a compiler error. Jobs of earlier versions have plain text errors. */
function textOf(fact: unknown): readonly string[] {
  if (typeof fact === 'string') return [unfold(fact)];
  const { formattedMessage, message } = (fact ?? {}) as Partial<Record<string, unknown>>;
  const text = [formattedMessage, message].find((each) => typeof each === 'string');
  return text === undefined ? [] : [text.trimEnd()];
}

/** Texts of a failure's facts: compiler messages, names of sources. */
function textsOf(data: JobFailure['data']): (readonly [string, readonly string[]])[] {
  return Object.entries(data ?? {}).flatMap(([name, value]) => {
    const texts = Array.isArray(value) ? value.flatMap((each: unknown) => textOf(each)) : [];
    return texts.length === 0 ? [] : [[name, texts] as const];
  });
}

const mismatchOf = ({ data }: JobFailure, name: 'runtime' | 'creation'): CodeMismatch =>
  data?.[name] ?? {};

/** Creation bytecode may differ after the recompiled bytecode, where the arguments are, unless those are the fault. */
function explainedInCreation(failure: JobFailure): readonly ExpectedRange[] {
  const { explained = [], within } = mismatchOf(failure, 'creation');
  if (within === 'constructorArguments') return explained;
  const offset = failure.comparedCodes?.creation?.recompiled?.bytes ?? Infinity;
  return [...explained, { reason: 'constructorArguments', offset, length: Infinity }];
}

/** Results of trials; see the service's diagnosis of a mismatch. */
const diagnosisOf = ({ data }: JobFailure): Diagnosis => data?.['diagnosis'] ?? {};

const windowOf = ({ window, ...facts }: ComparedCode, whole: string | undefined): CodeWindow => ({
  ...facts,
  window: window ?? whole ?? '0x',
});

/** Earlier versions escaped line ends of compiler messages. */
const unfold = (text: string): string => text.replaceAll(String.raw`\u{a}`, '\n').trimEnd();

/** The message without the compiler's errors, which are shown below, and without the headline. */
function textBelow({ code, message }: JobFailure, sentence: string | undefined): string {
  if (code === 'compiler_error') return message.split('\n')[0] ?? '';
  return sentence !== undefined && message.startsWith(sentence)
    ? message.slice(sentence.length).trimStart()
    : message;
}

/** The source line of the first differing instruction. */
function DifferentLine({
  place,
}: {
  readonly place: Diagnosis['place'] | undefined;
}): VNode | null {
  if (place === undefined) return null;
  return (
    <section aria-labelledby="different-line">
      <h2 id="different-line">Where the sources differ</h2>
      <p>
        The deployed code differs from{' '}
        <code>
          <SafeText text={`${place.path}:${place.line}`} />
        </code>
        , or from something it calls. Different settings can have the same effect.
      </p>
      <pre class="json message" tabIndex={0}>
        <SafeText text={place.text} {...TEXT} />
      </pre>
    </section>
  );
}

/** Why there is no match, what to do next, and where the bytecodes differ. */
export function JobFailureView({
  job,
  failure,
  base,
}: {
  readonly job: JobState;
  readonly failure: JobFailure;
  readonly base: string;
}): VNode {
  const { id, chainId, address } = job;
  const { comparedCodes: { runtime, creation } = {} } = failure;
  const diagnosis = diagnosisOf(failure);
  const sentence = describeDiagnosis(diagnosis);
  const { contract, settings } = diagnosis;
  const isFound = contract !== undefined || settings !== undefined;
  const again = new URLSearchParams({ chain: String(chainId), address });
  const isKept = useKeptInput(id) !== undefined;
  return (
    <>
      <div class={failure.kind === 'not_checked' ? 'verdict unknown' : 'verdict bad'}>
        <p class="verdict-title">
          {sentence === undefined ? (
            (FAILURE_TITLES[failure.kind] ?? 'Not verified')
          ) : (
            <SafeText text={isFound ? sentence : `No match. ${sentence}`} {...TEXT} />
          )}
        </p>
        <p>
          <SafeText text={textBelow(failure, sentence)} {...TEXT} /> <code>{failure.code}</code>
        </p>
        <p>
          <strong>Next:</strong>{' '}
          <SafeText text={adviceForDiagnosis(diagnosis) ?? adviceFor(failure.code)} {...TEXT} />
        </p>
        <SuggestedChanges {...{ job, failure, base }} />
        <p>
          <a class="button" href={`${base}verify?${again.toString()}`}>
            {isKept ? 'Back to the form' : 'Open the form'}
          </a>{' '}
          {isKept && <span class="quiet">Your input is still there.</span>}
        </p>
        <p class="quiet">
          Error id <code>{failure.id}</code>
        </p>
      </div>
      <DifferentLine place={diagnosis.place} />
      {textsOf(failure.data).map(([name, texts]) => (
        <section key={name} aria-label={headingOf(name)}>
          <h2>
            {headingOf(name)} <span class="count">{formatCount(texts.length)}</span>
          </h2>
          {texts.slice(0, TEXTS_SHOWN).map((text, index) => (
            <pre class="json message" tabIndex={0} key={index}>
              <SafeText text={text} {...TEXT} />
            </pre>
          ))}
          {texts.length > TEXTS_SHOWN && (
            <p class="quiet">
              The first {TEXTS_SHOWN}; the job’s JSON has all of them:{' '}
              <a href={`${base}v1/jobs/${id}`}>
                <code>v1/jobs/{id}</code>
              </a>
            </p>
          )}
        </section>
      ))}
      {runtime?.recompiled && runtime.onChain && (
        <CodeDifferenceView
          side="Runtime code"
          offset={runtime.offset}
          recompiled={windowOf(runtime.recompiled, failure.recompiledRuntimeCode)}
          onChain={windowOf(runtime.onChain, failure.onchainRuntimeCode)}
          explained={mismatchOf(failure, 'runtime').explained ?? []}
        />
      )}
      {creation?.recompiled && creation.onChain && (
        <CodeDifferenceView
          side="Creation code"
          offset={creation.offset}
          recompiled={windowOf(creation.recompiled, failure.recompiledCreationCode)}
          onChain={windowOf(creation.onChain, failure.onchainCreationCode)}
          explained={explainedInCreation(failure)}
        />
      )}
    </>
  );
}
