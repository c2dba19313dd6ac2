import { FullmatchError } from '../../errors.ts';
import { type NamedSecret } from '../../lib/secret.ts';
import { type ChainRegistry } from './registry.ts';

/** Renders the body of `GET /chains`: a compact JSON array, ascending chainId, keys in table order. */
export function renderChains(registry: ChainRegistry): Buffer {
  return Buffer.from(render(registry), 'utf8');
}

function render(registry: ChainRegistry): string {
  return JSON.stringify(registry.chains.map(({ record }) => record));
}

/** A shorter value is not a secret, and would be found everywhere. */
const SECRET_MIN_CHARACTERS = 4;
/** A shorter value counts only as a whole word: the password `test` is not in `testnet`. */
const WORD_MAX_CHARACTERS = 7;
/** Shape of a key within a URL: one long run of characters with letters and several digits. */
const KEY_MIN_CHARACTERS = 20;
const KEY_MIN_DIGITS = 3;

function looksLikeKey(part: string): boolean {
  return (
    part.length >= KEY_MIN_CHARACTERS &&
    /^[\w-]+$/.test(part) &&
    /[a-z]/i.test(part) &&
    (part.match(/\d/g)?.length ?? 0) >= KEY_MIN_DIGITS
  );
}

/** Parts of a secret URL that look like keys. Each is checked on its own, since another URL may contain it too. */
function keysWithin(value: string): readonly string[] {
  return value.split(/[/?&=#:@.,;]+/).filter((part) => part !== value && looksLikeKey(part));
}

function escapeEveryCharacter(value: string): string {
  return [...Buffer.from(value, 'utf8')]
    .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
    .join('');
}

/** The converted text, or nothing if conversion fails: lone surrogates, stray percent signs. */
function attempt(turn: (text: string) => string, text: string): readonly string[] {
  try {
    return [turn(text)];
  } catch {
    return [];
  }
}

/** Every spelling of a secret that a JSON text of URLs may contain. */
function spellingsOf(value: string): readonly string[] {
  const plain = [value, ...keysWithin(value)];
  const turned = [encodeURIComponent, encodeURI, decodeURIComponent, escapeEveryCharacter].flatMap(
    (turn) => plain.flatMap((text) => attempt(turn, text)),
  );
  const all = [...plain, ...turned].flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]);
  return [...new Set(all)].filter((text) => text.length >= SECRET_MIN_CHARACTERS);
}

function holds(text: string, spelling: string): boolean {
  if (spelling.length > WORD_MAX_CHARACTERS) return text.includes(spelling);
  for (let at = text.indexOf(spelling); at >= 0; at = text.indexOf(spelling, at + 1)) {
    const around = `${text.charAt(at - 1)}${text.charAt(at + spelling.length)}`;
    if (!/[\p{L}\p{N}]/u.test(around)) return true;
  }
  return false;
}

interface Needle {
  readonly name: string;
  readonly spellings: readonly string[];
}

function findNeedle(text: string, needles: readonly Needle[]): Needle | undefined {
  // Percent-encoding and hosts are case-insensitive, so the comparison ignores case too.
  const lower = text.toLowerCase();
  return needles.find(({ spellings }) =>
    spellings.some((spelling) => holds(text, spelling) || holds(lower, spelling.toLowerCase())),
  );
}

/**
 * Scans the rendered document for every configured secret: as it is, JSON-escaped, percent-encoded and
 * decoded, in any case, and for the keys within secret URLs.
 * @throws FullmatchError secret_in_document that names the chain, the field and the secret's name, never its
 * value
 */
export function assertNoSecrets(registry: ChainRegistry, secrets: readonly NamedSecret[]): void {
  const needles = secrets.map(({ name, secret }) => ({
    name,
    spellings: spellingsOf(secret.reveal()),
  }));
  if (needles.length === 0 || findNeedle(render(registry), needles) === undefined) return;
  for (const { record } of registry.chains) {
    for (const [field, value] of Object.entries(record)) {
      const items: readonly unknown[] = Array.isArray(value) ? value : [value];
      for (const [index, item] of items.entries()) {
        const needle = findNeedle(JSON.stringify(item) ?? '', needles);
        if (needle === undefined) continue;
        const where = Array.isArray(value) ? `${field}[${index}]` : field;
        throw new FullmatchError(
          'secret_in_document',
          `Chain ${record.chainId}: ${where} would publish the secret ${needle.name} in /chains. Remove it from that field; endpoints with keys belong in privateRpc.`,
          { details: { chainId: record.chainId, field: where, secret: needle.name } },
        );
      }
    }
  }
}
