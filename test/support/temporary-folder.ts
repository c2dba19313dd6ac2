import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * A new folder, and its removal. Everyone may enter it, so that PostgreSQL's user can when the tests run as root:
 * in a closed one its data would go to /var/lib/fullmatch and stay there.
 */
export async function createTemporaryFolder(
  name = 'fullmatch-test-',
): Promise<{ path: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), name));
  await chmod(folder, 0o755);
  return { path: folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
