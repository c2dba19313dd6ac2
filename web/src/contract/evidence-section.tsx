import { type VNode } from 'preact';
import { type Loaded } from '../api.ts';
import { formatCount, formatTime } from '../format.ts';
import { MatchMark } from '../parts/match-mark.tsx';
import { Failure } from '../parts/notices.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { RecordTable } from '../parts/record-table.tsx';
import { type Evidence } from '../answers.ts';
import { type ContractFacts } from './contract-data.ts';
import { isClaim } from './is-claim.ts';
import { CLAIMED_NOTE, describeCodeMatch, describeOrigin } from './verdict.ts';
import { Fact } from '../parts/fact.tsx';

interface Props {
  readonly facts: ContractFacts;
  readonly evidence: Loaded<Evidence>;
}

/** Evidence of the verdict: each bytecode, who verified it, and what was compared. */
export function EvidenceSection({ facts, evidence }: Props): VNode {
  return (
    <section aria-labelledby="evidence">
      <h2 id="evidence">Evidence</h2>
      <CodesTable facts={facts} evidence={evidence} />
      {evidence.state === 'failed' && <Failure what="The verification details" loaded={evidence} />}
      <dl class="facts">
        {evidence.state === 'ready' && <Judgement evidence={evidence.value} />}
        <Compilation facts={facts} />
        <Creation facts={facts} />
      </dl>
    </section>
  );
}

function CodesTable({ facts, evidence }: Props): VNode {
  const known = evidence.state === 'ready' ? evidence.value : undefined;
  const rows = [
    ['Runtime code', facts.runtimeMatch, known?.runtimeCode],
    ['Creation code', facts.creationMatch, known?.creationCode],
  ] as const;
  return (
    <RecordTable
      label="Both codes"
      caption="Runtime and creation code are compared separately"
      rows={rows}
      columns={[
        { title: 'Code', show: ([name]) => name },
        {
          title: 'Match',
          show: ([, match]) =>
            known === undefined ? (
              'not read'
            ) : (
              <MatchMark match={match} isClaimed={isClaim(known.origin)} />
            ),
        },
        {
          title: 'Meaning',
          show: ([, match]) =>
            known === undefined ? 'not read' : describeCodeMatch(match, known.origin),
        },
        {
          title: 'keccak256 of the code on chain',
          show: ([, , hashes]) => (hashes?.onChain ? <code>{hashes.onChain}</code> : 'not known'),
        },
      ]}
    />
  );
}

function Judgement({ evidence }: { readonly evidence: Evidence }): VNode {
  const { codeReading, creationSearch } = evidence;
  return (
    <>
      <Fact name="Verified by">{describeOrigin(evidence.origin)}</Fact>
      <Fact name="First verified">{formatTime(evidence.firstVerifiedAt)}</Fact>
      <Fact name="Code read at">
        {codeReading === null ? (
          'Not read by this service.'
        ) : (
          <>
            block {formatCount(codeReading.blockNumber)} <code>{codeReading.blockHash}</code>
          </>
        )}
      </Fact>
      {codeReading !== null && (
        <Fact name={codeReading.endpoints.length === 1 ? 'Endpoint' : 'Endpoints that agreed'}>
          <SafeText text={codeReading.endpoints.join(', ')} />
          {codeReading.witnesses === 1 && ' (one provider only, not cross-checked)'}
        </Fact>
      )}
      {creationSearch !== null && creationSearch.length > 0 && (
        <Fact name="Search for the creation transaction">
          <ul class="plain">
            {creationSearch.map(({ method, outcome, detail }) => (
              <li key={method}>
                {method.replaceAll('_', ' ')}: {outcome.replaceAll('_', ' ')}
                {detail !== undefined && (
                  <span class="quiet">
                    {' '}
                    (<SafeText text={detail.replaceAll('_', ' ')} />)
                  </span>
                )}
              </li>
            ))}
          </ul>
        </Fact>
      )}
    </>
  );
}

function Compilation({ facts: { compilation } }: Pick<Props, 'facts'>): VNode | null {
  if (compilation === null) return null;
  const { language, compiler, compilerVersion, fullyQualifiedName } = compilation;
  return (
    <>
      <Fact name="Compiler">
        <SafeText text={`${compiler} ${compilerVersion}`} /> <span class="quiet">({language})</span>
      </Fact>
      <Fact name="Contract">
        <code>
          <SafeText text={fullyQualifiedName} />
        </code>
      </Fact>
    </>
  );
}

function Creation({ facts: { deployment } }: Pick<Props, 'facts'>): VNode {
  const { transactionHash, blockNumber, transactionIndex, deployer, unprovenValues } = deployment;
  const isClaimed = unprovenValues?.includes('transaction') === true;
  return (
    <>
      <Fact name="Creation transaction">
        {transactionHash === null ? 'not known' : <code>{transactionHash}</code>}
        {isClaimed && ` (${CLAIMED_NOTE})`}
      </Fact>
      {blockNumber !== null && (
        <Fact name="Created in">
          block {formatCount(Number(blockNumber))}
          {transactionIndex !== null && `, transaction ${transactionIndex}`}
        </Fact>
      )}
      {deployer !== null && (
        <Fact name="Deployer">
          <code>{deployer}</code>
        </Fact>
      )}
    </>
  );
}
