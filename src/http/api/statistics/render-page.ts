import { type z } from '@hono/zod-openapi';

import { checksumAddress } from '../../../lib/hex.ts';
import type { ContractSummary, SummaryPage } from '../../../repository/repository.ts';
import { type contractPageSchema } from './contract-list-routes.ts';

/** Renders a page of contracts for the wire. */
export function renderContractPage({
  results,
  next,
}: SummaryPage): z.infer<typeof contractPageSchema> {
  return { results: results.map(renderSummary), next: next ?? null };
}

function renderSummary({
  verifiedAt,
  address,
  matchId,
  ...summary
}: ContractSummary): z.infer<typeof contractPageSchema>['results'][number] {
  const { chainId, match, runtimeMatch, creationMatch, name, language } = summary;
  const { compilerVersion, origin, trust } = summary;
  return {
    chainId,
    address: checksumAddress(address),
    match,
    runtimeMatch,
    creationMatch,
    name,
    language,
    compilerVersion,
    origin,
    trust,
    verifiedAt: verifiedAt.toISOString(),
    matchId,
  };
}
