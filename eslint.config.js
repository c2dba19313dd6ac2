import tseslint from 'typescript-eslint';
import unicorn from 'eslint-plugin-unicorn';

const noProcessEnv = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'Only src/config/environment.ts reads process.env; take the value as an option.',
};
const noProcessExit = {
  selector: "CallExpression[callee.object.name='process'][callee.property.name='exit']",
  message: 'Never call process.exit: throw, or set process.exitCode in the CLI.',
};
const noDefaultExport = {
  selector: 'ExportDefaultDeclaration',
  message: 'Use a named export, so that it has the same name everywhere.',
};

const waitForEvents =
  'In fast tests wait for the event: waitUntil (test/support/wait-for.ts), expect.poll, a gate or a fake clock.';
const countSteps =
  'Fast tests must not assert durations below 10 s: count steps, or wait for the event itself.';
const boundedTime =
  'CallExpression[callee.property.name=/^toBeLessThan(OrEqual)?$/]:has(> Literal[value<10000])';
const racyInFastTests = [
  {
    selector: "NewExpression[callee.name='Promise'] CallExpression[callee.name='setTimeout']",
    message: waitForEvents,
  },
  {
    selector:
      "ImportDeclaration[source.value='node:timers/promises'] ImportSpecifier[imported.name='setTimeout']",
    message: waitForEvents,
  },
  {
    selector: `${boundedTime}:has(CallExpression[callee.property.name='now'])`,
    message: countSteps,
  },
  {
    selector: `${boundedTime}:has(Identifier[name=/(Ms|[eE]lapsed|[tT]ook)$/])`,
    message: countSteps,
  },
];

// The import table and cycles are checked by dependency-cruiser (.dependency-cruiser.cjs).
export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/node_modules/**',
      'generated/**',
      'fullmatch-data/**',
      // Sample third-party projects with their own configuration and packages.
      'test/clients/**',
      '*.js',
      '*.cjs',
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.json', './web/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    plugins: { unicorn },
    rules: {
      'unicorn/filename-case': ['error', { case: 'kebabCase' }],
      'no-restricted-syntax': ['error', noProcessEnv, noProcessExit, noDefaultExport],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      eqeqeq: 'error',
      'no-console': 'error',
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 90, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['src/config/environment.ts'],
    rules: { 'no-restricted-syntax': ['error', noProcessExit, noDefaultExport] },
  },
  {
    files: [
      'test/**',
      'bench/**',
      'scripts/**',
      '**/*.test.ts',
      '**/*.config.ts',
      'client/test/**',
    ],
    rules: {
      'no-restricted-syntax': 'off',
      'no-console': 'off',
      'max-lines-per-function': 'off',
      'max-lines': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      'no-restricted-imports': [
        'error',
        { name: 'vitest', importNames: ['it'], message: 'Use `test` instead.' },
      ],
    },
  },
  {
    files: ['**/*.test.ts'],
    ignores: ['**/*.slow.test.ts'],
    rules: { 'no-restricted-syntax': ['error', ...racyInFastTests] },
  },
);
