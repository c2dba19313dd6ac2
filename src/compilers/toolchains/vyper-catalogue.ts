import { type Catalogue } from './toolchain.ts';

/**
 * Long version, path below the releases of the compiler, SHA-256 of that file: the native builds for Linux on
 * x64. The file names are irregular: prereleases lose their dash, commits are truncated up to 0.3.0, and
 * 0.3.1 has none.
 */
const TABLE = `
0.1.0-beta.16+commit.5e4a94ad v0.1.0-beta.16/vyper.0.1.0-beta.16+commit.5e4a94a.linux eb90aca57b7b956f2dd1c38ee4bfa6875baab5e32d65727b5471926f48a394aa
0.1.0-beta.17+commit.0671b7bb v0.1.0-beta.17/vyper.0.1.0-beta.17+commit.0671b7b.linux c472df425cb1fa5885ba96e20ae885d0fdb459cc85e306a8bd2849ee0684f2bc
0.2.0+commit.d2c0c87a v0.2.0/vyper.0.2.0+commit.d2c0c87.linux 4e5670abcc6dd67737e7f92b1188d9b993746bc07fdce8f8bafffb011a1ef316
0.2.1+commit.cac3d7d9 v0.2.1/vyper.0.2.1+commit.cac3d7d.linux 0eeda7afebbfd8c8bddd4126dfcfb92f7b4505196a0220ef624a3f90789ac290
0.2.2+commit.337c2efc v0.2.2/vyper.0.2.2+commit.337c2ef.linux d23c62a42eece51cba68b1423b201a98b866a457385bd9535d83cac24751c812
0.2.3+commit.006968f0 v0.2.3/vyper.0.2.3+commit.006968f.linux a27ed62a4ac03213d6b918fdf967c86bb70d3738d7bb05d20d7604e6512e2f07
0.2.4+commit.7949850c v0.2.4/vyper.0.2.4+commit.7949850.linux e7cbe92d6a1734bcd489051812d80c3fbcd14cd1df8638b781af0e5251036f12
0.2.5+commit.a0c561cb v0.2.5/vyper.0.2.5+commit.a0c561c.linux 1a202f239f332a6f88db6127082e4316d813c257040df90a78436afb5b586d08
0.2.6+commit.35467d57 v0.2.6/vyper.0.2.6+commit.35467d5.linux a21b0bf59bc7f53ebc6f33ce3bdddb79cf2cef534245dcd1e9a2797ad15750da
0.2.7+commit.0b3f3b32 v0.2.7/vyper.0.2.7+commit.0b3f3b3.linux dfd121138238b2efa698d5747f72beb2f02e43767b844ab2a6b311d121efc16c
0.2.8+commit.069936fa v0.2.8/vyper.0.2.8+commit.069936f.linux c6d5644546d8712bf11579812e680a99fb181c767d75e30371ad46ec3d8e7994
0.2.11+commit.5db35ef4 v0.2.11/vyper.0.2.11+commit.5db35ef.linux ac10f8a7d5a02b0ad67e70a52a66f5532647e763cb2255bf466b772a09cc1a70
0.2.12+commit.2c6842cd v0.2.12/vyper.0.2.12+commit.2c6842c.linux ee5b828e65546b43907cb3ddb0a1e12b9a146f8fc921825f12a3deea5c2da643
0.2.15+commit.6e7dba7a v0.2.15/vyper.0.2.15+commit.6e7dba7.linux d115253c05e5f629ef8ba2a781fcd60f3dbfb994863c1ffc6e6c00b03c81fdb2
0.2.16+commit.59e1bdd9 v0.2.16/vyper.0.2.16+commit.59e1bdd.linux 111340f714f537eb0ec4fc05335caf00e2e3ca4f354784bc6c7fb97d5678a529
0.3.0+commit.8a23febb v0.3.0/vyper.0.3.0+commit.8a23feb.linux 9a511ee7fa01a8b8f4cbee4be5efc793592b8b4060b14115e33769ddedfd38a6
0.3.1+commit.0463ea4c v0.3.1/vyper.0.3.1.linux 80e272d9266be85ba6fe4bdcf0705292069b1b2bd29133e807e98f061909858c
0.3.2+commit.3b6a4117 v0.3.2/vyper.0.3.2+commit.3b6a4117.linux 7101527cc0976468a07087e98438e88e372c02002a5b8c8c6c411517176c2592
0.3.3+commit.48e326f0 v0.3.3/vyper.0.3.3+commit.48e326f0.linux 0529bd9ee5ad692774085219ba71ccc147a6bb397b3769f50321250502f347bb
0.3.4+commit.f31f0ec4 v0.3.4/vyper.0.3.4+commit.f31f0ec4.linux 9821a075a87b9da70fec082d9c209c6dae37066338c3f4fb5cc4965cde870bfa
0.3.6+commit.4a2124d0 v0.3.6/vyper.0.3.6+commit.4a2124d0.linux c7086c7995d52a53bbc8c7dfdb45390f714c07332bf6bb321b488983f4a6cc67
0.3.7+commit.6020b8bb v0.3.7/vyper.0.3.7+commit.6020b8bb.linux 00fe707d385952d66c2eefd61fc4c69c293a1496a1618b463244dd985dc12540
0.3.8+commit.036f1536 v0.3.8/vyper.0.3.8+commit.036f1536.linux 3413920cbb8f01149eb276aebc988b4eead3b1e821aaba467716dc0d9e3366b5
0.3.9+commit.66b96705 v0.3.9/vyper.0.3.9+commit.66b96705.linux 72470456d4e387950e58a3f5af97482c76cfe8753e5f7df63a50b3a9712e4fc8
0.3.10-rc2+commit.0cb37e3e v0.3.10rc2/vyper.0.3.10rc2+commit.0cb37e3e.linux 825f450781355b024478fc5e0719604d590566d88b8f75e4fd48669f5493e7a2
0.3.10-rc3+commit.3b310d52 v0.3.10rc3/vyper.0.3.10rc3+commit.3b310d52.linux ae2f90f5d343ba1fc8087118626f60385a70a31b790ea2b1f138b95bb6925eaa
0.3.10-rc4+commit.2bdbd846 v0.3.10rc4/vyper.0.3.10rc4+commit.2bdbd846.linux 08c2e53e5510df3ef1e820a6e428cfe8ee3ba31ca0a738907c4b4db0b8e5dfb5
0.3.10-rc5+commit.42817806 v0.3.10rc5/vyper.0.3.10rc5+commit.42817806.linux d22714e3be63a357da4851d8c8bcaffa658b8884af3073e29fd24812e3a2f224
0.3.10+commit.91361694 v0.3.10/vyper.0.3.10+commit.91361694.linux df50fe2d8f5c305abbefb589bcea14019dd3f1012ed1baa717035167a6ddc1c5
0.4.0-b1+commit.6fb750af v0.4.0b1/vyper.0.4.0b1+commit.6fb750af.linux b61a49bb71cecbd03071db3e10a9dda9b136c206fa6f3dad809a67a1781b333a
0.4.0-b4+commit.541b2e75 v0.4.0b4/vyper.0.4.0b4+commit.541b2e75.linux db93f6ea14868e7bb640f3694f994c8c9fd9c046812a07c8d369ff8dc7571c8d
0.4.0-b5+commit.a9ee6414 v0.4.0b5/vyper.0.4.0b5+commit.a9ee6414.linux 9acd5ab41b6c71637b1405f426e07a9d4c6645a24c9448950d5bcafbb872a962
0.4.0-b6+commit.7485ceab v0.4.0b6/vyper.0.4.0b6+commit.7485ceab.linux d292f9ff4d13ce9b1cc69ccf0f02614482263ef48bb8d4099738f3d24602b462
0.4.0-rc1+commit.44a593a0 v0.4.0rc1/vyper.0.4.0rc1+commit.44a593a0.linux d26a9faea6da16b41c067e57df28e7c59fd082b3b82262e624631d5750c025ea
0.4.0-rc2+commit.6f09e296 v0.4.0rc2/vyper.0.4.0rc2+commit.6f09e296.linux da3eb34a5eaa6f51a5e60f894acd0a81b54309dd3734c1def98eaa9921e70813
0.4.0-rc3+commit.f2136550 v0.4.0rc3/vyper.0.4.0rc3+commit.f2136550.linux a9fe8dbc03c3170dd7fdf65a654548e862fd9a9c1c800a5c71a18c48c4b2f0f6
0.4.0-rc4+commit.41a3e084 v0.4.0rc4/vyper.0.4.0rc4+commit.41a3e084.linux d38ec5843d75d6ccb2c8499e8675e2fca8df03ff8e7fdd5e402fe640c48e5287
0.4.0-rc5+commit.98370f50 v0.4.0rc5/vyper.0.4.0rc5+commit.98370f50.linux d4922c00c60a2caaf839fb446670d640774dca24cba1ad0d1df4c81e2ed76d7e
0.4.0-rc6+commit.33719560 v0.4.0rc6/vyper.0.4.0rc6+commit.33719560.linux e7692d2b8df813e8fcabe343f61790d376d35e885943db594630d5488b94a573
0.4.0+commit.e9db8d9f v0.4.0/vyper.0.4.0+commit.e9db8d9f.linux dab657bd826f1db92e54eb92d87f5efc8808fce40805dfe4cfbf416958fae019
0.4.1-b1+commit.039d3692 v0.4.1b1/vyper.0.4.1b1+commit.039d3692.linux 606970ac97fde7072593c33f4b75ca348754f4e962769432931f49fd6d174a26
0.4.1-b2+commit.f249c936 v0.4.1b2/vyper.0.4.1b2+commit.f249c936.linux 22424d1e8a7494e8af717a08ff01baed0f4298dc73d092d1a98681e73cb62fb8
0.4.1-b3+commit.537313b0 v0.4.1b3/vyper.0.4.1b3+commit.537313b0.linux d3620c37efb17f0bbff9898ea181716e6f3731f77ee679337ba124b38d3984f1
0.4.1-b4+commit.4507d2a6 v0.4.1b4/vyper.0.4.1b4+commit.4507d2a6.linux 16ce65cab1ac8610dc24059831f88f6e67b60ffbeadf3dd0c759d696319bb4fa
0.4.1-rc1+commit.4d693b72 v0.4.1rc1/vyper.0.4.1rc1+commit.4d693b72.linux 133cc014a84abfb33c4a4167400bc1bab5dfc105de6426aa356ede81b7bff6e9
0.4.1-rc2+commit.305813c9 v0.4.1rc2/vyper.0.4.1rc2+commit.305813c9.linux a0fbb81805751a2621f912edf880825af2da8b1658e73f100471cdaeddde5bda
0.4.1-rc3+commit.1339177d v0.4.1rc3/vyper.0.4.1rc3+commit.1339177d.linux 2f91c1b289f0b84b72ad48b216a29e2b25c83dc4384c4a3e2e5bb26f3502f2c8
0.4.1+commit.8a93dd27 v0.4.1/vyper.0.4.1+commit.8a93dd27.linux 34453e1132163c44482112e95c4e1558a633e2d16c2a7d2361ac32e42de1d4e6
0.4.2-rc1+commit.11522b83 v0.4.2rc1/vyper.0.4.2rc1+commit.11522b83.linux e27acde9ff03b34b1cbdfff014885ca591b4a34437d2809a3215376f4ef9724b
0.4.2+commit.c216787f v0.4.2/vyper.0.4.2+commit.c216787f.linux 7cc4214671dc78db8a3962f103bead22dd76b55ee370d6d333122e7f3368f4fa
0.4.3-rc1+commit.a35bfd5e v0.4.3rc1/vyper.0.4.3rc1+commit.a35bfd5e.linux 70e79ce24340417d3ca0e1836e479832666bced48b3abd19513a107c95c4cf03
0.4.3+commit.bff19ea2 v0.4.3/vyper.0.4.3+commit.bff19ea2.linux c986ec370f18d20ee8f8607b25c504c2795d73211662a05c3a1114a6320db0db
`;

