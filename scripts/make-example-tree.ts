// Writes an example repository tree of compiled contracts: `npx tsx scripts/make-example-tree.ts <folder>
// [--contracts N] [--layout v1|v2]`. Without --contracts the tree is small and shows every case: an
// address in both matches, a chain with only partial matches, a chain id above 2^32 and invalid entries. With
// --contracts it has N valid contracts.
import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { manyContracts, writeExampleTree } from '../test/support/example-tree.ts';
import { writeShowTree } from '../test/support/show-tree.ts';

function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('expected a whole number above 0');
}

await new Command('make-example-tree')
  .description('write an example repository tree of compiled contracts')
  .argument('<folder>', 'folder to write to; the tree is in its folder "contracts"')
  .addOption(
    new Option('--contracts <number>', 'number of valid contracts to write').argParser(parseCount),
  )
  .addOption(
    new Option('--layout <layout>', 'layout of the sources').choices(['v1', 'v2']).default('v1'),
  )
  .action(async (folder: string, options: { contracts?: number; layout: 'v1' | 'v2' }) => {
    const { contracts, layout } = options;
    if (contracts === undefined) {
      const { counts, refused } = await writeShowTree(folder, layout);
      console.log(`counts after an import: ${JSON.stringify(counts)}`);
      for (const { path, reason } of refused) console.log(`refused: ${path} (${reason})`);
    } else {
      await writeExampleTree(folder, { layout, contracts: manyContracts(contracts) });
    }
    console.log(`wrote ${resolve(folder)}`);
  })
  .parseAsync();
