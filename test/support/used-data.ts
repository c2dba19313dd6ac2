import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { inject } from 'vitest';

/**
 * Writes a data directory as left by a service that stored nothing: a copy, since creating the cluster and
 * its database takes seconds.
 * @param dataDir must not exist
 */
export async function writeUsedData(dataDir: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', inject('testServer').usedData, dataDir]);
}
