import { FullmatchError } from '../../errors.ts';
import { Admission } from '../../lib/admission.ts';
import { bindDatabase, type Bound } from '../../store/bind-database.ts';
import { type Database } from '../../store/database.ts';
import { describeCall, describeEvents } from './describe-logs.ts';
import {
  findByHashes,
  findEventInputs,
  type FoundSignatures,
  readTotals,
  searchByPattern,
} from './find-signatures.ts';
import {
  type ImportedSignatures,
  importSignatures,
  type SignatureImport,
} from './import-signatures.ts';

const READERS = { findByHashes, findEventInputs, readTotals, describeCall, describeEvents };

/** Imports write one at a time: they would wait for each other in the database, with a connection each. */
const IMPORTS = { total: 1, waiting: 32, waitingPerClient: 4, waitMs: 10_000 };
/** A search may take a second, and others need connections as well. A single client cannot take all slots. */
const SEARCHES = {
  ...{ total: 2, perClient: 1 },
  ...{ waiting: 64, waitingPerClient: 16, waitMs: 10_000 },
};

/** The signature database, for callers that do not know the database. */
export interface SignatureDatabase extends Bound<typeof READERS> {
  /**
   * See {@link importSignatures}.
   * @throws FullmatchError signature_import_refused, signature_budget_spent, too_many_waiters
   */
  import(asked: SignatureImport, client: string): Promise<ImportedSignatures>;
  /**
   * See {@link searchByPattern}.
   * @throws FullmatchError invalid_parameter, search_too_broad, too_many_waiters
   */
  searchByPattern(pattern: string, client: string): Promise<FoundSignatures>;
}

/**
 * Binds the signatures to a database.
 * @param importedMax maximum number of signatures without a verified contract; 0 disables imports
 */
export function createSignatureDatabase(
  database: Database,
  importedMax: number,
): SignatureDatabase {
  const imports = new Admission(IMPORTS, tooManyWaiters);
  const searches = new Admission(SEARCHES, tooManyWaiters);
  return {
    ...bindDatabase(READERS, database),
    searchByPattern: (pattern, client) =>
      searches.run(client, () => searchByPattern(database, pattern)),
    import: async (asked, client) => {
      if (importedMax === 0) {
        throw new FullmatchError(
          'signature_import_refused',
          'This service does not import signatures; it has those of contracts verified here.',
        );
      }
      return imports.run(client, () => importSignatures(database, asked, importedMax));
    },
  };
}

function tooManyWaiters(): FullmatchError {
  return new FullmatchError(
    'too_many_waiters',
    'Too many searches or imports of signatures are waiting; try again later.',
    { details: { retryAfterSeconds: 5 } },
  );
}
