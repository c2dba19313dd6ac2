// Creates the data directory of a released version that test/upgrade.test.ts upgrades: `npx tsx
// scripts/make-upgrade-fixture.ts --program <its dist/cli/main.js> [--out <file>]`. The program of that
// version really runs: it verifies contracts on two development chains, imports a tree, and gets the
// submissions that falsified the record of version 0.1.0. No code of the current version writes the stored
// data.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Command } from 'commander';
import { Client } from 'pg';
import { type Hex } from '../src/lib/hex.ts';
import { startAnvil, type Anvil } from '../test/support/anvil.ts';
import { startFilteringNode } from '../test/support/filtering-node.ts';
import { writeShowTree } from '../test/support/show-tree.ts';
import { SOLC_VERSIONS, solcPackageOf } from '../test/support/solc-packages.ts';
import { createTemporaryFolder } from '../test/support/temporary-folder.ts';
import {
  apiPathsOf,
  packFixture,
  UPGRADE_FIXTURE,
  type FixtureContract,
} from '../test/support/upgrade-fixture.ts';
import { pollJob, post, verifyOverV2 } from '../test/support/verification-client.ts';
import {
  AUDIT_SOURCE,
  auditedOldInput,
  bodyOf,
  compileCreation,
  CREATION_ONLY,
  echoInput,
  noteOf,
  solidityInput,
  TOKEN,
  type Submission,
} from './upgrade-fixture-sources.ts';

const CHAIN = 424_242;
const OTHER_CHAIN = 424_243;
/** Bytecode size of the failed job with large bytecode: far more than the windows around a difference. */
const LARGE_CODE_BYTES = 300_000;
/** Unneeded server files: recreated at each start, or only read by people. */
const LEFT_OVERS = ['postgres/server.log', 'postgres/server.log.1', 'postgres/postmaster.opts.old'];

interface Running {
  readonly apiUrl: string;
  readonly repositoryUrl: string;
  readonly stop: () => Promise<void>;
}

async function runProgram(program: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: env['HOME'],
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { child, ended: once(child, 'close'), lines: createInterface({ input: child.stdout }) };
}

async function startOld(program: string, env: NodeJS.ProcessEnv): Promise<Running> {
  const { child, ended, lines } = await runProgram(program, ['start'], env);
  for await (const line of lines) {
    if (!line.includes('"event":"ready"')) continue;
    const ready = JSON.parse(line) as { api_url: string; repository_url: string };
    lines.resume();
    child.stdout.resume();
    const stop = async (): Promise<void> => {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await ended;
    };
    return { apiUrl: ready.api_url, repositoryUrl: ready.repository_url, stop };
  }
  throw new Error('the program ended before it was ready');
}

async function runToEnd(program: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const { ended, lines } = await runProgram(program, args, env);
  for await (const line of lines) console.error(line);
  const [code] = (await ended) as [number];
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}`);
}

interface Deployment {
  readonly address: Hex;
  readonly transactionHash: Hex;
}

async function deployCode(anvil: Anvil, creationCode: string): Promise<Deployment> {
  const { contractAddress, transactionHash } = await anvil.send({ data: `0x${creationCode}` });
  if (contractAddress === null) throw new Error('nothing was created');
  return { address: contractAddress, transactionHash };
}

const deploySubmission = async (anvil: Anvil, submission: Submission): Promise<Deployment> =>
  deployCode(anvil, await compileCreation(submission));

async function readText(url: string): Promise<string> {
  const response = await fetch(url);
  if (response.status !== 200) throw new Error(`${url} returned ${response.status}`);
  return response.text();
}

async function describeContract(
  { apiUrl, repositoryUrl }: Running,
  role: string,
  chainId: number,
  address: Hex,
  code: Hex,
): Promise<FixtureContract> {
  const answers: Record<string, string> = {};
  for (const each of apiPathsOf(chainId, address)) answers[each] = await readText(apiUrl + each);
  const files: Record<string, string> = {};
  const { match } = JSON.parse(answers[apiPathsOf(chainId, address)[0] ?? ''] ?? '{}') as {
    match: string;
  };
  const folder = match === 'exact_match' ? 'full_match' : 'partial_match';
  const listing = JSON.parse(
    await readText(`${repositoryUrl}/contracts/${folder}/${chainId}/${address}`),
  ) as { files: readonly { url: string }[] };
  for (const { url } of listing.files) files[url] = await readText(repositoryUrl + url);
  return { role, chainId, address, code, answers, files };
}

/** Compacts the database of a running service, so that transient data is not packed. */
async function compact(dataDir: string): Promise<void> {
  const lines = (await readFile(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n');
  const client = new Client({
    host: lines[4] ?? '',
    port: Number(lines[3]),
    user: 'fullmatch',
    database: 'fullmatch',
  });
  await client.connect();
  await client.query('VACUUM FULL');
  await client.query('SELECT pg_switch_wal()');
  await client.query('CHECKPOINT');
  await client.end();
}

async function makeDirectory(program: string, folder: string) {
  const [anvil, other] = await Promise.all([
    startAnvil({ chainId: CHAIN }),
    startAnvil({ chainId: OTHER_CHAIN }),
  ]);
  const node = await startFilteringNode(anvil.url);
  const dataDir = path.join(folder, 'data');
  const compilers = path.join(folder, 'compilers');
  await mkdir(compilers);
  for (const version of SOLC_VERSIONS) {
    await symlink(
      path.join(solcPackageOf(version), 'soljson.js'),
      path.join(compilers, `soljson-v${version}.js`),
    );
  }
  const writeConfig = (workers: number): Promise<void> =>
    writeFile(
      path.join(folder, 'fullmatch.yaml'),
      `dataDir: ${dataDir}
