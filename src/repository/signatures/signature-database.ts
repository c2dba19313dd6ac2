import { FullmatchError } from '../../errors.ts';
import { FairPlaces } from '../../lib/fair-places.ts';
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

/** One import at a time writes: they would wait for each other in the database, with a connection each. */
const PLACES = { places: 1, waiting: 32, waitingOfNetwork: 4, waitMs: 10_000 };
/** A search may work for a second, and others need connections as well. One network leaves a place to the others. */
const SEARCH_PLACES = {
  ...{ places: 2, placesOfNetwork: 1 },
  ...{ waiting: 64, waitingOfNetwork: 16, waitMs: 10_000 },
};

/** The signature database, for those who know no database. */
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
 * @param importedMax how many signatures of no verified contract there may be; with 0 nothing is imported
 */
export function createSignatureDatabase(
  database: Database,
  importedMax: number,
): SignatureDatabase {
  const places = new FairPlaces(PLACES);
  const searchPlaces = new FairPlaces(SEARCH_PLACES);
  return {
    ...bindDatabase(READERS, database),
    searchByPattern: (pattern, client) =>
      inPlace(searchPlaces, client, () => searchByPattern(database, pattern)),
    import: async (asked, client) => {
      if (importedMax === 0) {
        throw new FullmatchError(
          'signature_import_refused',
          'This service imports no signatures; it has those of the contracts that are verified here.',
        );
      }
      return inPlace(places, client, () => importSignatures(database, asked, importedMax));
    },
  };
}

/** Works as soon as there is a place. @throws FullmatchError too_many_waiters */
async function inPlace<Result>(
  places: FairPlaces,
  client: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const giveBack = await places.take(client);
  if (giveBack === undefined) {
    throw new FullmatchError(
      'too_many_waiters',
      'Too many searches or imports of signatures wait; ask again later.',
      { details: { retryAfterSeconds: 5 } },
    );
  }
  try {
    return await work();
  } finally {
    giveBack();
  }
}
