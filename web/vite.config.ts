import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * Two bundles of the same views: one that browsers load, with its manifest, and with `--ssr` one that the service
 * renders the pages with.
 */
export default defineConfig(({ isSsrBuild }) => ({
  root: folder('.'),
  base: './',
  publicDir: false,
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    emptyOutDir: true,
    outDir: folder(isSsrBuild ? '../dist/web/server' : '../dist/web/client'),
    manifest: !isSsrBuild,
    // What is bundled asks that its notices come with it.
    license: { fileName: 'licenses.md' },
    // The policy of the pages lets nothing run or load that is written into a page.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: folder(isSsrBuild ? 'src/server.tsx' : 'src/client.tsx'),
      output: {
        // A browser gets what most pages share in one file in place of a dozen. The service reads all at once, since
        // an upgrade may replace the files beneath it.
        codeSplitting: isSsrBuild
          ? false
          : {
              includeDependenciesRecursively: false,
              groups: [{ name: 'shared', minShareCount: 4 }],
            },
      },
    },
  },
  resolve: {
    alias: [{ find: /^.*\/lib\/keccak\.ts$/, replacement: folder('src/portable-keccak.ts') }],
  },
  ssr: { noExternal: true },
}));
