// The import table of docs/architecture.md, as rules. A folder may import itself and what is named here.
const table = {
  errors: ['lib'],
  log: ['lib'],
  lib: [],
  store: ['lib', 'errors', 'log'],
  solidity: ['lib'],
  bytecode: ['solidity', 'lib', 'errors'],
  chains: ['store', 'lib', 'errors', 'log'],
  compilers: ['solidity', 'lib', 'errors', 'log'],
  repository: ['store', 'bytecode', 'solidity', 'lib', 'errors', 'log'],
  verification: [
    'chains',
    'compilers',
    'solidity',
    'bytecode',
    'repository',
    'store',
    'lib',
    'errors',
    'log',
  ],
  publication: ['repository', 'chains', 'http', 'config', 'store', 'lib', 'errors', 'log'],
  importer: ['repository', 'chains', 'solidity', 'bytecode', 'lib', 'errors', 'log'],
  monitor: ['chains', 'verification', 'lib', 'errors', 'log'],
  http: [
    'publication',
    'chains',
    'solidity',
    'compilers',
    'repository',
    'verification',
    'lib',
    'errors',
    'log',
  ],
  config: ['lib', 'errors'],
  reload: ['config', 'publication', 'http', 'chains', 'store', 'lib', 'errors', 'log'],
  cli: [
    'service',
    'reload',
    'config',
    'chains',
    'repository',
    'importer',
    'store',
    'verification',
    'compilers',
    'solidity',
    'lib',
    'errors',
    'log',
  ],
};
const pattern = (names) =>
  names.map((name) => (['errors', 'log'].includes(name) ? `^src/${name}\\.ts$` : `^src/${name}/`));

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'No import cycles, types included.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...Object.entries(table).map(([name, allowed]) => ({
      name: `imports-of-${name}`,
      comment: `src/${name} imports only itself and: ${allowed.join(', ') || 'libraries'}.`,
      severity: 'error',
      from: { path: pattern([name])[0], pathNot: '\\.test\\.ts$' },
      to: {
        path: '^(src|test|bench|scripts|client|web)/',
        pathNot: pattern([name, ...allowed]),
        // Option types of the modules are what the configuration describes.
        ...(name === 'config' ? { dependencyTypesNot: ['type-only'] } : {}),
      },
    })),
    {
      name: 'service-not-cli',
      severity: 'error',
      from: { path: '^src/service/' },
      to: { path: '^src/cli/' },
    },
    {
      name: 'nothing-imports-service',
      comment: 'Only the CLI knows the composition root.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/(cli|service)/', '\\.test\\.ts$'] },
      to: { path: '^src/service/' },
    },
    {
      name: 'src-not-test',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(test|bench|scripts)/' },
    },
    {
      name: 'imports-of-web',
      comment:
        'The pages take types from the client and pure functions from src/lib and src/solidity; the service renders them as built.',
      severity: 'error',
      from: { path: '^web/src/' },
      to: {
        path: '^(src|test|bench|scripts|client)/',
        pathNot: ['^src/(lib|solidity)/', '^client/src/schemas\\.ts$'],
      },
    },
    {
      name: 'nothing-imports-web',
      comment: 'The service loads the built bundle of the pages.',
      severity: 'error',
      from: { path: '^(src|client/src)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^web/' },
    },
    {
      name: 'client-stands-alone',
      comment: 'The client imports nothing of the service and has no dependency.',
      severity: 'error',
      from: { path: '^client/src/' },
      to: { pathNot: '^client/src/' },
    },
    {
      name: 'no-dev-dependency-in-src',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.test\\.ts$' },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['type-only'],
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['(^|/)dist/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
