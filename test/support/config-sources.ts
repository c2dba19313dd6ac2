import path from 'node:path';
import { type FileReader } from '../../src/config/file.ts';
import { type ConfigSources } from '../../src/config/load-config.ts';
import { validateServiceChain } from '../../src/chains/registry/service-chain.ts';

/** A file system with the given texts by absolute path. */
function memoryFiles(texts: Readonly<Record<string, string>>): FileReader {
  return {
    read: (file) => texts[file],
    list(folder) {
      const names = Object.keys(texts)
        .filter((file) => path.dirname(file) === folder)
        .map((file) => path.basename(file));
      return names.length === 0 ? undefined : names.sort();
    },
  };
}

/** The sources of a configuration in the working directory `/srv`: only what is given. */
export function configSources(
  given: Partial<Pick<ConfigSources, 'flags' | 'environment' | 'validateChain'>> & {
    /** Texts by path; relative paths are below `/srv`. */
    readonly texts?: Readonly<Record<string, string>>;
  } = {},
): ConfigSources {
  const texts = Object.entries(given.texts ?? {}).map(([file, text]) => [
    path.resolve('/srv', file),
    text,
  ]);
  return {
    flags: given.flags ?? {},
    environment: given.environment ?? {},
    files: memoryFiles(Object.fromEntries(texts) as Record<string, string>),
    workingDirectory: '/srv',
    validateChain: given.validateChain ?? validateServiceChain,
  };
}
