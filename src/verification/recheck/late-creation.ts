import { judgeContract } from '../../bytecode/judge-contract.ts';
import { groupByPath } from '../../solidity/library-id.ts';
import { type AuxdataPositions, type LinkReferences } from '../../bytecode/recompiled-code.ts';
import { bytesToHex, hexToBytes } from '../../lib/hex.ts';
import {
  type AdditionalChange,
  type VerifiedContract,
  attachCreation,
  hashOf,
  textHash,
} from '../../repository/repository.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { libraryEntries, readConfiguredLibraries } from '../compilation/configured-libraries.ts';
import { toStoredVerdict } from '../verify-contract.ts';

// The stored artifacts of this service's own compilations are complete enough for the comparison; those of
// imports are not.
const READ_WITHOUT_CREATION = sql(
  'read match without a creation',
  `SELECT verified_contract_id AS match_id, current_matches.text_hash, compiler_settings -> 'libraries' AS libraries,
     runtime_values -> 'libraries' AS linked, compilation_artifacts -> 'abi' AS abi, code, language, version,
     creation_code_artifacts -> 'linkReferences' AS link_references,
     creation_code_artifacts -> 'cborAuxdata' AS auxdata
   FROM current_matches
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   JOIN contract_deployments ON contract_deployments.id = deployment_id
   JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   JOIN code ON code.code_hash = compiled_contracts.creation_code_hash
   WHERE current_matches.chain_id = $1 AND current_matches.address = $2 AND origin <> 'imported'
     AND current_matches.runtime_code_hash = $3 AND transaction_hash IS NULL`,
);

interface ShownRow {
  readonly match_id: string;
  readonly text_hash: Buffer;
  readonly libraries: unknown;
  readonly linked: Readonly<Record<string, string>> | null;
  readonly abi: unknown;
  readonly language: string;
  readonly version: string;
  readonly code: Buffer;
  readonly link_references: LinkReferences | null;
  readonly auxdata: AuxdataPositions | null;
}

/**
 * Attaches the creation that a verification found to the match that is shown, if its record has none yet: a
 * confirmed transaction is a fact of the chain, no matter who named it. Compares the creation bytecode of the
 * shown compilation, not of the submission, whose constructor may differ.
 * @returns undefined if nothing was attached; the outcome of the submission if the shown sources are its own
 * @throws FullmatchError contract_changed
 */
export async function attachLateCreation(
  transaction: Queryable,
  contract: VerifiedContract,
): Promise<AdditionalChange | undefined> {
  const { chainId, address, deployment, compilation } = contract;
  const { transactionHash, creationCode, runtimeCode } = deployment;
  if (transactionHash === undefined || creationCode === undefined) return undefined;
  const [shown] = await transaction.query<ShownRow>(READ_WITHOUT_CREATION, [
    chainId,
    hexToBytes(address),
    hashOf(runtimeCode),
  ]);
  if (shown === undefined) return undefined;
  const configured = libraryEntries(readConfiguredLibraries({ libraries: shown.libraries }));
  const { creation, creationMatch } = judgeContract({
    address,
    abi: shown.abi,
    compiler: { language: shown.language, version: shown.version },
    libraries: groupByPath([
      ...configured.map(({ path, name, address: at }) => [`${path}:${name}`, at] as const),
      ...Object.entries(shown.linked ?? {}),
    ]),
    creation: {
      onChain: creationCode,
      recompiled: {
        code: bytesToHex(shown.code).slice(2),
        linkReferences: shown.link_references ?? {},
        auxdata: shown.auxdata ?? {},
      },
    },
  });
  const transformed = toStoredVerdict(creation);
  const eventNumber = await attachCreation(transaction, {
    contract,
    matchId: shown.match_id,
    creationMatch,
    ...(transformed && { creation: transformed }),
  });
  if (eventNumber === undefined) return undefined;
  const isOwnText = shown.text_hash.equals(textHash(compilation));
  return isOwnText ? { saved: { chainId, address, outcome: 'upgraded', eventNumber } } : {};
}
