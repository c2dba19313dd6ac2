import { type VNode } from 'preact';
import { formatCount } from '../format.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { type AbiSignature } from './abi-signatures.ts';
import { type ContractFacts } from './contract-data.ts';
import { JsonBlock } from './sections.tsx';

const GROUPS: readonly (readonly [
  title: string,
  hashed: string,
  belongs: (entry: AbiSignature) => boolean,
])[] = [
  ['Constructor', '', ({ kind }) => kind === 'constructor'],
  ['Read', 'selector', ({ kind, isReading }) => kind === 'function' && isReading === true],
  ['Write', 'selector', ({ kind, isReading }) => kind === 'function' && isReading !== true],
  ['Events', 'topic', ({ kind }) => kind === 'event'],
  ['Errors', 'selector', ({ kind }) => kind === 'error'],
  ['Fallback', '', ({ kind }) => kind === 'fallback' || kind === 'receive'],
];

/** The ABI as source declarations with selectors and topics, and as JSON. */
export function AbiSection({ facts }: { readonly facts: ContractFacts }): VNode {
  const { signatures, abi } = facts;
  if (abi === undefined) {
    return (
      <section aria-labelledby="abi">
        <h2 id="abi">ABI</h2>
        <p>The match is stored here without an ABI.</p>
      </section>
    );
  }
  const groups = GROUPS.map(([title, hashed, belongs]) => ({
    ...{ title, hashed },
    entries: signatures.filter(belongs),
  })).filter(({ entries }) => entries.length > 0);
  return (
    <section aria-labelledby="abi">
      <h2 id="abi">ABI</h2>
      {groups.map(({ title, hashed, entries }) => (
        <div class="signatures" key={title}>
          <h3>
            {title} <span class="count">{formatCount(entries.length)}</span>
          </h3>
          <ul class="plain">
            {entries.map(({ text, hash }, index) => (
              <li key={index}>
                <code>
                  <SafeText text={text} />
                </code>
                {hash !== undefined && (
                  <span class="hash">
                    <span class="quiet">{hashed}</span> <code>{hash}</code>{' '}
                    <CopyButton text={hash} what={`the ${hashed} of ${text.split('(')[0] ?? ''}`} />
                  </span>
                )}
              </li>
            ))}
          </ul>
        </div>
      ))}
      <JsonBlock title="The ABI as JSON" shown={abi} />
    </section>
  );
}
