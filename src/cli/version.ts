import { type Command } from 'commander';
import { readPackageVersion } from '../lib/package-version.ts';
import { writeJson, writeLine, type CliContext } from './cli-context.ts';

/** `fullmatch version`: prints the versions of Fullmatch and Node.js, and the platform. */
export function defineVersion(command: Command, context: CliContext): void {
  command.option('--json', 'Print JSON.').action((options: { json?: boolean }) => {
    const version = readPackageVersion();
    const node = process.versions.node;
    const platform = `${process.platform}-${process.arch}`;
    if (options.json) writeJson(context.stdout, { version, node, platform });
    else writeLine(context.stdout, `fullmatch ${version} (Node.js ${node}, ${platform})`);
  });
}