registry: { include: configured, defaults: false }
compilers: { folder: ${compilers} }
verification: { workers: ${workers} }
chains:
  ${CHAIN}: { name: Test chain, local: true, rpc: [${node.url}] }
  ${OTHER_CHAIN}: { name: Other test chain, local: true, rpc: [${other.url}] }
`,
    );
  await writeConfig(2);
  const env = { HOME: folder, FULLMATCH_API_PORT: '0', FULLMATCH_REPOSITORY_PORT: '0' };
  const roles: { role: string; chainId: number; address: Hex }[] = [];
  const jobs: Record<string, string> = {};
  let service = await startOld(program, env);
  try {
    const verify = async (
      role: string,
      deployment: Deployment,
      submission: Submission,
      options: { chainId?: number; nameTransaction?: boolean } = {},
    ): Promise<void> => {
      const { chainId = CHAIN, nameTransaction = true } = options;
      const { address, transactionHash } = deployment;
      const body = {
        ...bodyOf(submission),
        ...(nameTransaction && { creationTransactionHash: transactionHash }),
      };
      const job = await verifyOverV2(service.apiUrl, address, body, chainId);
      if (job.error !== undefined) throw new Error(`${role}: ${job.error.message}`);
      console.error(`${role}: ${job.contract.runtimeMatch} ${job.contract.creationMatch}`);
      if (!roles.some((each) => each.role === role)) roles.push({ role, chainId, address });
      jobs['succeeded'] = job.verificationId;
    };

    const vault = noteOf('Vault', 'Keeps a number.');
    await verify('honest', await deploySubmission(anvil, vault), vault);
    await verify('honest_elsewhere', await deploySubmission(other, vault), vault, {
      chainId: OTHER_CHAIN,
    });

    // Another deployment of the same bytecode adds a file to a finished match.
    await verify('planted_source', await deploySubmission(anvil, TOKEN), TOKEN);
    await verify('planting_instance', await deploySubmission(anvil, TOKEN), {
      ...TOKEN,
      input: { ...TOKEN.input, sources: { ...TOKEN.input.sources, ...AUDIT_SOURCE } },
    });

    const registry = noteOf('Registry', 'Knows a number.');
    await verify('unlisted_source', await deploySubmission(anvil, registry), {
      ...registry,
      input: {
        ...registry.input,
        sources: { ...registry.input.sources, 'notes/unlisted.sol': { content: '// Unlisted.\n' } },
      },
    });

    const old = auditedOldInput();
    await verify('planted_settings', await deploySubmission(anvil, old), old);

    // A Yul program has no metadata: the first verification determines the name for all.
    const claimed = echoInput('AuditedByOpenZeppelin', 'AuditedByOpenZeppelin.yul');
    await verify('yul_claimed', await deploySubmission(anvil, claimed), claimed);
    const echo = echoInput('Echo', 'Echo.yul');
    await verify('yul_named_before', await deploySubmission(anvil, echo), echo);

    await verify('creation_only', await deploySubmission(anvil, CREATION_ONLY), CREATION_ONLY);

    const holders = await deploySubmission(anvil, noteOf('Holders', 'As it was deployed.'));
    // A node without old states and traces, so that it cannot help find the creation.
    const head = Number(await anvil.request<Hex>('eth_blockNumber'));
    node.filter = {
      hides: ['trace_block', 'debug_traceBlockByNumber', 'ots_getContractCreator'],
      changes: (method, params, result) =>
        method === 'eth_getCode' && Number(params[1]) < head ? new Error('no old states') : result,
    };
    await verify('partial_replaced', holders, noteOf('Holders', 'An honest text.'), {
      nameTransaction: false,
    });
    node.filter = {};
    await verify(
      'partial_replaced',
      holders,
      noteOf('Holders', 'HOLDERS MUST CLAIM AT evil.example'),
    );

    const partial = await deploySubmission(anvil, noteOf('Partial', 'As it was deployed.'));
    await verify('honest_partial', partial, noteOf('Partial', 'Another text.'));
    const rising = await deploySubmission(other, noteOf('Rising', 'As it was deployed.'));
    await verify('upgraded', rising, noteOf('Rising', 'Another text.'), { chainId: OTHER_CHAIN });
    await verify('upgraded', rising, noteOf('Rising', 'As it was deployed.'), {
      chainId: OTHER_CHAIN,
    });
    const gone = noteOf('Gone', 'Taken back.');
    const withdrawn = await deploySubmission(anvil, gone);
    await verify('withdrawn', withdrawn, gone);

    const fail = async (role: string, address: Hex, submission: Submission): Promise<void> => {
      const job = await verifyOverV2(service.apiUrl, address, bodyOf(submission), CHAIN);
      if (job.error === undefined) throw new Error(`${role} matched`);
      console.error(`${role}: ${job.error.customCode}`);
      jobs[role] = job.verificationId;
    };
    await fail('failed_small', partial.address, vault);
    const large: Hex = `0x${'ab'.repeat(20)}`;
    await anvil.request('anvil_setCode', [large, `0x${'600160025b'.repeat(LARGE_CODE_BYTES / 5)}`]);
    await fail('failed_large', large, vault);
    await service.stop();

    await runToEnd(
      program,
      ['withdraw', String(CHAIN), withdrawn.address, '--reason', 'taken back'],
      env,
    );
    const tree = path.join(folder, 'tree');
    await writeShowTree(tree);
    await runToEnd(program, ['import', tree], env);

    // Without workers a job stays in the queue.
    const waiting = solidityInput('Waiting', 'contract Waiting { uint256 public waited = 5; }');
    const queued = await deploySubmission(anvil, waiting);
    await writeConfig(0);
    service = await startOld(program, env);
    const answer = await post(
      `${service.apiUrl}/v2/verify/${CHAIN}/${queued.address}`,
      bodyOf(waiting),
    );
    const { verificationId } = (await answer.json()) as { verificationId: string };
    jobs['queued'] = verificationId;
    for (const role of ['failed_small', 'failed_large'] as const) {
      await pollJob(service.apiUrl, jobs[role] ?? '');
    }

    const contracts: FixtureContract[] = [];
    for (const { role, chainId, address } of roles.filter(({ role }) => role !== 'withdrawn')) {
      const code = await (chainId === CHAIN ? anvil : other).request<Hex>('eth_getCode', [
        address,
        'latest',
      ]);
      contracts.push(await describeContract(service, role, chainId, address, code));
    }
    const imported = JSON.parse(await readText(`${service.repositoryUrl}/manifest.json`)) as object;
    console.error(JSON.stringify(imported).slice(0, 300));
    const statistics = JSON.parse(await readText(`${service.repositoryUrl}/stats.json`)) as object;
    const codes = {
      withdrawn: { ...withdrawn, code: await codeAt(anvil, withdrawn.address) },
      queued: { ...queued, code: await codeAt(anvil, queued.address) },
    };
    const manifest = { version: '0.1.0', statistics, contracts, jobs, ...codes };
    await compact(dataDir);
    await service.stop();
    return manifest;
  } finally {
    await service.stop();
    await node.close();
    await anvil.stop();
    await other.stop();
  }
}

const codeAt = (anvil: Anvil, address: Hex): Promise<Hex> =>
  anvil.request<Hex>('eth_getCode', [address, 'latest']);

async function make(program: string, out: string): Promise<void> {
  const { path: folder, remove } = await createTemporaryFolder('fullmatch-fixture-');
  try {
    const manifest = await makeDirectory(path.resolve(program), folder);
    for (const name of LEFT_OVERS) await rm(path.join(folder, 'data', name), { force: true });
    for (const name of ['compilers', 'tree', 'fullmatch.yaml']) {
      await rm(path.join(folder, name), { recursive: true, force: true });
    }
    await writeFile(path.join(folder, 'manifest.json'), JSON.stringify(manifest));
    await chmod(folder, 0o755);
    const packed = await packFixture(folder);
    await mkdir(path.dirname(out), { recursive: true });
    await writeFile(out, packed);
    console.error(`${out}: ${(packed.length / 1e6).toFixed(2)} MB`);
  } finally {
    await remove();
  }
}

await new Command('make-upgrade-fixture')
  .description('create the data directory of a released version for the upgrade test')
  .requiredOption('--program <file>', 'dist/cli/main.js of that version')
  .option('--out <file>', 'the archive to write', UPGRADE_FIXTURE)
  .action(({ program, out }: { program: string; out: string }) => make(program, out))
  .parseAsync();
