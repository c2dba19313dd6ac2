import { z } from 'zod';

/** Monitor settings of a chain. */
export interface MonitoredChain {
  /** The first block to follow: the head when the chain is first monitored, or a number. */
  readonly from: 'head' | number;
  /**
   * How many blocks the monitor stays behind the head, or `finalized` to follow only finalized blocks. With
   * 0, the default, blocks are followed as they arrive, and reorganisations are rolled back.
   */
  readonly confirmations: number | 'finalized';
  /** Whether to search traces for contracts created by contracts, if an endpoint provides them. */
  readonly traces: boolean;
  /** IPFS gateways that are tried first for contracts of this chain, before the common ones. */
  readonly gateways: readonly string[];
}

const MAX_CONFIRMATIONS = 10_000;
const MAX_GATEWAYS = 20;

/** Meaning of `monitor: true`. */
const DEFAULT_MONITOR: MonitoredChain = {
  from: 'head',
  confirmations: 0,
  traces: true,
  gateways: [],
};

/** An address that is safe to publish: without user information, query and fragment. */
function isGateway(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  return (
    ['http:', 'https:'].includes(protocol) &&
    username + password + search + hash === '' &&
    !/[@?#]/.test(value)
  );
}

const gateway = z
  .string()
  .refine(isGateway, {
    error: 'expected an http or https URL without query, such as https://ipfs.example.org',
  })
  .transform((value) => value.replace(/\/+$/, ''));

const FROM = 'expected head or the number of a block';
const CONFIRMATIONS = `expected a whole number from 0 to ${MAX_CONFIRMATIONS}, or finalized`;

const monitorFields = z.strictObject({
  from: z
    .union([z.literal('head'), z.int().min(0, { error: FROM })], { error: FROM })
    .default(DEFAULT_MONITOR.from),
  confirmations: z
    .union(
      [
        z.literal('finalized'),
        z.int().check(z.gte(0, CONFIRMATIONS), z.lte(MAX_CONFIRMATIONS, CONFIRMATIONS)),
      ],
      {
        error: CONFIRMATIONS,
      },
    )
    .default(DEFAULT_MONITOR.confirmations),
  traces: z.boolean().default(DEFAULT_MONITOR.traces),
  gateways: z
    .array(gateway)
    .max(MAX_GATEWAYS)
    .refine((all) => new Set(all).size === all.length, { error: 'expected each gateway once' })
    .default([]),
});

/** Keys below `monitor` of a chain. */
export const MONITOR_KEYS: readonly string[] = Object.keys(monitorFields.shape);

/** Shorthand for the object: `true` for all defaults, `false` for none. */
function spellOut(value: unknown): unknown {
  if (value === true) return {};
  return value === false ? undefined : value;
}

/** `monitor` of a chain: `true`, `false` (same as absent), or an object with the settings that differ from `true`. */
export const monitoredChainSchema = z.preprocess(spellOut, monitorFields.optional());
