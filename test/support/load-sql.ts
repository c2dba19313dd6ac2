import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { finished } from 'node:stream/promises';
import { type Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

const COPY = /^COPY .* FROM stdin;$/;

/** Runs an SQL script that contains rows for COPY, like psql. */
export async function loadSql(client: Client, file: string): Promise<void> {
  const bytes = await readFile(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  let statements: string[] = [];
  let copy: ReturnType<typeof copyFrom> | undefined;
  for (const line of text.split('\n')) {
    if (copy !== undefined) {
      if (line === String.raw`\.`) {
        copy.end();
        await finished(copy);
        copy = undefined;
      } else if (!copy.write(`${line}\n`)) await once(copy, 'drain');
    } else if (COPY.test(line)) {
      if (statements.join('').trim() !== '') await client.query(statements.join('\n'));
      statements = [];
      copy = client.query(copyFrom(line.slice(0, -1)));
    } else statements.push(line);
  }
  await client.query(statements.join('\n'));
}
