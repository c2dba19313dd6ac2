// Deploys a proxy of each kind as in the guide of the plugin, and prints their addresses.
import { upgrades as connectUpgrades } from '@openzeppelin/hardhat-upgrades';
import hre from 'hardhat';

const connection = await hre.network.create();
const { ethers } = connection;
const upgrades = await connectUpgrades(hre, connection);

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
