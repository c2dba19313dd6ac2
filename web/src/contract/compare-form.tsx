import { type VNode } from 'preact';

/** Plain form that selects a contract to compare with. */
export function CompareForm({
  base,
  chainId,
  address,
  given = '',
  on = '',
}: {
  readonly base: string;
  readonly chainId: string;
  readonly address: string;
  readonly given?: string;
  readonly on?: string;
}): VNode {
  return (
    <form class="compare-form" method="get" action={`${base}compare/${chainId}/${address}`}>
      <p>
        <label for="with">Address of another verified contract</label>{' '}
        <input
          id="with"
          name="with"
          value={given}
          required
          spellcheck={false}
          autocomplete="off"
          maxLength={66}
        />
      </p>
      <p>
        <label for="on">Its chain id</label>{' '}
        <input
          id="on"
          name="on"
          value={on === '' ? chainId : on}
          inputMode="numeric"
          maxLength={20}
        />
      </p>
      <button type="submit">Compare</button>
    </form>
  );
}
