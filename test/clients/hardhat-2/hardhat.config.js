const { subtask } = require('hardhat/config');
const { TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD } = require('hardhat/builtin-tasks/task-names');
require('@nomicfoundation/hardhat-verify');

// A compiler on this disk instead of one from the internet, as documented by Hardhat.
subtask(TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD, async ({ solcVersion }) => ({
  compilerPath: process.env.SOLJSON_PATH,
  isSolcJs: true,
  version: solcVersion,
  longVersion: process.env.SOLC_LONG_VERSION,
}));

// The service as a block explorer in tests that configure it that way, otherwise over its own API.
const explorer = process.env.EXPLORER_URL;

module.exports = {
  solidity: { version: '0.8.37', settings: { optimizer: { enabled: true, runs: 200 } } },
  networks: { mychain: { url: process.env.RPC_URL, chainId: 424242 } },
  etherscan: {
    enabled: explorer !== undefined,
    // An object: the plugin treats a single key for all chains as one for Etherscan itself.
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
