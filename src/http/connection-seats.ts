import { descriptorLimit } from '../lib/descriptor-limit.ts';
import { FairShares } from '../lib/fair-shares.ts';
import { type Logger } from '../log.ts';

/** One connection takes up to 40 kB before its first request has come. */
const MOST_CONNECTIONS = 10_000;
/**
 * A connection may need a second descriptor, for the file of its body. What connections leave is for the database, for
 * endpoints and for compilers.
 */
const DESCRIPTORS_PER_CONNECTION = 2;

/**
 * The seats for the connections of all hosts of a process, as many as its descriptors allow. Warns where a low limit of
 * descriptors leaves fewer of them.
 */
export function openSeats(log: Logger): FairShares {
  const limit = descriptorLimit();
  const connections = Math.min(MOST_CONNECTIONS, Math.floor(limit / DESCRIPTORS_PER_CONNECTION));
  if (connections < MOST_CONNECTIONS) {
    const wanted = MOST_CONNECTIONS * DESCRIPTORS_PER_CONNECTION;
    const facts = { event: 'descriptor_limit_low', descriptors: limit, connections };
    log.warn(facts, `few connections fit; allow ${wanted} open files (LimitNOFILE or ulimit -n)`);
  }
  return new FairShares({ total: connections, perClient: Infinity });
}