interface CataloguedBuild {
  readonly longVersion: string;
  readonly path: string;
  readonly sha256: string;
}

const BUILDS: readonly CataloguedBuild[] = TABLE.trim()
  .split('\n')
  .map((line) => {
    const [longVersion = '', path = '', sha256 = ''] = line.split(' ');
    return { longVersion, path, sha256 };
  });
const BY_VERSION: ReadonlyMap<string, CataloguedBuild> = new Map(
  BUILDS.map((build) => [build.longVersion, build]),
);

/** Returns the published build of a version. */
export function findVyperBuild(longVersion: string): CataloguedBuild | undefined {
  return BY_VERSION.get(longVersion);
}

/** Returns the long version of a published file, by its file name. */
export function versionOfVyperFile(fileName: string): string | undefined {
  return BUILDS.find(({ path }) => path.endsWith(`/${fileName}`))?.longVersion;
}

/** Every build of Vyper that was published for Linux on x64, from 0.1.0-beta.16 to 0.4.3. */
export const VYPER_CATALOGUE: Catalogue = {
  longVersions: BUILDS.map(({ longVersion }) => longVersion),
  sha256Of: (longVersion) => findVyperBuild(longVersion)?.sha256,
  pins: (longVersion) => BY_VERSION.has(longVersion),
  isPinned: (longVersion, _kind, { sha256 }) => {
    const expected = findVyperBuild(longVersion)?.sha256;
    return Promise.resolve(expected === undefined ? undefined : sha256 === expected);
  },
};
