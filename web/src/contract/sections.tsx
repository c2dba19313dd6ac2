import { type VNode } from 'preact';
import { formatCount, formatTime } from '../format.ts';
import { type ViewProps } from '../page.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { MatchMark } from '../parts/match-mark.tsx';
import { Failure } from '../parts/notices.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { RecordTable } from '../parts/record-table.tsx';
import { type ContractData, type ContractFacts } from './contract-data.ts';
import { type ShownText } from './shown-json.ts';
import { isClaim } from './is-claim.ts';

/** A rarely needed document: collapsed by default. */
export function JsonSection({
  title,
  shown,
}: {
  readonly title: string;
  readonly shown: ShownText;
}): VNode {
  return (
    <section aria-label={title}>
      <JsonBlock title={title} shown={shown} />
    </section>
  );
}

/** Maximum runs of invisible characters in a document: each is an element. */
const JSON_MARKS = 1_000;

/** A document that is collapsed by default. */
export function JsonBlock({
  title,
  shown,
}: {
  readonly title: string;
  readonly shown: ShownText;
}): VNode {
  return (
    <details class="document">
      <summary>
        {title}{' '}
        <span class="count">
          {!shown.isWhole && 'the first '}
          {formatCount(shown.text.length)} characters
        </span>
      </summary>
      {shown.isWhole && <CopyButton text={shown.text} what={title} />}
      <pre class="json" tabIndex={0} role="region" aria-label={title}>
        <SafeText text={shown.text} most={Infinity} marks={JSON_MARKS} />
      </pre>
      {!shown.isWhole && (
        <p class="quiet">
          The first {formatCount(shown.text.length)} characters; the downloads have all of it.
        </p>
      )}
    </details>
  );
}

/** Link to the complete document. */
export function DownloadSection({
  facts,
  context: { base, repositoryUrl },
  request: { params },
}: ViewProps<ContractData> & { readonly facts: ContractFacts }): VNode {
  const place = `${params['chain'] ?? ''}/${facts.address}`;
  const folder = facts.match === 'full' ? 'full_match' : 'partial_match';
  const files = `${base}v1/contracts/${place}/files`;
  return (
    <section aria-labelledby="downloads">
      <h2 id="downloads">Downloads</h2>
      <ul class="downloads">
        <li>
          <a href={`${files}/sources.zip`}>sources.zip</a>{' '}
          <span class="quiet">all sources, standard-input.json and the files below</span>
        </li>
        <li>
          <a href={`${files}/standard-input.json`}>standard-input.json</a>{' '}
          <span class="quiet">
            reproduces this contract
            {facts.compilation !== null && (
              <>
                {' '}
                with{' '}
                <SafeText
                  text={`${facts.compilation.compiler} ${facts.compilation.compilerVersion}`}
                />
              </>
            )}
          </span>
        </li>
        <li>
          <a href={`${files}/abi.json`}>abi.json</a>{' '}
          <span class="quiet">functions, events and errors, for tools</span>
        </li>
        {facts.compilation?.language === 'Solidity' && (
          <li>
            <a href={`${base}repository/contracts/${folder}/${place}/metadata.json`}>
              metadata.json
            </a>{' '}
            <span class="quiet">exactly as the compiler wrote it, if it wrote one</span>
          </li>
        )}
        <li>
          <a href={`${base}v2/contract/${place}?fields=all`}>Full record (JSON)</a>{' '}
          <span class="quiet">both bytecodes, and every difference</span>
        </li>
        {repositoryUrl !== undefined && (
          <li>
            <a href={`${repositoryUrl}/contracts/${folder}/${place}/`}>All files, one by one</a>{' '}
            <span class="quiet">in the published tree</span>
          </li>
        )}
      </ul>
      <p class="quiet">
        To verify a copy of this contract elsewhere, choose sources.zip, standard-input.json or the
        full record on the page <a href={`${base}verify`}>Verify</a>, or pass it to{' '}
        <code>fullmatch verify</code>.
      </p>
    </section>
  );
}

/** Other contracts with the same bytecode on chain. */
export function SameCodeSection({
  data: { sameCode },
  context: { base },
}: ViewProps<ContractData>): VNode | null {
  if (sameCode === undefined) return null;
  return (
    <section aria-labelledby="same-code">
      <h2 id="same-code">The same code elsewhere</h2>
      {sameCode.state === 'failed' ? (
        <Failure what="Contracts with the same code" loaded={sameCode} />
      ) : sameCode.value.results.length === 0 ? (
        <p>No other contract here has the same runtime code.</p>
      ) : (
        <RecordTable
          label="Contracts with the same code"
          caption={`Contracts with exactly the same runtime code${sameCode.value.more ? '; newest first' : ''}`}
          rows={sameCode.value.results}
          columns={[
            {
              title: 'Contract',
              show: ({ chainId, address }) => (
                <a href={`${base}contract/${chainId}/${address}`}>
                  <code>{address}</code>
                </a>
              ),
            },
            { title: 'Chain', show: ({ chainId }) => chainId },
            {
              title: 'Name',
              show: ({ name }) => (name === null ? 'not known' : <SafeText text={name} />),
            },
            {
              title: 'Match',
              show: ({ match, origin }) => <MatchMark match={match} isClaimed={isClaim(origin)} />,
            },
            {
              title: 'Verified',
              className: 'time',
              show: ({ verifiedAt }) => formatTime(verifiedAt),
            },
          ]}
        />
      )}
    </section>
  );
}
