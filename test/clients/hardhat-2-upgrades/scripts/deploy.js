// Deploys a proxy as the guide of the plugin does, and prints its address: KIND is transparent, uups or beacon.
const { ethers, upgrades } = require('hardhat');

async function main() {
  const kind = process.env.KIND;
  if (kind === 'beacon') {
    const Box = await ethers.getContractFactory('Box');
    const beacon = await upgrades.deployBeacon(Box);
    await beacon.waitForDeployment();
    const proxy = await upgrades.deployBeaconProxy(beacon, Box, [7]);
    await proxy.waitForDeployment();
    console.log(`proxy ${await proxy.getAddress()}`);
    return;
  }
  const Box = await ethers.getContractFactory(kind === 'uups' ? 'OwnUpgradedBox' : 'Box');
  const proxy = await upgrades.deployProxy(Box, [7], { kind });
  await proxy.waitForDeployment();
  console.log(`proxy ${await proxy.getAddress()}`);
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
