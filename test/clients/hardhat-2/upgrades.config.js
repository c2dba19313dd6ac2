require('@nomicfoundation/hardhat-ethers');
require('@openzeppelin/hardhat-upgrades');

module.exports = { ...require('./hardhat.config.js'), paths: { sources: 'upgradeable' } };
