import { Secret } from '../../lib/secret.ts';
import { type Finding } from './finding.ts';
import { hostOfRpc, isUsableRpc, judgeRpc, rpcKey, type RpcFault } from './public-rpc.ts';
import { type Endpoint, type FieldOrigin } from './registered-chain.ts';
import { type ServiceChain } from './service-chain.ts';

/** One source of a chain's endpoints; later layers of a chain override earlier ones. */
export interface EndpointLayer {
  readonly origin: FieldOrigin;
  /** Endpoints of the list come from strangers: they are used only if they may be published. */
  readonly fromList: boolean;
  readonly fields: Pick<ServiceChain, 'rpc' | 'extraRpc' | 'privateRpc'>;
}

/** The endpoints of a chain from all layers, and findings about them. */
export interface ChainEndpoints {
  /** Endpoints in the published record. */
  readonly rpc: readonly string[];
  readonly origin: FieldOrigin;
  readonly endpoints: readonly Endpoint[];
  readonly findings: readonly Finding[];
}

type EndpointField = keyof EndpointLayer['fields'];

interface Candidate {
  readonly url: string;
  readonly layer: EndpointLayer;
  /** Where the operator wrote it: the field and the position in it. */
  readonly field: EndpointField;
  readonly index: number;
  readonly fault: RpcFault | undefined;
}

const FAULT_TEXTS: Readonly<Record<RpcFault, string>> = {
  white_space: 'contains white space or a control character',
  placeholder: 'contains a placeholder without a value',
  unparsable: 'is not an absolute URL',
  bad_scheme: 'is neither http, https, ws nor wss',
  user_information: 'contains user information (name:password@)',
  private_host: 'names a private host',
};

/** `rpc` of a layer replaces the endpoints of earlier layers, `extraRpc` appends missing ones. */
function mergeCandidates(layers: readonly EndpointLayer[], local: boolean): readonly Candidate[] {
  let candidates: Candidate[] = [];
  for (const layer of layers) {
    const candidate = (field: EndpointField) => (url: string, index: number) => {
      return { url, layer, field, index, fault: judgeRpc(url, { local }) };
    };
    if (layer.fields.rpc !== undefined) candidates = layer.fields.rpc.map(candidate('rpc'));
    if (layer.fields.extraRpc === undefined) continue;
    const present = new Set(candidates.map(({ url }) => rpcKey(url)));
    for (const extra of layer.fields.extraRpc.map(candidate('extraRpc'))) {
      const key = rpcKey(extra.url);
      if (!present.has(key)) candidates.push(extra);
      present.add(key);
    }
  }
  return candidates;
}

function originOf(layers: readonly EndpointLayer[], candidates: readonly Candidate[]): FieldOrigin {
  const used = new Set(candidates.map(({ layer }) => layer));
  if (used.size > 0) return [...used].map(({ origin }) => origin).join(' + ');
  return layers.findLast(({ fields }) => fields.rpc !== undefined)?.origin ?? 'service';
}

/** One finding for all unpublishable endpoints of a list record. */
function reportLeftOut(chainId: number, candidates: readonly Candidate[]): readonly Finding[] {
  if (candidates.length === 0) return [];
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
      message: `Chain ${chainId}: ${total} of the list's endpoints skipped (${reasons.join(', ')}).`,
    },
  ];
}

function reportConfigured(
  chainId: number,
  { layer, field, index, fault }: Candidate,
): readonly Finding[] {
  if (layer.fromList || fault === undefined) return [];
  const usable = isUsableRpc(fault);
  const mend =
    fault === 'private_host'
      ? 'move it to privateRpc, or set local: true if the chain is your own'
      : 'move it to privateRpc';
  const message = usable
    ? `is used but not published: it ${FAULT_TEXTS[fault]}; ${mend}`
    : `is left out: it ${FAULT_TEXTS[fault]}; correct it`;
  const where = `${field}[${index}]`;
  return [
    {
      level: 'warning',
      code: usable ? 'configured_rpc_not_published' : 'configured_rpc_unusable',
      chainId,
      field: where,
      message: `Chain ${chainId}: ${where} ${message}.`,
    },
  ];
}

function reportPrivate(chainId: number, index: number, fault: RpcFault): Finding {
  return {
    level: 'warning',
    code: 'private_rpc_unusable',
    chainId,
    field: `privateRpc[${index}]`,
    message: `Chain ${chainId}: privateRpc[${index}] is skipped: it ${FAULT_TEXTS[fault]}; correct it.`,
  };
}

/** Endpoints that only the service sees: private ones, then configured ones that may not be published. */
function collectHidden(
  chainId: number,
  layers: readonly EndpointLayer[],
  faulty: readonly Candidate[],
  local: boolean,
): { readonly urls: ReadonlySet<string>; readonly findings: readonly Finding[] } {
  const urls = new Set<string>();
  const findings: Finding[] = [];
  const given = layers.findLast(({ fields }) => fields.privateRpc !== undefined)?.fields.privateRpc;
  for (const [index, secret] of (given ?? []).entries()) {
    const fault = judgeRpc(secret.reveal(), { local });
    if (fault === undefined || isUsableRpc(fault)) urls.add(secret.reveal());
    else findings.push(reportPrivate(chainId, index, fault));
  }
  for (const { url, layer, fault } of faulty) {
    if (!layer.fromList && isUsableRpc(fault)) urls.add(url);
  }
  return { urls, findings };
}

/** The first spelling of each URL, by {@link rpcKey}. */
function distinctUrls(urls: Iterable<string>): ReadonlyMap<string, string> {
  const byKey = new Map<string, string>();
  for (const url of urls) {
    const key = rpcKey(url);
    if (!byKey.has(key)) byKey.set(key, url);
  }
  return byKey;
}

/**
 * Merges the endpoints of a chain from its layers, lowest first: published endpoints (SPEC §1 rule 4),
 * endpoints that the service uses, and findings for the operator. Strings of one source stay byte-identical,
 * including duplicates; the service uses each URL only once, however it is spelled. A configured endpoint
 * that may not be published is used all the same, under an opaque label.
 */
export function mergeEndpoints(
  chainId: number,
  layers: readonly EndpointLayer[],
  local: boolean,
): ChainEndpoints {
  const candidates = mergeCandidates(layers, local);
  const faulty = candidates.filter(({ fault }) => fault !== undefined);
  const rpc = candidates.flatMap(({ url, fault }) => (fault === undefined ? [url] : []));
  const hidden = collectHidden(chainId, layers, faulty, local);
  const endpoints: Endpoint[] = [];
  const hiddenUrls = distinctUrls(hidden.urls);
  for (const url of hiddenUrls.values()) {
    const label = `private-${endpoints.length + 1}`;
    endpoints.push({ url: new Secret(url), label, public: false });
  }
  for (const [key, url] of distinctUrls(rpc)) {
    if (hiddenUrls.has(key)) continue;
    endpoints.push({ url: new Secret(url), label: hostOfRpc(url), public: true });
  }
  const findings = [
    ...reportLeftOut(chainId, faulty),
    ...faulty.flatMap((candidate) => reportConfigured(chainId, candidate)),
    ...hidden.findings,
  ];
  return { rpc, origin: originOf(layers, candidates), endpoints, findings };
}
