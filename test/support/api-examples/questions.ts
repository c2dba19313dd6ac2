import { type Hex } from '../../../src/lib/hex.ts';

/** The chain of the examples: no public list contains it, so no data of another chain is shown. */
export const DOCUMENTED_CHAIN_ID = 42424242;

/** Subjects of the documented requests. */
export interface ExampleFacts {
  /** A verified contract. */
  readonly address: Hex;
  /** Unverified contracts with the same bytecode: each verification request needs its own. */
  readonly unverified: () => Hex;
  readonly input: object;
  readonly metadata: string;
  readonly source: string;
  readonly creationCode: string;
  readonly runtimeCode: string;
  readonly transferSelector: string;
  readonly transferTopic: string;
  /** An ended job. */
  readonly jobId: string;
  readonly matchId: string;
}

/** A request, as far as the parameters' example values in the API description do not define it. */
export interface Question {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  /** Files of a multipart form: field names to file names and texts. The fields of `form` come first. */
  readonly files?: Readonly<Record<string, readonly [name: string, text: string]>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether its numbers differ between runs. */
  readonly isVolatile?: boolean;
}

const PATH = 'contracts/Token.sol';
const COMPILER = '0.8.37+commit.f401782d';

/** The documented requests by operation. */
export function questionsOf(facts: ExampleFacts): Readonly<Record<string, Question>> {
  const { address, unverified, input, metadata, source, jobId } = facts;
  const chainId = String(DOCUMENTED_CHAIN_ID);
  const files = { 'metadata.json': metadata, 'Token.sol': source };
  const volatile = { isVolatile: true };
  return {
    'GET /v1/chains': { query: { q: 'my chain', limit: '1' } },
    'GET /v1/registry': {},
    'GET /v1/chains/{ref}/icon': {},
    'GET /v1/chains/{ref}/health': volatile,
    'GET /v1/chains/{ref}/monitor': volatile,
    'POST /v2/verify/{chainId}/{address}': {
      path: { address: unverified() },
      json: {
        stdJsonInput: input,
        compilerVersion: COMPILER,
        contractIdentifier: `${PATH}:Token`,
      },
    },
    'POST /v2/verify/metadata/{chainId}/{address}': {
      path: { address: unverified() },
      json: { sources: { [PATH]: source }, metadata: JSON.parse(metadata) as unknown },
    },
    'POST /v2/verify/similarity/{chainId}/{address}': { path: { address: unverified() }, json: {} },
    'POST /v2/verify/etherscan/{chainId}/{address}': { path: { address: unverified() }, json: {} },
    'GET /v2/verify/{verificationId}': { path: { verificationId: jobId } },
    'GET /v2/contract/{chainId}/{address}': { query: { fields: 'compilation' } },
    'POST /': { json: { chain: chainId, address, files } },
    'POST /verify': { json: { chain: chainId, address, files } },
    'POST /v1/verify/sources/{chainId}/{address}': {
      path: { address: unverified() },
      json: {
        files: { [PATH]: source },
        compilerVersion: COMPILER,
        optimizer: { enabled: true, runs: 200 },
      },
    },
    'GET /v1/verify/proposal/{chainId}/{address}': {},
    'GET /check-all-by-addresses': { query: { addresses: address, chainIds: chainId } },
    'GET /checkAllByAddresses': { query: { addresses: address, chainIds: chainId } },
    'GET /check-by-addresses': { query: { addresses: address, chainIds: chainId } },
    'GET /checkByAddresses': { query: { addresses: address, chainIds: chainId } },
    'GET /files/contracts/{match}/{chainId}': { path: { match: 'full' } },
    'GET /repository/contracts/{matchFolder}/{chainId}/{address}/{path}': {
      path: { matchFolder: 'full_match', path: `sources/${PATH}` },
    },
    'GET /signature-database/v1/lookup': { query: { function: facts.transferSelector } },
    'GET /signature-database/v1/search': { query: { query: 'transfer*' } },
    'POST /signature-database/v1/import': {
      json: { function: ['mint(address,uint256)'], event: [] },
    },
    'GET /signature-database/v1/stats': {},
    ...etherscan(facts, chainId),
    ...blockscout(facts, chainId),
    ...blockscoutApi(facts),
    'GET /v1/statistics': volatile,
    'GET /v1/statistics/history': { query: { interval: 'month' } },
    'GET /v1/events': { headers: { 'last-event-id': '0' }, ...volatile },
    'GET /v1/contracts': { query: { limit: '1' } },
    'GET /v1/contracts/search': { query: { q: 'token', limit: '1' } },
    'GET /v1/contracts/{chainId}/{address}/alternatives/{matchId}': {
      path: { matchId: facts.matchId },
    },
    'GET /v1/contracts/{chainId}/{address}': volatile,
    'GET /v1/jobs/{id}': { path: { id: jobId } },
    'GET /job/{id}': { path: { id: jobId } },
    'POST /v1/jobs/{id}/cancel': { path: { id: jobId } },
    'GET /v1/contracts/{chainId}/{address}/files/{file}': { path: { file: 'abi.json' } },
    'GET /badge/{chainId}/{file}': { path: { file: `${address}.svg` } },
    'GET /card/{chainId}/{file}': { path: { file: `${address}.png` } },
    'GET /card/{file}': { path: { file: `${chainId}.png` } },
    'POST /mcp': {
      json: {
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'find_contract', arguments: { query: 'token' } },
      },
      headers: { accept: 'application/json, text/event-stream' },
    },
    'POST /v1/contracts/{chainId}/{address}/list': {
      json: {},
      headers: { authorization: 'Bearer 0123456789ABCDEF' },
    },
    'GET /verify-ui/jobs/{verificationId}': { path: { verificationId: jobId } },
    'GET /health': volatile,
    'GET /readyz': volatile,
    'GET /manifest.json': volatile,
    'GET /contracts/{matchFolder}': { path: { matchFolder: 'full_match' } },
    'GET /contracts/{matchFolder}/{chainId}': { path: { matchFolder: 'full_match' } },
    'GET /contracts/{matchFolder}/{chainId}/{address}': { path: { matchFolder: 'full_match' } },
    'GET /contracts/{matchFolder}/{chainId}/{address}/{path}': {
      path: { matchFolder: 'full_match', path: 'metadata.json' },
    },
    'GET /state': volatile,
    'POST /jobs/{id}/cancel': { path: { id: jobId } },
  };
}

