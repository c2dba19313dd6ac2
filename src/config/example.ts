import { stringify } from 'yaml';
import {
  CONFIG_VARIABLE,
  environmentName,
  SECTIONS,
  SETTING_KEYS,
  settingOf,
  type SettingKey,
} from './schema.ts';

const HEAD = `# The configuration of Fullmatch: every key with its default. Without this file the defaults hold.
#
# Fullmatch reads fullmatch.yaml in the working directory, or the file that --config or ${CONFIG_VARIABLE} names.
# A flag wins over an environment variable, which wins over this file, which wins over the default.
# The variable and the flag of a key stand beside it; an empty variable counts as not set.
# Relative paths begin at the folder of this file. An unknown key is an error.
# A running service takes over chains, registry.* but registry.sync, and log.level by: fullmatch reload
#
# fullmatch config check   says whether the configuration is sound
# fullmatch config print   prints every value and where it comes from
`;

const CHAINS = `# Chains of your own, and what the service does on chains that the public list has, by decimal chain id.
# Each field that stands here wins over the list's; what does not stand here stays as the list has it.
# A chain may stand here or in a file of chainsDirectory, which has the same form, not in both.
# chains:
#   1:
#     supported: true         # may a contract be verified on this chain? true once it is configured
#     monitored: false        # is the chain watched for new contracts?
#     quorum: 2               # how many independent endpoints must agree on code; 1 is enough of a node of your own
#     extraRpc:               # public endpoints beside the list's; \`rpc\` replaces them
#       - https://rpc.example.org
#     privateRpc:             # endpoints with keys: never published; \${NAME} is taken from the environment
#       - https://rpc.example.org/v3/\${EXAMPLE_RPC_KEY}    # EXAMPLE_RPC_KEY, or EXAMPLE_RPC_KEY_FILE names a file
#     contractFetchAddress: https://explorer.example.org/address/\${ADDRESS}
#     txRegex: 'at txn.*href="/tx/(0x[0-9a-f]{64})"'    # one capture group: the creation transaction's hash
#   20250101:
#     name: A chain that no list has
#     local: true             # on this machine or a private network: its private hosts may be published
#     rpc: [http://127.0.0.1:8545]
#     nativeCurrency: { name: Ether, symbol: ETH, decimals: 18 }
`;

/** The text of fullmatch.example.yaml: every key with its description, names and default, made from the schema. */
export function renderExample(): string {
  const parts = [HEAD];
  let section = '';
  for (const key of SETTING_KEYS) {
    const names = key.split('.');
    const name = names.pop() ?? key;
    const [first, second] = names;
    const inner = names.join('.');
    if (first !== undefined && first !== section.split('.')[0]) {
      parts.push(`# ${SECTIONS[first as keyof typeof SECTIONS]}\n${first}:\n`);
    }
    if (second !== undefined && inner !== section) parts.push(`  ${second}:\n`);
    section = inner;
    parts.push(renderKey(key, name, '  '.repeat(names.length)));
    if (key === 'chainsDirectory') parts.push(CHAINS);
  }
  return joinParts(parts);
}

function renderKey(key: SettingKey, name: string, indent: string): string {
  const setting = settingOf(key);
  const names = [
    environmentName(key),
    setting.secret && `${environmentName(key)}_FILE`,
    setting.flag,
  ];
  const line =
    setting.default === undefined
      ? `# ${name}: ${setting.expected.replace(/^.*such as /, '')}`
      : stringify({ [name]: setting.default }).trimEnd();
  return [
    `# ${setting.description}`,
    `# ${capitalise(setting.expected)}. ${names.filter(Boolean).join(', ')}`,
    line,
  ]
    .map((text) => `${indent}${text}\n`)
    .join('');
}

/** A section's head stays with its first key; everything else is set apart by an empty line. */
function joinParts(parts: readonly string[]): string {
  return parts.reduce((text, part, index) => {
    const afterHead = /^ *[a-z]+:\n$/m.test(parts[index - 1] ?? '');
    return text === '' ? part : `${text}${afterHead ? '' : '\n'}${part}`;
  }, '');
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
