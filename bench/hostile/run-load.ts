// Runs as a separate process, so that a load disturbs the probe no more than another machine would:
// `run-load.ts <name> <context as JSON>` prints the result as JSON.
import os from 'node:os';
import { type HostileContext } from './context.ts';
import { LOADS } from './loads.ts';

const [name = '', context = ''] = process.argv.slice(2);
const load = LOADS[name];
if (load === undefined) throw new Error(`unknown load ${name}`);
// A real attacker has a separate machine: here it only gets CPU time that the service and the probe leave.
os.setPriority(10);
const tally = await load(JSON.parse(context) as HostileContext);
process.stdout.write(JSON.stringify(tally), () => process.exit());
