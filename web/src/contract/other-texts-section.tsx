import { type VNode } from 'preact';
import { type Loaded } from '../api.ts';
import { formatTime } from '../format.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { type Evidence } from '../answers.ts';
import { type ContractFacts } from './contract-data.ts';

interface Props {
  readonly facts: ContractFacts;
  readonly evidence: Loaded<Evidence>;
  readonly base: string;
  readonly chainId: string;
}

/**
 * What the bytecode does not prove about the shown text: files that no hash covers, and other texts that
 * compile to the same bytecode.
 */
export function OtherTextsSection({ facts, evidence, base, chainId }: Props): VNode | null {
  if (evidence.state !== 'ready') return null;
  const { hasUnlistedSources, alternatives } = evidence.value;
  return (
    <>
      {hasUnlistedSources && (
        <div class="notice" role="note">
          <p>
            Some of these files are not listed in the metadata. Without them the compiler produces
            different code, but no hash proves their content.
          </p>
        </div>
      )}
      {alternatives.length > 0 && (
        <section aria-labelledby="other-texts">
          <h2 id="other-texts">
            {alternatives.length === 1
              ? '1 other set of sources compiles to the same code'
              : `${alternatives.length} other sets of sources compile to the same code`}
          </h2>
          <p>
            A partial match does not prove names or comments. The sources submitted first are shown
            until a full match replaces them.
          </p>
          <ul>
            {alternatives.map(({ matchId, name, compilerVersion, recordedAt }) => (
              <li key={matchId}>
                <a href={`${base}v1/contracts/${chainId}/${facts.address}/alternatives/${matchId}`}>
                  <SafeText text={name} />
                </a>
                , compiled with <SafeText text={compilerVersion} />, submitted{' '}
                {formatTime(recordedAt)}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
