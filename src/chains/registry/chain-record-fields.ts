import { type ChainRecord } from './chain-record.ts';

/** Fields of a chain record, in the key order of `GET /chains`: the table of SPEC §1, then the extras. */
export const CHAIN_RECORD_FIELDS = [
  'name',
  'chain',
  'network',
  'icon',
  'rpc',
  'faucets',
  'nativeCurrency',
  'infoURL',
  'shortName',
  'chainId',
  'networkId',
  'slip44',
  'ens',
  'explorers',
  'supported',
  'monitored',
  'contractFetchAddress',
  'txRegex',
  'title',
  'status',
  'features',
  'parent',
  'redFlags',
] as const satisfies readonly (keyof ChainRecord)[];
