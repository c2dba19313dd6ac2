import { z } from 'zod';

const text = z.string().min(1);
const count = z.int().min(0);

/**
 * A chain record as `GET /chains` publishes it (SPEC §1): the fields of the table, then the other fields of
 * the public list.
 */
export const chainRecordSchema = z
  .strictObject({
    name: text.describe('Name of the chain'),
    chain: text.optional().describe("The chain's family or ticker, from the public list"),
    network: text.optional().describe('mainnet or testnet, or the configured value'),
    icon: text.optional().describe("Name of the chain's icon in the public list"),
    rpc: z.array(text).describe('Public endpoints; can be empty'),
    faucets: z.array(text).optional().describe('Pages that give out test coins; can be empty'),
    nativeCurrency: z
      .strictObject({ name: text, symbol: text, decimals: count })
      .optional()
      .describe('The currency used to pay for transactions'),
    infoURL: text.optional().describe("The chain's website"),
    shortName: text.optional().describe('Short name (EIP-3770); for lookup, not identity'),
    chainId: z.int().min(1).max(Number.MAX_SAFE_INTEGER).describe('Chain id (EIP-155): identity'),
    networkId: count.optional().describe('Id in the peer-to-peer network'),
    slip44: count.optional().describe('Coin type (SLIP-44)'),
    ens: z
      .strictObject({ registry: z.string().regex(/^0x[0-9a-fA-F]{40}$/) })
      .optional()
      .describe('The ENS registry contract'),
    explorers: z
      .array(z.strictObject({ name: text, url: text, standard: text, icon: text.optional() }))
      .optional()
      .describe('Explorer sites; standard is EIP3091 or none'),
    supported: z.boolean().describe('Whether contracts can be verified on this chain'),
    monitored: z.boolean().describe('Whether the chain is monitored for new contracts'),
    contractFetchAddress: text
      .optional()
      .describe("URL of a contract's page on an explorer, with the literal ${ADDRESS}"),
    txRegex: text
      .optional()
      .describe(
        "Pattern with one capture group that finds the creation transaction's hash on that page",
      ),
    title: text.optional().describe('A longer name'),
    status: text.optional().describe('active, incubating or deprecated'),
    features: z
      .array(z.strictObject({ name: text }))
      .optional()
      .describe('Protocol features, such as EIP1559'),
    parent: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('The chain on which this one settles'),
    redFlags: z.array(text).optional().describe('Warnings of the public list: reusedChainId'),
  })
  .describe('A chain in the registry');

/** Fields of a chain record, in the key order of `GET /chains`. */
export const CHAIN_RECORD_FIELDS = chainRecordSchema.keyof().options;