/** The same protocol below several base paths. */
function etherscan(
  { address, unverified, input }: ExampleFacts,
  chainId: string,
): Record<string, Question> {
  const own = ['etherscan', 'blockscout'].flatMap((dialect) => [
    `/evm/{chainId}/${dialect}`,
    `/evm/{chainId}/${dialect}/api`,
  ]);
  return Object.fromEntries(
    ['/api', '/v2/api', ...own].flatMap((base): [string, Question][] => {
      const chain = base.startsWith('/evm') ? {} : { chainid: chainId };
      return [
        [
          `GET ${base}`,
          { query: { module: 'contract', action: 'getsourcecode', address, ...chain } },
        ],
        [
          `POST ${base}`,
          {
            ...(base.startsWith('/evm') ? {} : { query: chain }),
            form: {
              ...{ module: 'contract', action: 'verifysourcecode' },
              ...{ contractaddress: unverified(), codeformat: 'solidity-standard-json-input' },
              ...{ contractname: `${PATH}:Token`, compilerversion: `v${COMPILER}` },
              sourceCode: JSON.stringify(input),
            },
          },
        ],
      ];
    }),
  );
}

function blockscout(
  {
    address,
    unverified,
    input,
    metadata,
    source,
    creationCode,
    runtimeCode,
    ...facts
  }: ExampleFacts,
  chainId: string,
): Record<string, Question> {
  const verifier = 'POST /blockscout/api/v2/verifier';
  const code = { bytecode: creationCode, bytecodeType: 'CREATION_INPUT' };
  const compiler = { compilerVersion: `v${COMPILER}` };
  const whole = { ...compiler, input: JSON.stringify(input) };
  const parts = { sourceFiles: { [PATH]: source }, optimizationRuns: 200 };
  const vyper = { ...code, compilerVersion: 'v0.4.3+commit.bff19ea2' };
  const place = { chain: chainId, address };
  const topics = facts.transferTopic;
  const wordOf = (text: string): string => text.replace(/^0x/, '').padStart(64, '0');
  const call = `${facts.transferSelector}${wordOf(address)}${wordOf('0x05')}`;
  const event = {
    data: `0x${wordOf('0x05')}`,
    topics: `${topics},0x${wordOf(address)},0x${wordOf(address)}`,
  };
  return {
    [`${verifier}/solidity/sources:verify-standard-json`]: { json: { ...code, ...whole } },
    [`${verifier}/solidity/sources:verify-multi-part`]: {
      json: { ...code, ...compiler, ...parts },
    },
    [`${verifier}/vyper/sources:verify-standard-json`]: { json: { ...vyper, input: '{}' } },
    [`${verifier}/vyper/sources:verify-multi-part`]: {
      json: { ...vyper, sourceFiles: { 'a.vy': 'x: uint256' } },
    },
    [`${verifier}/solidity/sources:batch-verify-standard-json`]: {
      json: { contracts: [{ creationCode, runtimeCode }], ...whole },
    },
    [`${verifier}/solidity/sources:batch-verify-multi-part`]: {
      json: {
        contracts: [{ creationCode }],
        ...{ ...compiler, sources: { [PATH]: source }, optimizationRuns: 200 },
      },
    },
    [`${verifier}/solidity/methods:lookup`]: {
      json: { bytecode: runtimeCode, abi: '[]', sourceMap: '', fileIds: { 0: PATH } },
    },
    [`${verifier}/sourcify/sources:verify`]: {
      json: {
        ...{ chain: chainId, address: unverified() },
        files: { 'metadata.json': metadata, 'Token.sol': source },
      },
    },
    [`${verifier}/sourcify/sources:verify-from-etherscan`]: {
      json: { chain: chainId, address: unverified() },
    },
    'POST /blockscout/api/v1/signatures': {
      json: { abi: '[{"type":"function","name":"burn","inputs":[{"type":"uint256"}]}]' },
    },
    'GET /blockscout/api/v1/abi/function': { query: { txInput: call } },
    'GET /blockscout/api/v1/abi/event': { query: event },
    'POST /blockscout/api/v1/abi/events:batch-get': { json: { requests: [event] } },
    'POST /blockscout/api/v2/bytecodes/sources:search': { json: code },
    'POST /blockscout/api/v2/bytecodes/sources:search-sourcify': { json: place },
    'POST /blockscout/api/v2/bytecodes/sources:search-alliance': { json: place },
    'POST /blockscout/api/v2/bytecodes/sources:search-all': { json: { ...code, ...place } },
    'POST /blockscout/api/v2/event-descriptions:search': { json: { selector: topics } },
    'POST /blockscout/api/v2/event-descriptions:batch-search': { json: { selectors: [topics] } },
    'GET /blockscout/api/v2/alliance/stats': { isVolatile: true },
  };
}

