import { type VNode } from 'preact';
import { definePage, type ViewProps } from '../page.ts';
import { VerifyForm } from '../verify/form.tsx';
import { ADDRESS, CHAIN_ID } from '../verify/verify-form.ts';
import './verify.css';

/** The page that submits the sources of a contract. */
export const page = definePage<null>({
  section: 'verify',
  title: () => 'Verify a contract',
  load: () => Promise.resolve(null),
  View: VerifyView,
});

function VerifyView({ request, context }: ViewProps<null>): VNode {
  const query = new URLSearchParams(request.query);
  const given = { chain: query.get('chain') ?? '', address: query.get('address') ?? '' };
  const chain = CHAIN_ID.test(given.chain) ? given.chain : '1';
  const address = ADDRESS.test(given.address) ? given.address : '0x…';
  const root = context.apiUrl ?? '';
  if (context.verify === 'off') {
    return (
      <>
        <h1>Verify a contract</h1>
        <p class="lead">
          This service does not accept submissions. Its operator verifies the contracts here.
        </p>
        <p>
          <a href={`${context.base}contracts`}>See the verified contracts</a>
        </p>
      </>
    );
  }
  return (
    <>
      <h1>Verify a contract</h1>
      <p class="lead">
        The service compiles your sources, reads the code from the chain and compares the two. A
        match is published with the sources.
      </p>
      {/* A browser with scripts needs neither the text nor its code. */}
      {import.meta.env.SSR && <WithoutScripts {...{ root, chain, address }} />}
      <VerifyForm base={context.base} needsToken={context.verify === 'token'} {...given} />
    </>
  );
}

/** How to submit a contract without the form. */
function WithoutScripts({
  root,
  chain,
  address,
}: {
  readonly root: string;
  readonly chain: string;
  readonly address: string;
}): VNode {
  return (
    <noscript>
      <div class="notice">
        <p>
          The form needs JavaScript to read files. Without it, send the standard JSON input
          yourself:
        </p>
        <pre class="json">{`jq -n --slurpfile input input.json '{
  stdJsonInput: $input[0],
  compilerVersion: "0.8.30",
  contractIdentifier: "contracts/Token.sol:Token"
}' | curl -H 'content-type: application/json' -d @- \\
  ${root}/v2/verify/${chain}/${address}`}</pre>
        <p>
          The response has the job id; its page is <code>{root}/job/</code> followed by that id. The
          command line also accepts .sol files, build infos, Foundry projects and metadata.json:
        </p>
        <pre class="json">{`fullmatch verify ${chain} ${address} Token.sol --url ${root} --wait`}</pre>
        <pre class="json">{`fullmatch verify ${chain} ${address} input.json --url ${root} --wait \\
  --compiler 0.8.30 --contract contracts/Token.sol:Token`}</pre>
      </div>
    </noscript>
  );
}
