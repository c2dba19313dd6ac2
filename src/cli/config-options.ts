import { Option, type Command } from 'commander';
import { validateServiceChain } from '../chains/registry/service-chain.ts';
import { type LoadedConfig } from '../config/config.ts';
import { diskFiles } from '../config/file.ts';
import { type Flags } from '../config/layers.ts';
import { loadConfig } from '../config/load-config.ts';
import { SETTINGS, type Setting, type SettingKey } from '../config/settings.ts';
import { type CliContext } from './cli-context.ts';

/** Option values that commander parsed. */
export type ParsedOptions = Readonly<Record<string, unknown>>;

const GROUP = 'Configuration (flags override the environment, the file and the defaults):';

function optionOf({ flag, base, description, default: byDefault }: Setting): Option | undefined {
  if (flag === undefined) return undefined;
  const value = base !== undefined ? 'path' : typeof byDefault === 'number' ? 'number' : 'text';
  return new Option(`${flag} <${value}>`, description).helpGroup(GROUP);
}

/**
 * Adds `--config` and the flags that set configuration keys. Secrets have no flag: every user of the machine
 * can see the arguments of a process.
 */
export function addConfigOptions(
  command: Command,
  options: { readonly listeners?: boolean } = {},
): Command {
  command.addOption(
    new Option('--config <path>', 'The configuration file instead of ./fullmatch.yaml.').helpGroup(
      GROUP,
    ),
  );
  for (const setting of SETTINGS.values()) {
    const option = optionOf(setting);
    if (option === undefined || (setting.listener && !options.listeners)) continue;
    command.addOption(option);
  }
  return command;
}

/**
 * Loads the configuration of a command from its flags and its context.
 * @throws FullmatchError as loadConfig
 */
export function loadCommandConfig(options: ParsedOptions, context: CliContext): LoadedConfig {
  return loadConfig({
    flags: readFlagValues(options),
    environment: context.environment,
    files: diskFiles,
    workingDirectory: context.workingDirectory,
    validateChain: validateServiceChain,
  });
}

function readFlagValues(options: ParsedOptions): Flags {
  const flags: Partial<Record<SettingKey | 'config', string>> = {};
  if (typeof options['config'] === 'string') flags.config = options['config'];
  for (const [key, setting] of SETTINGS) {
    const value = options[optionOf(setting)?.attributeName() ?? ''];
    if (typeof value === 'string') flags[key] = value;
  }
  return flags;
}
