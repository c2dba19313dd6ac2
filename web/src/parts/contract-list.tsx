import { type VNode } from 'preact';
import { isClaim, nameOrigin } from '../contract/verdict.ts';
import { formatAgo, formatTime } from '../format.ts';
import { type PageContext } from '../page.ts';
import { type ListedContract } from '../listed-contract.ts';
import { MatchMark } from './match-mark.tsx';
import { SafeText } from './safe-text.tsx';
import { TableRegion } from './table-region.tsx';
import './contract-list.css';

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
      <table class="contracts">
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Match</th>
            <th scope="col">Contract</th>
            {withChain && <th scope="col">Chain</th>}
            <th scope="col">Address</th>
            {withOrigin && (
              <>
                <th scope="col">Compiler</th>
                <th scope="col">Origin</th>
              </>
            )}
            <th scope="col" class="figure">
              When
            </th>
          </tr>
        </thead>
        <tbody>
          {contracts.map(({ key, kind, chainId, chainName, address, match, name, at, ...rest }) => (
            <tr key={key}>
              <td>
                {match === null ? (
                  kind
                ) : (
                  <MatchMark match={match} isClaimed={isClaim(rest.origin)} />
                )}
              </td>
              <td>
                {name === null ? <span class="quiet">no name</span> : <SafeText text={name} />}
                {kind === 'upgraded' && <span class="tag">upgraded</span>}
              </td>
              {withChain && (
                <td>
                  <a href={`${base}registry/${chainId}`}>
                    {chainName === undefined ? chainId : <SafeText text={chainName} />}
                  </a>
                </td>
              )}
              <td>
                <a href={`${base}contract/${chainId}/${address}`}>
                  <code>{address}</code>
                </a>
              </td>
              {withOrigin && (
                <>
                  <td>
                    <Compiler {...rest} />
                  </td>
                  <td>{nameOrigin(rest.origin)}</td>
                </>
              )}
              <td class="figure">
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

/** The language and the version without its commit, which the whole one has. */
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
