import { type HostUrls } from '../http-dependencies.ts';

/**
 * Describes the service to language models on one page: what it does, its endpoints and what its results
 * prove (llmstxt.org).
 */
export function renderLlmsText({ api = '', repository }: HostUrls): string {
  const statistics =
    repository === undefined
      ? ''
      : `- [Counts by chain](${repository}/stats.json): verified contracts per chain, full and partial
`;
  return `# Fullmatch

> A smart-contract verification service. It compiles sources and compares the result with the code on chain, byte for byte. A full match proves the sources, including names and comments; a partial match proves only the code.

Chains are identified by their decimal chain id, addresses by 0x and 40 hexadecimal digits. An address without a verified contract gets 404; this says nothing about the contract. If \`origin\` is \`imported\`, the match was reported by another service; \`trust\` says how far it was checked here.

## Endpoints

- [OpenAPI document](${api}/openapi.json): every request and response
- [Chains](${api}/chains): every known chain
- [One chain](${api}/v1/chains?order=relevance&q=ethereum): by name, short name or id
- [Contracts](${api}/v1/contracts/search?q=token): by address, name, code hash or creation transaction
- [One contract](${api}/v2/contract/1/0x00000000219ab540356cBB839Cbe05303d7705Fa?fields=sources,abi,compilation): its match, sources and ABI
${statistics}
## Verification

- [Methodology](${api}/counts): what a match proves and how contracts are counted
- [Verify with standard JSON](${api}/docs#post-v2-verify-chainid-address): \`POST ${api}/v2/verify/{chainId}/{address}\` returns a \`verificationId\`; \`GET ${api}/v2/verify/{verificationId}\` returns its state and, if it failed, the reason in \`error\`
`;
}
