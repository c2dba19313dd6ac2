import { type CallableCommand, type CommandGroup } from './command-entry.ts';

/**
 * Every command, in the order of the help. Names and descriptions stand here, so that the help loads no command;
 * everything else of a command stands in its own file.
 */
export const COMMANDS: readonly (CallableCommand | CommandGroup)[] = [
  {
    name: 'start',
    description: 'Starts the service.',
    examples: ['start', 'start --config fullmatch.yaml --api-port 8080'],
    load: async () => (await import('./start.ts')).defineStart,
  },
  {
    name: 'doctor',
    description:
      'Looks at everything the service needs, and says what mends what is wrong; exits 1 when something is.',
    examples: ['doctor', 'doctor --config fullmatch.yaml --json'],
    load: async () => (await import('./doctor/doctor.ts')).defineDoctor,
  },
  {
    name: 'reload',
    description: 'Has the running service read its configuration again; a bad one changes nothing.',
    examples: ['reload'],
    load: async () => (await import('./reload.ts')).defineReload,
  },
  {
    name: 'verify',
    description:
      'Verifies a contract, on the configured database or by a running service, and prints both matches.',
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
      'Finds the transaction that created a contract, checks it on chain, and prints the outcome of each method.',
    examples: ['creation-transaction sepolia 0x5FbDB2315678afecb367f032d93F642f64180aa3'],
    load: async () => (await import('./creation-transaction.ts')).defineCreationTransaction,
  },
  {
    name: 'jobs',
    description: 'The verification jobs.',
    commands: [
      {
        name: 'list',
        description: 'Lists jobs, the newest first: those in flight unless told otherwise.',
        examples: ['jobs list', 'jobs list --state failed --limit 1000 --ndjson'],
        load: async () => (await import('./jobs.ts')).defineJobsList,
      },
      {
        name: 'show',
        description: 'Shows a job: where it stands, and how it ended.',
        examples: ['jobs show 3b9b2d1c-7c0f-4d5e-9d6a-0a1b2c3d4e5f'],
        load: async () => (await import('./jobs.ts')).defineJobsShow,
      },
      {
        name: 'cancel',
        description: 'Ends a job: at once while it waits, within seconds while it runs.',
        examples: ['jobs cancel 3b9b2d1c-7c0f-4d5e-9d6a-0a1b2c3d4e5f'],
        load: async () => (await import('./jobs.ts')).defineJobsCancel,
      },
    ],
  },
  {
    name: 'import',
    description:
      'Imports a repository tree: contracts/{full_match,partial_match}/{chain}/{address}.',
    examples: ['import ./repository --dry-run', 'import ./repository'],
    load: async () => (await import('./import.ts')).defineImport,
  },
  {
    name: 'export',
    description:
      'Writes the published tree and both documents into a folder or an archive, as of one moment.',
    examples: ['export ./tree', 'export tree.tar.gz --json'],
    load: async () => (await import('./export/export.ts')).defineExport,
  },
  {
    name: 'backup',
    description:
      'Writes all that the database holds into a file, as of one moment, also while the service runs.',
    examples: ['backup fullmatch.backup.tgz', 'backup /backups/today.tgz --json'],
    load: async () => (await import('./backup.ts')).defineBackup,
  },
  {
    name: 'restore',
    description:
      'Puts what a backup holds into the place of what the database holds, and compares the counts.',
    examples: ['restore fullmatch.backup.tgz --dry-run', 'restore fullmatch.backup.tgz'],
    load: async () => (await import('./restore.ts')).defineRestore,
  },
  {
    name: 'chains',
    description: 'Looks at the chain registry.',
    commands: [
      {
        name: 'sync',
        description:
          'Asks the sources of the public list now, and prints what a newer list changes.',
        examples: ['chains sync --dry-run', 'chains sync'],
        load: async () => (await import('./chain-lists.ts')).defineChainsSync,
      },
      {
        name: 'probe',
        description:
          'Asks the endpoints of the configured chains, or of one chain, and prints how they are; exits 0 when all are up.',
        examples: ['chains probe', 'chains probe sepolia --json'],
        load: async () => (await import('./chains-probe.ts')).defineChainsProbe,
      },
      {
        name: 'check',
        description:
          'Prints conflicts, quarantined records and warnings; exits 1 when there are errors.',
        examples: ['chains check'],
        load: async () => (await import('./chains.ts')).defineChainsCheck,
      },
      {
        name: 'list',
        description: 'Prints the chains.',
        examples: ['chains list --supported', 'chains list --ndjson'],
        load: async () => (await import('./chains.ts')).defineChainsList,
      },
      {
        name: 'show',
        description: 'Prints a chain with the origin of every field.',
        examples: ['chains show base'],
        load: async () => (await import('./chains.ts')).defineChainsShow,
      },
    ],
  },
  {
    name: 'monitor',
    description: 'The monitor, which finds new contracts of chains.',
    commands: [
      {
        name: 'status',
        description: 'Prints how far each chain was read, and what became of what was found.',
        examples: ['monitor status', 'monitor status sepolia --json'],
        load: async () => (await import('./monitor.ts')).defineMonitorStatus,
      },
      {
        name: 'backfill',
        description: 'Has the running service read older blocks of a chain.',
        examples: ['monitor backfill sepolia --from 5000000 --to 5100000'],
        load: async () => (await import('./monitor.ts')).defineMonitorBackfill,
      },
      {
        name: 'retry',
        description: 'Has contracts that wait, and blocks that could not be read, tried again now.',
        examples: [
          'monitor retry sepolia',
          'monitor retry sepolia --given-up --reason metadata_invalid',
        ],
        load: async () => (await import('./monitor.ts')).defineMonitorRetry,
      },
      {
        name: 'gaps',
        description: 'Prints which blocks are not read, or not wholly.',
        examples: ['monitor gaps', 'monitor gaps sepolia --json'],
        load: async () => (await import('./monitor.ts')).defineMonitorGaps,
      },
    ],
  },
  {
    name: 'compilers',
    description: 'The compilers that verify.',
    commands: [
      {
        name: 'list',
        description: 'Lists the compilers on this machine.',
        examples: ['compilers list', 'compilers list --all --ndjson'],
        load: async () => (await import('./compilers.ts')).defineCompilersList,
      },
      {
        name: 'fetch',
        description:
          'Downloads compilers into the folder of compilers, and checks their checksums.',
        examples: ['compilers fetch 0.8.30 vyper:0.3.10'],
        load: async () => (await import('./compilers.ts')).defineCompilersFetch,
      },
      {
        name: 'bundle',
        description: 'Writes compilers into one file, for a machine that downloads nothing.',
        examples: ['compilers bundle compilers.tar 0.8.30 0.8.20'],
        load: async () => (await import('./compilers-bundle.ts')).defineCompilersBundle,
      },
      {
        name: 'prefetch',
        description: 'Fills the folder of compilers from such a file, or by download.',
        examples: ['compilers prefetch compilers.tar'],
        load: async () => (await import('./compilers-bundle.ts')).defineCompilersPrefetch,
      },
      {
        name: 'verify',
        description: 'Compares the checksum of every compiler on this machine.',
        examples: ['compilers verify'],
        load: async () => (await import('./compilers.ts')).defineCompilersVerify,
      },
    ],
  },
  {
    name: 'demo',
    description: 'Deploys and verifies contracts of a demonstration on a local chain.',
    examples: ['demo'],
    load: async () => (await import('./demo/demo.ts')).defineDemo,
  },
  {
    name: 'recheck',
    description:
      'Reads the code of verified contracts again, and withdraws matches whose code or creation was replaced, or that today’s rules refuse.',
    examples: ['recheck sepolia 0x5FbDB2315678afecb367f032d93F642f64180aa3', 'recheck --all'],
    load: async () => (await import('./recheck.ts')).defineRecheck,
  },
  {
    name: 'recount',
    description:
      'Compares the counts with the events and the stored matches; exits 6 on differences.',
    examples: ['recount', 'recount --repair'],
    load: async () => (await import('./recount.ts')).defineRecount,
  },
  {
    name: 'reindex',
    description:
      'Compiles stored sources for the other contracts in them, so that their deployments are verified without sources.',
    examples: ['reindex', 'reindex sepolia --json'],
    load: async () => (await import('./reindex.ts')).defineReindex,
  },
  {
    name: 'withdraw',
    description: 'Takes the match of an address back; the event log keeps it, with the reason.',
    examples: [
      'withdraw sepolia 0x5FbDB2315678afecb367f032d93F642f64180aa3 --reason "The code was replaced."',
    ],
    load: async () => (await import('./withdraw.ts')).defineWithdraw,
  },
  {
    name: 'config',
    description: 'Looks at the configuration.',
    commands: [
      {
        name: 'check',
        description: 'Says whether the configuration is sound, with all problems at once.',
        examples: ['config check'],
        load: async () => (await import('./config.ts')).defineConfigCheck,
      },
      {
        name: 'print',
        description: 'Prints every value and where it comes from; secrets are ***.',
        examples: ['config print --json'],
        load: async () => (await import('./config.ts')).defineConfigPrint,
      },
      {
        name: 'example',
        description: 'Prints a configuration file that holds every key with its default.',
        examples: ['config example > fullmatch.yaml'],
        load: async () => (await import('./config.ts')).defineConfigExample,
      },
    ],
  },
  {
    name: 'completions',
    description: 'Prints what has a shell complete commands and options: for bash, zsh or fish.',
    examples: [
      'completions bash > ~/.local/share/bash-completion/completions/fullmatch',
      'completions fish > ~/.config/fish/completions/fullmatch.fish',
    ],
    load: async () => (await import('./completions.ts')).completionsOf(COMMANDS),
  },
  {
    name: 'version',
    description: 'Prints the versions of Fullmatch and Node.js, and the platform.',
    examples: ['version --json'],
    load: async () => (await import('./version.ts')).defineVersion,
  },
];
