import hardhatVerify from '@nomicfoundation/hardhat-verify';
import { configVariable, defineConfig } from 'hardhat/config';

// The service as a block explorer, for tests that configure it that way.
const explorer = process.env.EXPLORER_URL ?? 'http://127.0.0.1:1';

export default defineConfig({
  plugins: [hardhatVerify],
  solidity: {
    version: '0.8.37',
    // A compiler on this disk instead of one from the internet.
    path: process.env.SOLJSON_PATH,
  },
  networks: {
    mychain: {
      type: 'http',
      chainType: 'generic',
      chainId: 424242,
      url: configVariable('RPC_URL'),
    },
  },
  chainDescriptors: {
    424242: {
      name: 'My chain',
      chainType: 'generic',
      blockExplorers: {
        etherscan: { url: explorer, apiUrl: `${process.env.FULLMATCH_URL}/v2/api` },
        blockscout: { url: explorer, apiUrl: `${explorer}/blockscout/api` },
      },
    },
  },
  verify: {
    etherscan: { enabled: false, apiKey: 'any' },
    blockscout: { enabled: false },
    sourcify: { enabled: true, apiUrl: process.env.FULLMATCH_URL },
  },
});
