import { FullmatchError } from '../../../errors.ts';
import { FairShares } from '../../../lib/fair-shares.ts';
import { tooManyAnswers } from '../../records/answer-budget.ts';
import { Turns } from '../../records/turns.ts';

/** Pages that are made at once: they wait for the database, and are rendered one after the other. */
const AT_ONCE = 8;
/** Pages that are made or wait for that: of all clients, and of one client or its network. */
const MOST = { total: 256, perClient: 32 };
const RETRY_AFTER_S = 5;

/** Whom a page is made for. */
export interface PageClient {
  readonly name: string;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
}

/** Pages in the turns of their clients. A page is not made for a client that has left. */
export class PageTurns {
  readonly #turns = new Turns(AT_ONCE);
  readonly #places = new FairShares(MOST);

  /**
   * Makes a page in its turn. Where as many wait as may, a client of the network that has most of them gives way.
   * @throws FullmatchError too_many_client_answers, too_many_answers; the reason of the client's signal
   */
  run<Page>(client: PageClient, make: () => Promise<Page>): Promise<Page> {
    return new Promise((resolve, reject) => {
      let hasPlace = true;
      const place = this.#places.open(client.name, () => {
        hasPlace = false;
        reject(tooManyAnswers());
      });
      const grant = place.grow(1);
      if (grant !== 'granted') throw grant === 'full' ? tooManyAnswers() : tooManyClientPages();
      const made = this.#turns.run(client.name, async () => {
        if (!hasPlace) return;
        client.signal.throwIfAborted();
        resolve(await make());
      });
      void made.catch(reject).finally(() => place.release());
    });
  }
}

function tooManyClientPages(): FullmatchError {
  return new FullmatchError(
    'too_many_client_answers',
    `This client has asked for ${MOST.perClient} pages that are not made yet; take them and try again in ${RETRY_AFTER_S} seconds.`,
    { details: { retryAfterSeconds: RETRY_AFTER_S } },
  );
}
