import { stringify } from 'yaml';
import { type z } from 'zod';
import { configSchema } from './config.ts';
import { CONFIG_VARIABLE, keysOf, SETTINGS, type Setting, type SettingKey } from './settings.ts';

const HEAD = `# The configuration of Fullmatch: every key with its default. Without this file, the defaults apply.
#
# Fullmatch reads fullmatch.yaml in the working directory, or the file that --config or ${CONFIG_VARIABLE} names.
# A flag overrides an environment variable, which overrides this file, which overrides the default.
# The variable and the flag of a key are next to it; an empty variable counts as not set.
# Relative paths are relative to the folder of this file. An unknown key is an error.
# To apply changes of chains, registry.* (except registry.sync) and log.level to a running service: fullmatch reload
#
# fullmatch config check   checks the configuration
# fullmatch config print   prints every value and where it comes from
`;

const CHAINS = `# Your own chains, and settings for chains of the public list, by decimal chain id.
# A field given here overrides the list's; all others stay as in the list.
# Configure a chain here or in a file of chainsDirectory, which has the same format, but not in both.
# chains:
#   1:
#     supported: true         # may a contract be verified on this chain? true once it is configured
#     monitor: true           # find new contracts and verify those whose sources are available; or with
#                             # { from: head, confirmations: 0, traces: true, gateways: [https://ipfs.example.org] }
#     quorum: 2               # how many independent endpoints must agree on code; 1 is enough for your own node
#     extraRpc:               # public endpoints in addition to the list's; \`rpc\` replaces them
#       - https://rpc.example.org
#     privateRpc:             # endpoints with keys: never published; \${NAME} is read from the environment
#       - https://rpc.example.org/v3/\${EXAMPLE_RPC_KEY}    # EXAMPLE_RPC_KEY, or EXAMPLE_RPC_KEY_FILE names a file
#     contractFetchAddress: https://explorer.example.org/address/\${ADDRESS}
#     txRegex: 'at txn.*href="/tx/(0x[0-9a-f]{64})"'    # one capture group: the creation transaction's hash
#   20250101:
#     name: A chain that no list has
#     local: true             # on this machine or a private network: its private hosts may be published
#     rpc: [http://127.0.0.1:8545]
#     nativeCurrency: { name: Ether, symbol: ETH, decimals: 18 }
`;

/** Renders fullmatch.example.yaml from the schema: every key with its description, names and default. */
export function renderExample(): string {
  return `${HEAD}\n${renderSection(configSchema, '')}`;
}

function renderSection(section: z.ZodType, above: string): string {
  const parts = Object.entries(keysOf(section) ?? {}).map(([name, schema]) => {
    const key = above + name;
    const setting = SETTINGS.get(key as SettingKey);
    if (setting !== undefined) return renderKey(name, setting);
    if (key === 'chains') return CHAINS;
    const about = schema.description === undefined ? '' : `# ${schema.description}\n`;
    return `${about}${name}:\n${renderSection(schema, `${key}.`).replaceAll(/^(?=.)/gm, '  ')}`;
  });
  return parts.join('\n');
}

function renderKey(name: string, setting: Setting): string {
  const { description, expected, variable, secret, flag, base } = setting;
  const names = [variable, secret && `${variable}_FILE`, flag].filter(Boolean).join(', ');
  // A default below the data directory cannot be written in the file, where relative paths start at the
  // file's folder.
  const line =
    setting.default === undefined || base === 'dataDir'
      ? `# ${name}: ${expected.replace(/^.*such as /, '')}\n`
      : stringify({ [name]: setting.default });
  return `# ${description}\n# ${expected.charAt(0).toUpperCase()}${expected.slice(1)}. ${names}\n${line}`;
}
