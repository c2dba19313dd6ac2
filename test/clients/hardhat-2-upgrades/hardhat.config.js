const { subtask } = require('hardhat/config');
const { TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD } = require('hardhat/builtin-tasks/task-names');
require('@nomicfoundation/hardhat-ethers');
require('@nomicfoundation/hardhat-verify');
require('@openzeppelin/hardhat-upgrades');

// A compiler on this disk in place of one from the internet, as Hardhat documents it.
subtask(TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD, async ({ solcVersion }) => ({
  compilerPath: process.env.SOLJSON_PATH,
  isSolcJs: true,
  version: solcVersion,
  longVersion: process.env.SOLC_LONG_VERSION,
}));

// The service as a block explorer, where a test names it so; else over its own API.
const explorer = process.env.EXPLORER_URL;

module.exports = {
  solidity: { version: '0.8.37', settings: { optimizer: { enabled: true, runs: 200 } } },
  networks: { mychain: { url: process.env.RPC_URL, chainId: 424242 } },
  etherscan: {
    enabled: explorer !== undefined,
    // An object: of one key for all chains the plugin takes that it is for Etherscan itself.
    apiKey: { mychain: 'any' },
    customChains: [
      {
        network: 'mychain',
        chainId: 424242,
        urls: { apiURL: `${explorer}/etherscan/api`, browserURL: explorer },
      },
    ],
  },
  sourcify: {
    enabled: explorer === undefined,
    apiUrl: process.env.FULLMATCH_URL,
    browserUrl: process.env.FULLMATCH_REPOSITORY_URL,
  },
};
