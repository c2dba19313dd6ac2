import { type VNode } from 'preact';
import { type Evidence } from '../answers.ts';
import { formatCount } from '../format.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { RecordTable } from '../parts/record-table.tsx';
import { type ContractFacts } from './contract-data.ts';
import { type CodeProof } from './code-proof.ts';
import { isClaim } from './is-claim.ts';
import { CHECKS } from './verdict.ts';

const NAMES: Readonly<Record<string, string>> = {
  constructorArguments: 'Constructor arguments',
  library: 'Library address',
  immutable: 'Immutable',
  cborAuxdata: 'Metadata hash',
  callProtection: 'The library’s own address',
};
const CHANGES: Readonly<Record<string, string>> = {
  replace: 'replaced',
  insert: 'appended to the code',
  delete: 'omitted',
};
/** The narrowest visible mark, as a part of the bar. */
const NARROWEST = 0.4;
const VALUE_CHARACTERS = 200;

/**
 * Both bytecodes as bars: the compiler output, and the values in it that were taken from the chain before the
 * comparison.
 */
export function ProofSection({
  facts,
  evidence,
}: {
  readonly facts: ContractFacts;
  readonly evidence: Evidence | undefined;
}): VNode | null {
  const codes = [
    ['Runtime code', facts.proof?.runtime],
    ['Creation code', facts.proof?.creation],
  ] as const;
  if (facts.proof === undefined) return null;
  const isReported = isClaim(evidence?.origin) && evidence?.trust === 'claimed';
  return (
    <section aria-labelledby="compared">
      <h2 id="compared">What was compared</h2>
      <p class="lead">
        {isClaim(evidence?.origin)
          ? `Another service reported this match. ${CHECKS[evidence?.trust ?? 'claimed']}`
          : 'The sources were compiled again. Every byte outside the marks equals the compiler output; marked bytes are read from the chain.'}
      </p>
      {codes.map(([title, code]) => (
        <div class="proof" key={title}>
          <h3>
            {title}{' '}
            {code !== undefined && <span class="count">{formatCount(code.bytes)} bytes</span>}
          </h3>
          {code === undefined ? (
            <p class="quiet">Not compared: the code on chain or its match is unknown.</p>
          ) : (
            <>
              <Bar title={title} code={code} isReported={isReported} />
              <Differences title={title} code={code} isReported={isReported} />
            </>
          )}
        </div>
      ))}
    </section>
  );
}

type Place = CodeProof['places'][number];

interface CodeProps {
  readonly title: string;
  readonly code: CodeProof;
  /** Whether another service reports the marks, and nothing was compared here. */
  readonly isReported: boolean;
}

function Bar({ title, code: { bytes, places }, isReported }: CodeProps): VNode {
  const rest = isReported ? 'not compared here' : 'identical';
  const percent = (value: number): number => (100 * value) / Math.max(1, bytes);
  return (
    <svg
      class="code-bar"
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${title}: ${rest}${places.length === 0 ? '' : ` except for ${places.length} marked ranges`}`}
    >
      <rect class="equal" x="0" y="0" width="100" height="6" />
      {places.map(({ reason, offset, length }, index) => (
        <rect
          key={index}
          class={reason}
          x={Math.min(100 - NARROWEST, percent(offset))}
          y="0"
          width={Math.max(NARROWEST, Math.min(100, percent(length)))}
          height="6"
        />
      ))}
    </svg>
  );
}

function Differences({ title, code: { places, more }, isReported }: CodeProps): VNode {
  if (places.length === 0) {
    return <p>{isReported ? 'No differences are reported.' : 'Every byte is identical.'}</p>;
  }
  return (
    <>
      <RecordTable
        label={`Marked ranges of the ${title.toLowerCase()}`}
        rows={places}
        columns={[
          { title: 'At byte', show: ({ offset }) => formatCount(offset) },
          { title: 'Bytes', show: ({ length }) => formatCount(length) },
          { title: 'What', show: showReason },
          { title: 'In the code on chain', show: showExcerpt },
        ]}
      />
      {more > 0 && <p class="quiet">And {formatCount(more)} more.</p>}
    </>
  );
}

function showReason({ reason, type, id }: Place): VNode {
  return (
    <>
      <span class={`swatch ${reason}`} /> {NAMES[reason] ?? reason}
      {id !== undefined && reason !== 'cborAuxdata' && (
        <>
          {' '}
          <code>
            <SafeText text={id} />
          </code>
        </>
      )}
      , {CHANGES[type] ?? type}
    </>
  );
}

function showExcerpt({ reason, value, before, after }: Place): VNode {
  return (
    <code class="excerpt">
      {before}
      {value !== undefined && (
        <b class={reason}>
          <SafeText text={value.replace(/^0x/, '')} most={VALUE_CHARACTERS} />
        </b>
      )}
      {after}
    </code>
  );
}
