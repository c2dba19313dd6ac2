import { type Command } from 'commander';
import { type CliContext } from './cli-context.ts';

/** Adds the arguments, options and action of a command. */
type DefineCommand = (command: Command, context: CliContext) => void;

/** A command, which is loaded when it is called. */
export interface CallableCommand {
  readonly name: string;
  readonly description: string;
  readonly load: () => Promise<DefineCommand>;
}

/** Commands below one word. */
export interface CommandGroup {
  readonly name: string;
  readonly description: string;
  readonly commands: readonly CallableCommand[];
}

/**
 * Every command, in the order of the help. Names and descriptions stand here, so that the help loads no command;
 * everything else of a command stands in its own file.
 */
export const COMMANDS: readonly (CallableCommand | CommandGroup)[] = [
  {
    name: 'start',
    description: 'Starts the service.',
    load: async () => (await import('./start.ts')).defineStart,
  },
  {
    name: 'reload',
    description: 'Has the running service read its configuration again; a bad one changes nothing.',
    load: async () => (await import('./reload.ts')).defineReload,
  },
  {
    name: 'verify',
    description:
      'Verifies a contract, on the configured database or by a running service, and prints both matches.',
    load: async () => (await import('./verify.ts')).defineVerify,
  },
  {
    name: 'creation-transaction',
    description:
      'Finds the transaction that created a contract, checks it on chain, and prints the outcome of each method.',
    load: async () => (await import('./creation-transaction.ts')).defineCreationTransaction,
  },
  {
    name: 'jobs',
    description: 'The verification jobs.',
    commands: [
      {
        name: 'list',
        description: 'Lists jobs, the newest first: those in flight unless told otherwise.',
        load: async () => (await import('./jobs.ts')).defineJobsList,
      },
      {
        name: 'show',
        description: 'Shows a job: where it stands, and how it ended.',
        load: async () => (await import('./jobs.ts')).defineJobsShow,
      },
      {
        name: 'cancel',
        description: 'Ends a job: at once while it waits, within seconds while it runs.',
        load: async () => (await import('./jobs.ts')).defineJobsCancel,
      },
    ],
  },
  {
    name: 'import',
    description:
      'Imports a repository tree: contracts/{full_match,partial_match}/{chain}/{address}.',
    load: async () => (await import('./import.ts')).defineImport,
  },
  {
    name: 'chains',
    description: 'Looks at the chain registry.',
    commands: [
      {
        name: 'sync',
        description:
          'Asks the sources of the public list now, and prints what a newer list changes.',
        load: async () => (await import('./chain-lists.ts')).defineChainsSync,
      },
      {
        name: 'snapshots',
        description: 'Lists the public lists that were accepted.',
        load: async () => (await import('./chain-lists.ts')).defineChainsSnapshots,
      },
      {
        name: 'diff',
        description: 'Prints the changes from one list to another.',
        load: async () => (await import('./chain-lists.ts')).defineChainsDiff,
      },
      {
        name: 'history',
        description: "Prints how a chain's record changed over the accepted lists.",
        load: async () => (await import('./chain-lists.ts')).defineChainsHistory,
      },
      {
        name: 'probe',
        description:
          'Asks the endpoints of the configured chains, or of one chain, and prints how they are; exits 0 when all are up.',
        load: async () => (await import('./chains-probe.ts')).defineChainsProbe,
      },
      {
        name: 'check',
        description:
          'Prints conflicts, quarantined records and warnings; exits 1 when there are errors.',
        load: async () => (await import('./chains.ts')).defineChainsCheck,
      },
      {
        name: 'list',
        description: 'Prints the chains.',
        load: async () => (await import('./chains.ts')).defineChainsList,
      },
      {
        name: 'show',
        description: 'Prints a chain with the origin of every field.',
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
        load: async () => (await import('./monitor.ts')).defineMonitorStatus,
      },
      {
        name: 'backfill',
        description: 'Has the running service read older blocks of a chain.',
        load: async () => (await import('./monitor.ts')).defineMonitorBackfill,
      },
      {
        name: 'retry',
        description: 'Has contracts that wait, and blocks that could not be read, tried again now.',
        load: async () => (await import('./monitor.ts')).defineMonitorRetry,
      },
      {
        name: 'gaps',
        description: 'Prints which blocks are not read, or not wholly.',
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
        load: async () => (await import('./compilers.ts')).defineCompilersList,
      },
      {
        name: 'fetch',
        description:
          'Downloads compilers into the folder of compilers, and checks their checksums.',
        load: async () => (await import('./compilers.ts')).defineCompilersFetch,
      },
      {
        name: 'bundle',
        description: 'Writes compilers into one file, for a machine that downloads nothing.',
        load: async () => (await import('./compilers-bundle.ts')).defineCompilersBundle,
      },
      {
        name: 'prefetch',
        description: 'Fills the folder of compilers from such a file, or by download.',
        load: async () => (await import('./compilers-bundle.ts')).defineCompilersPrefetch,
      },
      {
        name: 'verify',
        description: 'Compares the checksum of every compiler on this machine.',
        load: async () => (await import('./compilers.ts')).defineCompilersVerify,
      },
    ],
  },
  {
    name: 'demo',
    description: 'Deploys and verifies contracts of a demonstration on a local chain.',
    load: async () => (await import('./demo/demo.ts')).defineDemo,
  },
  {
    name: 'recheck',
    description:
      'Reads the code of verified contracts again, and withdraws matches whose code or creation was replaced, or that today’s rules refuse.',
    load: async () => (await import('./recheck.ts')).defineRecheck,
  },
  {
    name: 'recount',
    description:
      'Compares the counts with the events and the stored matches; exits 6 on differences.',
    load: async () => (await import('./recount.ts')).defineRecount,
  },
  {
    name: 'withdraw',
    description: 'Takes the match of an address back; the event log keeps it, with the reason.',
    load: async () => (await import('./withdraw.ts')).defineWithdraw,
  },
  {
    name: 'config',
    description: 'Looks at the configuration.',
    commands: [
      {
        name: 'check',
        description: 'Says whether the configuration is sound, with all problems at once.',
        load: async () => (await import('./config.ts')).defineConfigCheck,
      },
      {
        name: 'print',
        description: 'Prints every value and where it comes from; secrets are ***.',
        load: async () => (await import('./config.ts')).defineConfigPrint,
      },
      {
        name: 'example',
        description: 'Prints a configuration file that holds every key with its default.',
        load: async () => (await import('./config.ts')).defineConfigExample,
      },
    ],
  },
  {
    name: 'version',
    description: 'Prints the versions of Fullmatch and Node.js, and the platform.',
    load: async () => (await import('./version.ts')).defineVersion,
  },
];
