// Prints what whatsabi's Blockscout loader returns for a contract.
import { loaders } from '@shazow/whatsabi';

const loader = new loaders.BlockscoutABILoader({ baseURL: process.env.EXPLORER_API_URL });
const read = await loader.getContract(process.env.CONTRACT);
const { ok, abi, name, compilerVersion, runs, evmVersion } = read;
const sources = await read.getSources?.();
const loaded = await loader.loadABI(process.env.CONTRACT);
console.log(JSON.stringify({ ok, abi, name, compilerVersion, runs, evmVersion, sources, loaded }));
