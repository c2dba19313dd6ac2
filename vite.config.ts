import { cp } from 'node:fs/promises';
import { defineConfig } from 'vite';
import bundled from './scripts/bundled-packages.json' with { type: 'json' };

/** The program, its threads, and what processes of tests begin with; each has its name in dist/. */
const ENTRIES = [
  'cli/main',
  'http/api/pages/page-thread',
  'http/bodies/reading-thread',
  'http/records/record-thread',
  'importer/read-contracts-thread',
  'importer/read-parquet-thread',
  'verification/compilation/job-thread',
  ...['errors', 'importer/import-repository', 'log', 'store/open-store'],
];
/** Runs as it is, with nothing loaded in front of it. */
const COMPILER_PROGRAM = 'compilers/processes/child';

/** The package that a module belongs to; null for our own. */
const packageOf = (id: string): string | null =>
  /\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/.exec(id)?.[1]?.replace('/', '-') ??
  null;

/** The service in a few files: reading a thousand of them took most of its start. */
export default defineConfig({
  publicDir: false,
  logLevel: 'warn',
  build: {
    ssr: true,
    target: 'node20',
    outDir: 'dist',
    emptyOutDir: false,
    sourcemap: true,
    // What is bundled asks that its notices come with it.
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      input: Object.fromEntries(ENTRIES.map((name) => [name, `src/${name}.ts`])),
      // A thread loads what it uses, and not what shares a file with it.
      treeshake: {
        moduleSideEffects: [{ test: /^(?!.*\/node_modules\/).*\/src\//, sideEffects: false }],
      },
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: 'chunks/[name]-[hash].js',
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [{ name: packageOf, debugName: 'packages' }],
        },
      },
    },
  },
  // An import of types alone loads nothing, whatever the syntax: a bare import would load the package.
  oxc: { typescript: { onlyRemoveTypeImports: false } },
  // All but those that load native code, threads or files of their own, or may not be bundled.
  ssr: { noExternal: bundled },
  plugins: [
    {
      name: 'copy the program of the compilers',
      closeBundle: () =>
        cp(`src/${COMPILER_PROGRAM}`, `dist/${COMPILER_PROGRAM}`, { recursive: true }),
    },
  ],
});
