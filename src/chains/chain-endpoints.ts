import { Secret } from '../lib/secret.ts';
import { type Finding } from './finding.ts';
import { isUsableRpc, judgeRpc, type RpcFault } from './public-rpc.ts';
import { type Endpoint, type FieldOrigin } from './registered-chain.ts';

/** One source of a chain's endpoints; later layers of a chain win over earlier ones. */
export interface EndpointLayer {
  readonly origin: FieldOrigin;
  /** The list's endpoints are strangers': they are asked only when anyone may see them. */
  readonly fromList: boolean;
  readonly rpc?: readonly string[];
  readonly extraRpc?: readonly string[];
  readonly privateRpc?: readonly Secret[];
}

/** What came of a chain's endpoints. */
export interface ChainEndpoints {
  /** What the record publishes. */
  readonly rpc: readonly string[];
  readonly origin: FieldOrigin;
  readonly endpoints: readonly Endpoint[];
  readonly findings: readonly Finding[];
}

interface Candidate {
  readonly url: string;
  readonly layer: EndpointLayer;
  /** Where the operator wrote it: `rpc[0]`. */
  readonly field: string;
  readonly fault: RpcFault | undefined;
}

const FAULT_TEXTS: Readonly<Record<RpcFault, string>> = {
  white_space: 'holds white space or a control character',
  placeholder: 'holds a placeholder that nothing fills',
  unparsable: 'is no absolute URL',
  bad_scheme: 'is neither http, https, ws nor wss',
  user_information: 'holds user information (name:password@)',
  private_host: 'names a private host',
};

/** `rpc` of a layer replaces what earlier layers gave, `extraRpc` appends what is not there yet. */
function mergeCandidates(layers: readonly EndpointLayer[], local: boolean): readonly Candidate[] {
  let candidates: Candidate[] = [];
  for (const layer of layers) {
    const candidate = (name: string) => (url: string, index: number) => ({
      url,
      layer,
      field: `${name}[${index}]`,
      fault: judgeRpc(url, { local }),
    });
    if (layer.rpc !== undefined) candidates = layer.rpc.map(candidate('rpc'));
    const present = new Set(candidates.map(({ url }) => url));
    for (const extra of (layer.extraRpc ?? []).map(candidate('extraRpc'))) {
      if (!present.has(extra.url)) candidates.push(extra);
      present.add(extra.url);
    }
  }
  return candidates;
}

function originOf(layers: readonly EndpointLayer[], candidates: readonly Candidate[]): FieldOrigin {
  const base = layers.findLast((layer) => layer.rpc !== undefined);
  const used = layers.filter(
    (layer) => layer === base || candidates.some((c) => c.layer === layer),
  );
  return used.length === 0 ? 'service' : used.map((layer) => layer.origin).join(' + ');
}

/** One finding for all that a list's record holds and nobody may see. */
function reportLeftOut(chainId: number, candidates: readonly Candidate[]): readonly Finding[] {
  const counts = new Map<RpcFault, number>();
  for (const { layer, fault } of candidates) {
    if (layer.fromList && fault !== undefined) counts.set(fault, (counts.get(fault) ?? 0) + 1);
  }
  if (counts.size === 0) return [];
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const reasons = [...counts].sort().map(([fault, count]) => `${fault} ${count}`);
  return [
    {
      level: 'info',
      code: 'rpc_left_out',
      chainId,
      field: 'rpc',
      message: `Chain ${chainId}: ${total} of the list's endpoints left out (${reasons.join(', ')}).`,
    },
  ];
}

function reportConfigured(chainId: number, { layer, field, fault }: Candidate): readonly Finding[] {
  if (layer.fromList || fault === undefined) return [];
  const usable = isUsableRpc(fault);
  const mend =
    fault === 'private_host'
      ? 'move it to privateRpc, or set local: true when the chain is your own'
      : 'move it to privateRpc';
  const message = usable
    ? `is used but not published: it ${FAULT_TEXTS[fault]}; ${mend}`
    : `is left out: it ${FAULT_TEXTS[fault]}; correct it`;
  return [
    {
      level: 'warning',
      code: usable ? 'configured_rpc_not_published' : 'configured_rpc_unusable',
      chainId,
      field,
      message: `Chain ${chainId}: ${field} ${message}.`,
    },
  ];
}

function reportPrivate(chainId: number, index: number, fault: RpcFault): Finding {
  return {
    level: 'warning',
    code: 'private_rpc_unusable',
    chainId,
    field: `privateRpc[${index}]`,
    message: `Chain ${chainId}: privateRpc[${index}] is left out: it ${FAULT_TEXTS[fault]}; correct it.`,
  };
}

/**
 * The endpoints of a chain from its layers, lowest first: what is published (SPEC §1 rule 4), what the service asks,
 * and what the operator should know. Strings of one source stay byte-identical, repeated ones included; the service
 * asks each only once. A configured endpoint that nobody may see is asked all the same, under an opaque label.
 */
export function mergeEndpoints(
  chainId: number,
  layers: readonly EndpointLayer[],
  local: boolean,
): ChainEndpoints {
  const candidates = mergeCandidates(layers, local);
  const published = candidates.filter(({ fault }) => fault === undefined);
  const findings: Finding[] = [
    ...reportLeftOut(chainId, candidates),
    ...candidates.flatMap((candidate) => reportConfigured(chainId, candidate)),
  ];

  const hidden: string[] = [];
  const given = layers.findLast((layer) => layer.privateRpc !== undefined)?.privateRpc ?? [];
  for (const [index, secret] of given.entries()) {
    const fault = judgeRpc(secret.reveal(), { local });
    if (fault === undefined || isUsableRpc(fault)) hidden.push(secret.reveal());
    else findings.push(reportPrivate(chainId, index, fault));
  }
  for (const { url, layer, fault } of candidates) {
    if (!layer.fromList && fault !== undefined && isUsableRpc(fault)) hidden.push(url);
  }

  const privateUrls = [...new Set(hidden)];
  const publicUrls = [...new Set(published.map(({ url }) => url))].filter(
    (url) => !hidden.includes(url),
  );
  const endpoints = [
    ...privateUrls.map((url, index) => ({
      url: new Secret(url),
      label: `private-${index + 1}`,
      public: false,
    })),
    ...publicUrls.map((url) => ({ url: new Secret(url), label: new URL(url).host, public: true })),
  ];
  return {
    rpc: published.map(({ url }) => url),
    origin: originOf(layers, candidates),
    endpoints,
    findings,
  };
}
