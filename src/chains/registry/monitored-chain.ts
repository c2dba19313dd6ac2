import { z } from 'zod';

/** How a chain is monitored. */
export interface MonitoredChain {
  /** The first block that is followed: that of the moment when the chain is first monitored, or a number. */
  readonly from: 'head' | number;
  /**
   * How many blocks the monitor stays behind the newest, or `finalized` to follow only blocks that the chain calls final. With 0, the
   * default, blocks are followed as they come, and what the chain replaces is rolled back.
   */
  readonly confirmations: number | 'finalized';
  /** Whether contracts made by contracts are looked for in traces, where an endpoint has them. */
  readonly traces: boolean;
  /** Gateways of IPFS that are asked first for contracts of this chain; the common ones follow. */
  readonly gateways: readonly string[];
}

const MAX_CONFIRMATIONS = 10_000;
const MAX_GATEWAYS = 20;

/** What `monitor: true` stands for. */
const DEFAULT_MONITOR: MonitoredChain = {
  from: 'head',
  confirmations: 0,
  traces: true,
  gateways: [],
};

/** An address that can be shown to anyone: without user information, query and fragment. */
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

/** The keys below `monitor` of a chain. */
export const MONITOR_KEYS: readonly string[] = Object.keys(monitorFields.shape);

/** What stands for the object: `true` for all defaults, `false` for nothing. */
function spellOut(value: unknown): unknown {
  if (value === true) return {};
  return value === false ? undefined : value;
}

/** `monitor` of a chain: `true`, `false` (which is as good as absent), or what differs from `true`. */
export const monitoredChainSchema = z.preprocess(spellOut, monitorFields.optional());
