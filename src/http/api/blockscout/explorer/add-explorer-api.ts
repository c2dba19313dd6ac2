import { type OpenAPIHono } from '@hono/zod-openapi';
import { type Context } from 'hono';

import { FullmatchError } from '../../../../errors.ts';
import { type Hex } from '../../../../lib/hex.ts';
import { type PackedRequest } from '../../../../verification/verification-request.ts';
import { type Answer, respondJson, NOT_STORED, REVALIDATED } from '../../../answer.ts';
import { contractNotFound } from '../../../contract-not-found.ts';
import { type HttpDependencies } from '../../../http-dependencies.ts';
import { respondWithRecord } from '../../../records/respond-with-record.ts';
import { requireKnownChain } from '../../../require-known-chain.ts';
import { SOURCE_RECORD_SECTIONS } from '../../etherscan/source-record.ts';
import { NO_CODE, readProxyInTime } from '../../read-proxy-in-time.ts';
import { submitOrJoin } from '../../submit-or-join.ts';
import { UNVERIFIED_CONTRACT } from './contract-record.ts';
import { SOLIDITY_EVM_VERSIONS, VYPER_EVM_VERSIONS } from './evm-versions.ts';
import {
  smartContractRoute,
  submissionRoutes,
  verificationConfigRoute,
} from './explorer-routes.ts';
import { SUBMISSION_FORMATS } from './read-submission.ts';

type ExplorerParts = Pick<
  HttpDependencies,
  | 'answers'
  | 'compilers'
  | 'contracts'
  | 'proxies'
  | 'registry'
  | 'requests'
  | 'clientOf'
  | 'verification'
>;

const STARTED = { message: 'Smart-contract verification started' };
/**
 * How long a submission waits for its job, so that it can report an address without code: this check runs
 * before the compilation.
 */
const FIRST_WAIT_MS = 2_000;

/** Adds the part of Blockscout's API v2 that reads and verifies contracts. */
export function addExplorerApi(routes: OpenAPIHono, parts: ExplorerParts): void {
  routes.openapi(verificationConfigRoute, async (c) => {
    requireKnownChain(parts.registry(), c.req.valid('param').chainId);
    return answerConfig(parts);
  });
  routes.openapi(smartContractRoute, async (c) => {
    const { chainId, address } = c.req.valid('param');
    const view = { form: { kind: 'blockscout_contract' }, parts: SOURCE_RECORD_SECTIONS } as const;
    const answered = await respondWithRecord(c, parts, { chainId, address }, () => view);
    return answered ?? answerUnverified(parts, c, chainId, address);
  });
  for (const { way, route } of submissionRoutes) {
    // A worker thread reads and validates the body.
    routes.openapi({ ...route, request: { params: route.request.params } }, async (c) => {
      const { chainId, address } = c.req.valid('param');
      requireKnownChain(parts.registry(), chainId);
      const contentType = c.req.header('content-type') ?? '';
      const form = { kind: 'blockscout_submission', way, contentType, chainId, address } as const;
      const { request } = await parts.requests.read(c, form);
      await submit(parts, c, request);
      return respondJson(route, STARTED, NOT_STORED);
    });
  }
}

/** @throws FullmatchError unsupported_chain; contract_not_found if the address is known to have no code */
async function answerUnverified(
  { proxies, registry, clientOf }: ExplorerParts,
  c: Context,
  chainId: number,
  address: Hex,
): Promise<Answer> {
  requireKnownChain(registry(), chainId);
  const client = clientOf(c);
  const reading = await readProxyInTime(proxies, { chainId, address, client });
  if (reading === NO_CODE) throw contractNotFound(chainId, address);
  return respondJson(smartContractRoute, UNVERIFIED_CONTRACT, NOT_STORED);
}

/** @throws FullmatchError already_verified, contract_not_deployed; as {@link submitOrJoin} */
async function submit(
  { verification, clientOf }: ExplorerParts,
  c: Context,
  request: PackedRequest,
): Promise<void> {
  const client = clientOf(c);
  const id = await submitOrJoin(verification, request, client);
  const waiting = { client, signal: c.req.raw.signal, timeoutMs: FIRST_WAIT_MS };
  // A client that cannot wait polls the contract, as all clients do.
  const ended = await verification.waitForJob(id, waiting).catch(() => undefined);
  const { code, message } = ended?.failure ?? {};
  if (code === 'contract_not_deployed') throw new FullmatchError(code, message ?? '');
}

async function answerConfig({ compilers }: ExplorerParts): Promise<Answer> {
  const usable = await compilers.listUsable();
  const versionsOf = (compiler: string): string[] =>
    usable.filter((each) => each.compiler === compiler).map(({ longVersion }) => `v${longVersion}`);
  const config = {
    verification_options: [...SUBMISSION_FORMATS],
    solidity_compiler_versions: versionsOf('solc'),
    vyper_compiler_versions: versionsOf('vyper'),
    solidity_evm_versions: [...SOLIDITY_EVM_VERSIONS],
    vyper_evm_versions: [...VYPER_EVM_VERSIONS],
    is_rust_verifier_microservice_enabled: true,
    license_types: LICENSE_TYPES,
  };
  return respondJson(verificationConfigRoute, config, REVALIDATED);
}

/**
 * License numbers that explorers use. A submission may name one, but the SPDX identifier of the source is
 * what is shown.
 */
const LICENSE_TYPES = {
  ...{ none: 1, unlicense: 2, mit: 3, gnu_gpl_v2: 4, gnu_gpl_v3: 5, gnu_lgpl_v2_1: 6 },
  ...{ gnu_lgpl_v3: 7, bsd_2_clause: 8, bsd_3_clause: 9, mpl_2_0: 10, osl_3_0: 11 },
  ...{ apache_2_0: 12, gnu_agpl_v3: 13, bsl_1_1: 14 },
};
