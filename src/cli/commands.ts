import { type CallableCommand, type CommandGroup } from './command-entry.ts';

/**
 * All commands in the order of the help. Names and descriptions are here so that the help loads no command;
 * everything else of a command is in its own file.
 */
export const COMMANDS: readonly (CallableCommand | CommandGroup)[] = [
  {
    name: 'start',
    description: 'Start the service.',
    examples: ['start', 'start --config fullmatch.yaml --api-port 8080'],
    load: async () => (await import('./start.ts')).defineStart,
  },
  {
    name: 'doctor',
    description:
      'Check everything the service needs and print how to fix each problem; exits 1 for warnings, 2 for faults.',
    examples: ['doctor', 'doctor --config fullmatch.yaml --json'],
    load: async () => (await import('./doctor/doctor.ts')).defineDoctor,
  },
  {
    name: 'reload',
    description: 'Reload the configuration of the running service; an invalid one changes nothing.',
    examples: ['reload'],
    load: async () => (await import('./reload.ts')).defineReload,
  },
  {
    name: 'verify',
    description:
      'Verify a contract, in the configured database or through a running service, and print both matches.',
    examples: [
      'verify sepolia 0x5FbDB2315678afecb367f032d93F642f64180aa3 artifacts/build-info/1234.json',
      'verify 1 0x5FbDB2315678afecb367f032d93F642f64180aa3 src/Token.sol --compiler 0.8.30 --optimizer-runs 200',
      'verify 1 0x5FbDB2315678afecb367f032d93F642f64180aa3 metadata.json --url http://localhost:5555 --wait',
    ],
    load: async () => (await import('./verify.ts')).defineVerify,
  },
  {
    name: 'creation-transaction',
    description:
      'Find the creation transaction of a contract, check it on chain, and print the result of each method.',
    examples: ['creation-transaction sepolia 0x5FbDB2315678afecb367f032d93F642f64180aa3'],
    load: async () => (await import('./creation-transaction.ts')).defineCreationTransaction,
  },
  {
    name: 'jobs',
    description: 'Manage verification jobs.',
    commands: [
      {
        name: 'list',
        description: 'List jobs, newest first; by default the waiting and running ones.',
        examples: ['jobs list', 'jobs list --state failed --limit 1000 --ndjson'],
        load: async () => (await import('./jobs.ts')).defineJobsList,
      },
      {
        name: 'show',
        description: 'Show the progress and the result of a job.',
        examples: ['jobs show 3b9b2d1c-7c0f-4d5e-9d6a-0a1b2c3d4e5f'],
        load: async () => (await import('./jobs.ts')).defineJobsShow,
      },
      {
        name: 'cancel',
        description: 'Cancel a job.',
        examples: ['jobs cancel 3b9b2d1c-7c0f-4d5e-9d6a-0a1b2c3d4e5f'],
        load: async () => (await import('./jobs.ts')).defineJobsCancel,
      },
      {
        name: 'retry',
        description: 'Queue a failed job again, or all that failed with a code.',
        examples: [
          'jobs retry 3b9b2d1c-7c0f-4d5e-9d6a-0a1b2c3d4e5f',
          'jobs retry cannot_fetch_bytecode',
        ],
        load: async () => (await import('./jobs.ts')).defineJobsRetry,
      },
    ],
  },
  {
    name: 'tokens',
    description: 'Manage the tokens that allow clients to verify contracts.',
    commands: [
      {
        name: 'create',
        description: 'Create a token and print it; only its hash is stored.',
        examples: ['tokens create ci', 'tokens create alice --days 90 --per-hour 100'],
        load: async () => (await import('./tokens.ts')).defineTokensCreate,
      },
      {
        name: 'list',
        description: 'List the names and limits of all tokens.',
        examples: ['tokens list', 'tokens list --json'],
        load: async () => (await import('./tokens.ts')).defineTokensList,
      },
      {
        name: 'revoke',
        description: 'Revoke a token; running services reject it within two seconds.',
        examples: ['tokens revoke ci'],
        load: async () => (await import('./tokens.ts')).defineTokensRevoke,
      },
    ],
  },
  {
    name: 'import',
    description:
      'Import verified contracts: a repository tree or an archive of one, Parquet files, a Verifier Alliance database, or another Fullmatch.',
    examples: ['import ./repository --dry-run', 'import --from https://verify.example.org'],
    load: async () => (await import('./import.ts')).defineImport,
  },
  {
    name: 'export',
    description:
      'Export one snapshot: the repository tree with both documents in a folder or an archive, Parquet files, or SQL.',
    examples: ['export tree.tar.gz', 'export ./parquet --format parquet'],
    load: async () => (await import('./export/export.ts')).defineExport,
  },
  {
    name: 'backup',
    description:
      'Back up the whole database to a file, from one snapshot; works while the service runs.',
    examples: ['backup fullmatch.backup.tgz', 'backup /backups/today.tgz --json'],
    load: async () => (await import('./backup.ts')).defineBackup,
  },
  {
    name: 'restore',
    description:
      'Replace the contents of the database with those of a backup, and check the counts.',
    examples: ['restore fullmatch.backup.tgz --dry-run', 'restore fullmatch.backup.tgz'],
    load: async () => (await import('./restore.ts')).defineRestore,
  },
  {
    name: 'chains',
    description: 'Show chains.',
    commands: [
      {
        name: 'sync',
        description: 'Fetch the public chain list now, and print what changes.',
        examples: ['chains sync --dry-run', 'chains sync'],
        load: async () => (await import('./chain-lists.ts')).defineChainsSync,
      },
      {
        name: 'probe',
        description:
          'Probe the RPC endpoints of all configured chains, or of one; exits 0 if all are up.',
        examples: ['chains probe', 'chains probe sepolia --json'],
        load: async () => (await import('./chains-probe.ts')).defineChainsProbe,
      },
      {
        name: 'check',
        description:
          'Print conflicts, quarantined records and warnings of the chain registry; exits 1 if there are errors.',
        examples: ['chains check'],
        load: async () => (await import('./chains.ts')).defineChainsCheck,
      },
      {
        name: 'list',
        description: 'List chains.',
        examples: ['chains list --supported', 'chains list --ndjson'],
        load: async () => (await import('./chains.ts')).defineChainsList,
      },
      {
        name: 'show',
        description: 'Show a chain, with the origin of every field.',
        examples: ['chains show base'],
        load: async () => (await import('./chains.ts')).defineChainsShow,
      },
    ],
  },
  {
    name: 'monitor',
    description: 'Manage the monitor, which finds new contracts.',
    commands: [
      {
        name: 'status',
        description:
          'Show how far each chain has been read, and the results for the contracts found.',
        examples: ['monitor status', 'monitor status sepolia --json'],
        load: async () => (await import('./monitor.ts')).defineMonitorStatus,
      },
      {
        name: 'backfill',
        description: 'Read older blocks of a chain; the running service does the work.',
        examples: ['monitor backfill sepolia --from 5000000 --to 5100000'],
        load: async () => (await import('./monitor.ts')).defineMonitorBackfill,
      },
      {
        name: 'retry',
        description: 'Retry waiting contracts and unreadable blocks now.',
        examples: [
          'monitor retry sepolia',
          'monitor retry sepolia --given-up --reason metadata_invalid',
        ],
        load: async () => (await import('./monitor.ts')).defineMonitorRetry,
      },
      {
        name: 'gaps',
        description: 'List the blocks that have not been read completely.',
        examples: ['monitor gaps', 'monitor gaps sepolia --json'],
        load: async () => (await import('./monitor.ts')).defineMonitorGaps,
      },
    ],
  },
  {
    name: 'compilers',
    description: 'Manage compilers.',
    commands: [
      {
        name: 'list',
        description: 'List the compilers on this machine.',
        examples: ['compilers list', 'compilers list --all --ndjson'],
        load: async () => (await import('./compilers.ts')).defineCompilersList,
      },
      {
        name: 'fetch',
        description: 'Download compilers and verify their checksums.',
        examples: ['compilers fetch 0.8.30 vyper:0.3.10'],
        load: async () => (await import('./compilers.ts')).defineCompilersFetch,
      },
      {
        name: 'bundle',
        description: 'Pack compilers into one file, for a machine without internet access.',
        examples: ['compilers bundle compilers.tar 0.8.30 0.8.20'],
        load: async () => (await import('./compilers-bundle.ts')).defineCompilersBundle,
      },
      {
        name: 'prefetch',
        description: 'Install compilers from such a file, or download them.',
        examples: ['compilers prefetch compilers.tar'],
        load: async () => (await import('./compilers-bundle.ts')).defineCompilersPrefetch,
      },
      {
        name: 'verify',
        description: 'Verify the checksum of every compiler on this machine.',
        examples: ['compilers verify'],
        load: async () => (await import('./compilers.ts')).defineCompilersVerify,
      },
    ],
  },
  {
    name: 'demo',
    description: 'Deploy and verify example contracts on a local chain.',
    examples: ['demo'],
    load: async () => (await import('./demo/demo.ts')).defineDemo,
  },
  {
    name: 'recheck',
    description:
      'Read the code of verified contracts again, and withdraw matches whose code or creation has changed or that are no longer accepted.',
    examples: ['recheck sepolia 0x5FbDB2315678afecb367f032d93F642f64180aa3', 'recheck --all'],
    load: async () => (await import('./recheck.ts')).defineRecheck,
  },
  {
    name: 'reverify',
    description:
      'Verify imported contracts with their stored sources: matches become this service’s own, mismatches are withdrawn.',
    examples: ['reverify sepolia', 'reverify --all --json'],
    load: async () => (await import('./reverify.ts')).defineReverify,
  },
  {
    name: 'recount',
    description:
      'Compare the counts with the events and the stored matches; exits 6 if they differ.',
    examples: ['recount', 'recount --repair'],
    load: async () => (await import('./recount.ts')).defineRecount,
  },
  {
    name: 'reindex',
    description:
      'Compile stored sources to index the other contracts in them, so that these can be verified without sources.',
    examples: ['reindex', 'reindex sepolia --json'],
    load: async () => (await import('./reindex.ts')).defineReindex,
  },
  {
    name: 'withdraw',
    description: 'Withdraw a verification; the event log keeps it, with the reason.',
    examples: [
      'withdraw sepolia 0x5FbDB2315678afecb367f032d93F642f64180aa3 --reason "The code was replaced."',
    ],
    load: async () => (await import('./withdraw.ts')).defineWithdraw,
  },
  {
    name: 'config',
    description: 'Inspect the configuration.',
    commands: [
      {
        name: 'check',
        description: 'Validate the configuration and print all problems at once.',
        examples: ['config check'],
        load: async () => (await import('./config.ts')).defineConfigCheck,
      },
      {
        name: 'print',
        description: 'Print every value and its source; secrets are shown as ***.',
        examples: ['config print --json'],
        load: async () => (await import('./config.ts')).defineConfigPrint,
      },
      {
        name: 'example',
        description: 'Print a configuration file with every key and its default.',
        examples: ['config example > fullmatch.yaml'],
        load: async () => (await import('./config.ts')).defineConfigExample,
      },
    ],
  },
  {
    name: 'completions',
    description: 'Print a completion script for bash, zsh or fish.',
    examples: [
      'completions bash > ~/.local/share/bash-completion/completions/fullmatch',
      'completions fish > ~/.config/fish/completions/fullmatch.fish',
    ],
    load: async () => (await import('./completions.ts')).completionsOf(COMMANDS),
  },
  {
    name: 'version',
    description: 'Print the versions of Fullmatch and Node.js, and the platform.',
    examples: ['version --json'],
    load: async () => (await import('./version.ts')).defineVersion,
  },
];
