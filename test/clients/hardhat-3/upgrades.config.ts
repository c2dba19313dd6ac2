import hardhatVerify from '@nomicfoundation/hardhat-verify';
import hardhatUpgrades from '@openzeppelin/hardhat-upgrades';
import { defineConfig } from 'hardhat/config';
import config from './hardhat.config.ts';

export default defineConfig({
  ...config,
  plugins: [hardhatVerify, hardhatUpgrades],
  paths: { sources: 'upgradeable' },
  verify: {
    etherscan: { enabled: true, apiKey: 'any' },
    blockscout: { enabled: false },
    sourcify: { enabled: false },
  },
});
