import { type HostUrls } from '../http-parts.ts';

/**
 * What a program that reads text is told of this service: what it is, what it answers, and how far its answers go
 * (llmstxt.org).
 */
export function renderLlmsText({ api = '', repository }: HostUrls): string {
  const statistics =
    repository === undefined
      ? ''
      : `- [Counts by chain](${repository}/stats.json): verified contracts of each chain, full and partial
`;
  return `# Fullmatch

> A service that verifies smart contracts: it compiles sources, and holds the result against the code on chain, byte for byte. A full match proves the sources with their names and comments; a partial match proves the code alone.

Chains are named by their id in decimal digits. Addresses have 0x and 40 hexadecimal digits. What is not verified answers 404, which says nothing about a contract. A contract whose \`origin\` is \`imported\` is the claim of another service, and was not checked here.

## Look-ups

- [The API](${api}/openapi.json): every request and answer, as OpenAPI
- [Chains](${api}/chains): every chain that is known
- [One chain](${api}/v1/chains?order=relevance&q=ethereum): by name, short name or id
- [Contracts](${api}/v1/contracts/search?q=token): by address, name, code hash or creation transaction
- [One contract](${api}/v2/contract/1/0x00000000219ab540356cBB839Cbe05303d7705Fa?fields=sources,abi,compilation): its match, sources and ABI
${statistics}
## Verification

- [Methodology](${api}/counts): what a match says, and what is counted
- [A standard JSON input](${api}/docs#post-v2-verify-chainid-address): \`POST ${api}/v2/verify/{chainId}/{address}\` answers with a \`verificationId\`, whose state is at \`GET ${api}/v2/verify/{verificationId}\`; a failure says why in \`error\`
`;
}
