import { type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { keepToken, readToken } from '../parts/post-json.ts';
import { TextField } from './text-fields.tsx';

/** Verification token. It is kept until the tab is closed, and sent with each request. */
export function TokenField(): VNode {
  const [token, setToken] = useState('');
  useEffect(() => setToken(readToken()), []);
  return (
    <TextField
      id="token"
      type="password"
      label="Token"
      hint="This service requires a token from its operator."
      value={token}
      fault={undefined}
      onChange={(next) => {
        setToken(next);
        keepToken(next.trim());
      }}
    />
  );
}
