import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { inject } from 'vitest';

/**
 * Writes a data directory as a service left it that stored nothing: a copy, since making the cluster and its database
 * takes a service seconds.
 * @param dataDir which is not there yet
 */
export async function writeUsedData(dataDir: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', inject('testServer').usedData, dataDir]);
}
