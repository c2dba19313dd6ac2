// Rows from another service with errors that no bytecode match reveals: trust covers only what was compared.
import { describe, expect, test } from 'vitest';
import { markRecompiled, parseSections, readRecord } from '../src/repository/repository.ts';
import { sql } from '../src/store/database.ts';
import { WORD } from './support/alliance-database.ts';
import { useAllianceImport } from './support/alliance-import.ts';
import { sampleAddress } from './support/sample-contracts.ts';

const ADDRESS = sampleAddress(1);
const HASH_BYTES = 32;
const FORGED_ABI = [
  { type: 'function', name: 'forged', inputs: [], outputs: [], stateMutability: 'view' },
];
const READ_STATE = sql(
  'test state',
  `SELECT match, trust, verified_contract_id AS id, compiler_settings->'optimizer' AS optimizer
   FROM current_matches
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   JOIN compiled_contracts ON compiled_contracts.id = compilation_id`,
);

const given = useAllianceImport();
const { fullmatch } = given;

async function load(): Promise<{ match: string; trust: string; id: string; optimizer: unknown }> {
  const { exitCode, stderr } = await fullmatch('import', '--from', given.peer.url, '--json');
  expect(exitCode, stderr).toBe(0);
  const [state] = await given.store.database.query<never>(READ_STATE);
  return state!;
}

async function recompile(): Promise<unknown> {
  const run = await fullmatch('reverify', '--all', '--recompile', '--json');
  const [state] = await given.store.database.query<{ match: string; trust: string }>(READ_STATE);
  const [{ outcome }] = JSON.parse(run.stdout) as [{ outcome: string }];
  return { outcome, match: state?.match, trust: state?.trust };
}

/** The genuine creation bytecode, or one changed before its constructor arguments are appended. */
async function deliverCreationCode(
  change: (code: Buffer) => Buffer = (code) => code,
): Promise<void> {
  const code = change(given.peer.creationCode);
  const onChain = Buffer.concat([code, Buffer.from(WORD.slice(2), 'hex')]);
  await given.peer.client.query('UPDATE compiled_contracts SET creation_code_hash = $1', [
    await given.peer.addCode(code),
  ]);
  await given.peer.client.query('UPDATE contracts SET creation_code_hash = $1', [
    await given.peer.addCode(onChain),
  ]);
  await given.peer.client.query('UPDATE verified_contracts SET creation_transformations = $1', [
    JSON.stringify([{ type: 'insert', reason: 'constructorArguments', offset: code.length }]),
  ]);
}

async function readRecompiledCode(): Promise<Buffer> {
  const { rows } = await given.peer.client.query<{ code: Buffer }>(
    'SELECT code FROM compiled_contracts JOIN code ON code_hash = runtime_code_hash',
  );
  return rows[0]!.code;
}

const forge = (metadata: string): string => {
  const document = JSON.parse(metadata) as { output: Record<string, unknown> };
  document.output['abi'] = FORGED_ABI;
  return JSON.stringify(document);
};

describe('a compilation', () => {
  const creationOnly = { runtime: 'partial', creation: 'perfect' } as const;

  test('raises a genuine claim whose creation match alone is full', async () => {
    await given.peer.addRow({ address: ADDRESS, ...creationOnly });
    await deliverCreationCode();
    await load();
    expect(await recompile()).toEqual({
      outcome: 'recompiled',
      match: 'full',
      trust: 'recompiled',
    });
  });

  test('raises no full match with the metadata of other sources', async () => {
    await given.peer.addRow({
      address: ADDRESS,
      ...creationOnly,
      metadata: forge(given.peer.metadata),
    });
    await deliverCreationCode();
    expect(await load()).toMatchObject({ match: 'full', trust: 'claimed' });
    expect(await recompile()).toEqual({ outcome: 'differs', match: 'full', trust: 'claimed' });
  });

  test('raises no partial match with another ABI', async () => {
    await given.peer.addRow({
      address: ADDRESS,
      runtime: 'partial',
      metadata: forge(given.peer.metadata),
    });
    await load();
    expect(await recompile()).toEqual({ outcome: 'differs', match: 'partial', trust: 'rechecked' });
  });

  test('does not raise levels that were claimed while it ran', async () => {
    await given.peer.addRow({ address: ADDRESS, runtime: 'partial' });
    const before = await load();
    await given.peer.client.query(
      `UPDATE sourcify_matches SET creation_match = 'perfect';
       UPDATE verified_contracts SET creation_match = true, creation_metadata_match = true`,
    );
    expect(await load()).toMatchObject({ id: before.id, match: 'full', trust: 'claimed' });
    const judged = { runtimeMatch: 'partial', creationMatch: null } as const;
    const place = { chainId: 1, address: ADDRESS, matchId: before.id };
    expect(await markRecompiled(given.store.database, { ...place, ...judged })).toBe(false);
    expect(await given.store.database.query(READ_STATE)).toMatchObject([{ trust: 'claimed' }]);
  });
});

