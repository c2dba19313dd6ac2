import { type VNode } from 'preact';
import { isClaim } from '../contract/is-claim.ts';
import { nameOrigin } from '../contract/verdict.ts';
import { formatAgo, formatTime } from '../format.ts';
import { type PageContext } from '../page.ts';
import { type ListedContract } from '../listed-contract.ts';
import { MatchMark } from './match-mark.tsx';
import { SafeText } from './safe-text.tsx';
import { ShortAddress } from './short-address.tsx';
import { TableRegion } from './table-region.tsx';
import './contract-list.css';

const headsOf = (withChain: boolean, withOrigin: boolean): readonly string[] => [
  ...['Match', 'Contract'],
  ...(withChain ? ['Chain'] : []),
  'Address',
  ...(withOrigin ? ['Compiler', 'Origin'] : []),
  'When',
];

/** Contracts with links to their pages. */
export function ContractList({
  contracts,
  caption,
  context,
  withChain,
  withOrigin = false,
}: {
  readonly contracts: readonly ListedContract[];
  readonly caption: string;
  readonly context: PageContext;
  readonly withChain: boolean;
  /** Whether to show the compiler and the origin. */
  readonly withOrigin?: boolean;
}): VNode {
  const { base, now } = context;
  return (
    <TableRegion label={caption}>
      <table class="contracts cards" role="table">
        <caption class="unseen">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {headsOf(withChain, withOrigin).map((head) => (
              <th
                key={head}
                role="columnheader"
                scope="col"
                class={head === 'When' ? 'figure' : undefined}
              >
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {contracts.map(({ key, kind, chainId, chainName, address, match, name, at, ...rest }) => (
            <tr key={key} role="row">
              <td role="cell" data-label="Match">
                {match === null ? (
                  kind
                ) : (
                  <MatchMark match={match} isClaimed={isClaim(rest.origin)} />
                )}
              </td>
              <td role="cell" data-label="Contract">
                {name === null ? (
                  <span class="quiet">no name</span>
                ) : (
                  <strong>
                    <SafeText text={name} />
                  </strong>
                )}
                {kind === 'upgraded' && <span class="tag">upgraded</span>}
              </td>
              {withChain && (
                <td role="cell" data-label="Chain">
                  <a class="aside" href={`${base}registry/${chainId}`}>
                    {chainName === undefined ? chainId : <SafeText text={chainName} />}
                  </a>
                </td>
              )}
              <td role="cell" data-label="Address">
                <a class="row-link" href={`${base}contract/${chainId}/${address}`}>
                  <ShortAddress address={address} />
                </a>
              </td>
              {withOrigin && (
                <>
                  <td role="cell" data-label="Compiler">
                    <Compiler {...rest} />
                  </td>
                  <td role="cell" data-label="Origin">
                    {nameOrigin(rest.origin, rest.trust)}
                  </td>
                </>
              )}
              <td role="cell" data-label="When" class="figure">
                <time dateTime={at} title={formatTime(at)}>
                  {formatAgo(at, now)}
                </time>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}

/** Language and version without the commit, which the full version shows. */
function Compiler({
  language,
  compilerVersion,
}: Pick<ListedContract, 'language' | 'compilerVersion'>): VNode {
  const [version = ''] = (compilerVersion ?? '').split('+');
  return (
    <span title={compilerVersion ?? undefined}>
      <SafeText text={[language ?? '', version].join('\u00a0').trim()} />
    </span>
  );
}
