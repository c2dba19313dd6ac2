import { encodeDeployData, type Abi } from 'viem';
import { configOf, startAnvil, VERIFIED_CHAIN_ID, type AnvilReceipt } from '../anvil.ts';
import { bootService } from '../booted-service.ts';
import { createTestDatabase } from '../test-database.ts';

/** The constructor arguments of Guestbook, as written on a command line. */
export const GUESTBOOK_ARGUMENTS = ['Summer fête', '25'] as const;

/** Nothing listens on this port: it belongs to an obsolete protocol. */
const NO_NODE = 'http://127.0.0.1:9';

/** A compiled contract as Hardhat and forge write it to disk. */
interface Artifact {
  readonly abi: Abi;
  readonly bytecode: string | { readonly object: string };
}

/** The counts of the tests' chain in stats.json. */
interface Counts {
  readonly full_match: number;
  readonly partial_match: number;
}

/** A booted service whose only chain is its own anvil. */
export interface GuestbookService {
  readonly apiUrl: string;
  readonly repositoryUrl: string;
  readonly rpcUrl: string;
  /** An account of the chain that the node itself signs for. */
  readonly account: string;
  /** Deploys a Guestbook as compiled by a client. */
  readonly deployGuestbook: (
    artifact: Artifact,
  ) => Promise<{ readonly address: string; readonly transactionHash: string }>;
  /** The response of GET /v2/contract. */
  readonly contractAt: (address: string) => Promise<Record<string, unknown>>;
  /** The counts in stats.json, or undefined before the first match. */
  readonly counts: () => Promise<Counts | undefined>;
  readonly close: () => Promise<void>;
}

/**
 * Boots the service and its chain.
 * @param more YAML after the chain
 * @param isNodeDown whether the service, unlike its clients, does not reach the chain
 */
export async function startGuestbookService(
  more = '',
  { isNodeDown = false } = {},
): Promise<GuestbookService> {
  const [testDatabase, anvil] = await Promise.all([
    createTestDatabase(),
    startAnvil({ chainId: VERIFIED_CHAIN_ID }),
  ]);
  const endpoint = isNodeDown ? { url: NO_NODE } : anvil;
  const yaml = configOf(endpoint, more);
  const service = await bootService({ databaseUrl: testDatabase.url, yaml });
  return {
    apiUrl: service.apiUrl,
    repositoryUrl: service.repositoryUrl,
    rpcUrl: anvil.url,
    account: anvil.account,
    deployGuestbook: async ({ abi, bytecode }) => {
      const code = typeof bytecode === 'string' ? bytecode : bytecode.object;
      const [title, limit] = GUESTBOOK_ARGUMENTS;
      const data = encodeDeployData({
        abi,
        bytecode: code as `0x${string}`,
        args: [title, BigInt(limit)],
      });
      const { contractAddress, transactionHash }: AnvilReceipt = await anvil.send({ data });
      if (contractAddress === null) throw new Error('nothing was created');
      return { address: contractAddress, transactionHash };
    },
    contractAt: async (address) => {
      const response = await fetch(`${service.apiUrl}/v2/contract/${VERIFIED_CHAIN_ID}/${address}`);
      return (await response.json()) as Record<string, unknown>;
    },
    counts: async () => {
      const response = await fetch(`${service.repositoryUrl}/stats.json`);
      const statistics = (await response.json()) as Record<string, Counts>;
      return statistics[String(VERIFIED_CHAIN_ID)];
    },
    close: async () => {
      await service.close();
      await anvil.stop();
      await testDatabase.drop();
    },
  };
}