/** Blockscout's API v2. */
function blockscoutApi({
  unverified,
  input,
  metadata,
  source,
}: ExampleFacts): Record<string, Question> {
  const via = 'POST /evm/{chainId}/blockscout/api/v2/smart-contracts/{address}/verification/via';
  const compiler = { compiler_version: `v${COMPILER}` };
  const optimizer = { is_optimization_enabled: 'true', optimization_runs: '200' };
  const vyper = { compiler_version: 'v0.4.3+commit.bff19ea2' };
  const vyperInput = { language: 'Vyper', sources: { 'a.vy': { content: 'x: uint256' } } };
  const inputFile = (text: object) => ({
    'files[0]': ['input.json', JSON.stringify(text)] as const,
  });
  const ask = (question: Question): Question => ({ path: { address: unverified() }, ...question });
  return {
    'GET /evm/{chainId}/blockscout/api/v2/smart-contracts/verification/config': {},
    'GET /evm/{chainId}/blockscout/api/v2/smart-contracts/{address}': {},
    [`${via}/standard-input`]: ask({ form: compiler, files: inputFile(input) }),
    [`${via}/vyper-standard-input`]: ask({ form: vyper, files: inputFile(vyperInput) }),
    [`${via}/flattened-code`]: ask({
      json: { ...compiler, ...optimizer, contract_name: 'Token', source_code: source },
    }),
    [`${via}/multi-part`]: ask({
      form: { ...compiler, ...optimizer },
      files: { 'files[0]': [PATH, source] },
    }),
    [`${via}/vyper-code`]: ask({
      json: { ...vyper, contract_name: 'a', source_code: 'x: uint256' },
    }),
    [`${via}/vyper-multi-part`]: ask({
      form: vyper,
      files: { 'files[0]': ['a.vy', 'x: uint256'] },
    }),
    [`${via}/sourcify`]: ask({
      files: { 'files[0]': ['metadata.json', metadata], 'files[1]': ['Token.sol', source] },
    }),
  };
}
