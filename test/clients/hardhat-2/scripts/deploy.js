// Deploys a proxy of each kind as in the guide of the plugin, and prints their addresses.
const { ethers, upgrades } = require('hardhat');

async function main() {
  const Box = await ethers.getContractFactory('Box');
  const OwnUpgradedBox = await ethers.getContractFactory('OwnUpgradedBox');
  const beacon = await upgrades.deployBeacon(Box);
  await beacon.waitForDeployment();
  const proxies = {
    transparent: await upgrades.deployProxy(Box, [7], { kind: 'transparent' }),
    uups: await upgrades.deployProxy(OwnUpgradedBox, [7], { kind: 'uups' }),
    beacon: await upgrades.deployBeaconProxy(beacon, Box, [7]),
  };
  for (const [kind, proxy] of Object.entries(proxies)) {
    await proxy.waitForDeployment();
    console.log(`${kind} ${await proxy.getAddress()}`);
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