describe('an import', () => {
  test('takes the settings of a full match from its metadata, which the code proves', async () => {
    await given.peer.addRow({ address: ADDRESS });
    await given.peer.client.query(
      `UPDATE compiled_contracts
       SET compiler_settings = compiler_settings || '{"optimizer": {"enabled": true, "runs": 1}}'`,
    );
    expect(await load()).toMatchObject({
      ...{ match: 'full', trust: 'rechecked' },
      optimizer: { enabled: false, runs: 200 },
    });
    const record = await readRecord(given.store.database, 1, ADDRESS, ['compilation']);
    expect(parseSections(record!.sections)).toMatchObject({
      compilation: { settings: { evmVersion: expect.stringMatching(/^[a-z]+$/) as string } },
    });
    expect(await recompile()).toMatchObject({ outcome: 'recompiled' });
  });

  test('rechecks no full match whose metadata hash a transformation put into the code', async () => {
    await given.peer.addRow({ address: ADDRESS, runtime: 'partial', creation: 'perfect' });
    const real = await readRecompiledCode();
    const offset = real.length - real.readUInt16BE(real.length - 2) - 2;
    const at = real.indexOf(Buffer.from('1220', 'hex'), offset) + 2;
    const other = Buffer.from(real).fill(0x11, at, at + HASH_BYTES);
    await deliverCreationCode((code) => {
      const inside = code.indexOf(real.subarray(at, at + HASH_BYTES));
      return Buffer.from(code).fill(0x11, inside, inside + HASH_BYTES);
    });
    const cborAuxdata = { 1: { offset, value: `0x${other.subarray(offset).toString('hex')}` } };
    await given.peer.client.query(
      'UPDATE compiled_contracts SET runtime_code_hash = $1, runtime_code_artifacts = runtime_code_artifacts || $2',
      [await given.peer.addCode(other), JSON.stringify({ cborAuxdata })],
    );
    const replaced = { type: 'replace', reason: 'cborAuxdata', offset, id: '1' };
    const values = { cborAuxdata: { 1: `0x${real.subarray(offset).toString('hex')}` } };
    await given.peer.client.query(
      `UPDATE verified_contracts SET runtime_values = runtime_values || $1,
         runtime_transformations = runtime_transformations || $2`,
      [JSON.stringify(values), JSON.stringify([replaced])],
    );
    expect(await load()).toMatchObject({ match: 'full', trust: 'claimed' });
  });

  test('rechecks no full match whose metadata hash is appended as an immutable', async () => {
    await given.peer.addRow({ address: ADDRESS });
    const real = await readRecompiledCode();
    const auxdata = real.subarray(real.length - real.readUInt16BE(real.length - 2) - 2);
    const code = Buffer.from('600160025500', 'hex');
    await given.peer.client.query('UPDATE compiled_contracts SET runtime_code_hash = $1', [
      await given.peer.addCode(code),
    ]);
    await given.peer.client.query('UPDATE contracts SET runtime_code_hash = $1', [
      await given.peer.addCode(Buffer.concat([code, auxdata])),
    ]);
    const inserted = { type: 'insert', reason: 'immutable', offset: code.length, id: '1' };
    await given.peer.client.query(
      'UPDATE verified_contracts SET runtime_transformations = $1, runtime_values = $2',
      [
        JSON.stringify([inserted]),
        JSON.stringify({ immutables: { 1: `0x${auxdata.toString('hex')}` } }),
      ],
    );
    expect(await load()).toMatchObject({ match: 'full', trust: 'claimed' });
  });
});
