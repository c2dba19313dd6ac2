import hardhatVerify from '@nomicfoundation/hardhat-verify';
import { configVariable, defineConfig } from 'hardhat/config';

export default defineConfig({
  plugins: [hardhatVerify],
  solidity: {
    version: '0.8.37',
    // A compiler on this disk in place of one from the internet.
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
    424242: { name: 'My chain', chainType: 'generic' },
  },
  verify: {
    etherscan: { enabled: false },
    blockscout: { enabled: false },
    sourcify: { enabled: true, apiUrl: process.env.FULLMATCH_URL },
  },
});
