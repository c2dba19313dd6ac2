import { type ComponentChildren, type VNode } from 'preact';
import { SafeText } from '../parts/safe-text.tsx';
import { type FoundContracts } from './find-contracts.ts';
import { type ContractQuery, formatContractPath, kindOfWords, NO_QUERY } from './contract-query.ts';

interface Asked {
  readonly query: ContractQuery;
  readonly chainId: number | undefined;
  readonly base: string;
}

/** Explains why the list is empty, and what to do next. */
export function NothingFound({
  next,
  isRuledOut,
  ...asked
}: Asked & Pick<FoundContracts, 'next' | 'isRuledOut'>): VNode {
  const { query, base } = asked;
  const { words, after } = query;
  const link = (to: ContractQuery, text: string): VNode => (
    <p>
      <a class="button" href={`${base}${formatContractPath(to)}`}>
        {text}
      </a>
    </p>
  );
  if (next !== null) {
    return (
      <Notice title="No matching contract so far.">
        {link({ ...query, after: next }, 'Check more')}
      </Notice>
    );
  }
  if (after !== '') {
    return (
      <Notice title="No more contracts.">{link({ ...query, after: '' }, 'Start over')}</Notice>
    );
  }
  if (isRuledOut) {
    return (
      <Notice title="No contract matches the filters.">
        {link({ ...NO_QUERY, words }, 'Remove all filters')}
      </Notice>
    );
  }
  return <NotVerified {...asked} />;
}

function NotVerified({ query: { words }, chainId, base }: Asked): VNode {
  const kind = kindOfWords(words);
  const known = {
    ...(chainId !== undefined && { chain: String(chainId) }),
    ...(kind === 'address' && { address: words }),
  };
  const parameters = new URLSearchParams(known).toString();
  const verify = `${base}verify${parameters === '' ? '' : `?${parameters}`}`;
  if (kind === 'none') {
    return (
      <Notice title="No contract has been verified here yet.">
        <p>
          <a href={verify}>Verify a contract</a> with its sources, or{' '}
          <a href={`${base}registry`}>browse the chains</a> this service knows.
        </p>
      </Notice>
    );
  }
  if (kind === 'address') {
    return (
      <Notice title="This address is not verified here.">
        <p>
          <code>{words}</code> is not verified here yet
          {chainId !== undefined && ` on chain ${chainId}`}. That doesn't mean it's unsafe.
        </p>
        <p>
          <a class="button" href={verify}>
            Verify it
          </a>
        </p>
      </Notice>
    );
  }
  const shown = <SafeText text={words} />;
  return (
    <Notice title="No verified contract was found.">
      {kind === 'name' ? (
        <p>
          No contract name has a word that starts with “{shown}”. Type the start of a word in the
          name, or an address with its 0x.
        </p>
      ) : kind === 'prefix' ? (
        <p>
          No verified address starts with <code>{words}</code>.
        </p>
      ) : (
        <p>
          No verified contract has bytecode with this hash, or was created by a transaction with
          this hash.
        </p>
      )}
    </Notice>
  );
}

function Notice({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <div class="notice">
      <p>
        <strong>{title}</strong>
      </p>
      {children}
    </div>
  );
}
