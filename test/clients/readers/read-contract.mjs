// Prints what one of whatsabi's loaders returns for a contract.
import { loaders } from '@shazow/whatsabi';

const loader = new loaders.EtherscanV1ABILoader({ baseURL: process.env.EXPLORER_API_URL });
const { abi, name, compilerVersion, getSources } = await loader.getContract(process.env.CONTRACT);
const sources = await getSources?.();
const loaded = await loader.loadABI(process.env.CONTRACT);
console.log(JSON.stringify({ abi, name, compilerVersion, sources, loaded }));
