import { type VNode } from 'preact';
import { definePage, type ViewProps } from '../page.ts';
import { VerifyForm } from '../verify/form.tsx';
import './verify.css';

/** Where people bring the sources of a contract. */
export const page = definePage<null>({
  section: 'verify',
  title: () => 'Verify a contract – Fullmatch',
  load: async () => null,
  View: VerifyView,
});

function VerifyView({ request, context }: ViewProps<null>): VNode {
  const query = new URLSearchParams(request.query);
  const root = context.apiUrl ?? '';
  return (
    <>
      <h1>Verify a contract</h1>
      <p class="lead">
        The service compiles what you send, reads the code from the chain, and compares the two. A
        match is stored for all to see, with the sources.
      </p>
      <noscript>
        <div class="notice">
          <p>
            This form needs a script to read files. Without it, send the standard JSON input by any
            HTTP client:
          </p>
          <pre class="json">
            {`curl -X POST ${root}/v2/verify/1/0x… \\\n  -H 'content-type: application/json' \\\n  -d '{"stdJsonInput": …, "compilerVersion": "0.8.30", "contractIdentifier": "contracts/Token.sol:Token"}'`}
          </pre>
        </div>
      </noscript>
      <VerifyForm
        base={context.base}
        chain={query.get('chain') ?? ''}
        address={query.get('address') ?? ''}
      />
    </>
  );
}
