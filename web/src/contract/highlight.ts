/** A piece of one line, with its token type. */
export interface CodePiece {
  readonly kind?: string;
  readonly text: string;
}

/** A Prism token: text, or a type with text or nested tokens. */
type PrismToken = string | { readonly type: string; readonly content: PrismContent };
type PrismContent = PrismToken | readonly PrismToken[];

interface PrismLibrary {
  readonly languages: Readonly<Record<string, unknown>>;
  readonly tokenize: (text: string, grammar: unknown) => readonly PrismToken[];
}

/** The pieces of each line. Only text and token names are used from the grammar's output. */
function toLines(tokens: readonly PrismToken[]): CodePiece[][] {
  const lines: CodePiece[][] = [[]];
  const add = (content: PrismContent, kind: string | undefined): void => {
    if (typeof content === 'string') {
      for (const [index, text] of content.split('\n').entries()) {
        if (index > 0) lines.push([]);
        if (text !== '') lines.at(-1)?.push(kind === undefined ? { text } : { kind, text });
      }
    } else if ('type' in content) add(content.content, content.type);
    else for (const each of content) add(each, kind);
  };
  add(tokens, undefined);
  return lines;
}

/** The lines of a source without tokens. */
export function plainLines(text: string): CodePiece[][] {
  return toLines([text]);
}

/** Highlighting more than this takes noticeably long: the rest stays plain. */
const HIGHLIGHTED_CHARACTERS = 60_000;

/** Loads the Solidity grammar on first use. */
export async function loadHighlighter(): Promise<(text: string) => CodePiece[][]> {
  // Otherwise the library would highlight the page by itself; its grammars expect it under this global name.
  const scope = globalThis as unknown as { Prism?: unknown };
  scope.Prism = { manual: true };
  const library = (await import('prismjs/components/prism-core.js')) as unknown as {
    readonly default: PrismLibrary;
  };
  scope.Prism = library.default;
  await import('prismjs/components/prism-clike.js');
  await import('prismjs/components/prism-solidity.js');
  const { tokenize, languages } = library.default;
  return (text) => {
    const isLong = text.length > HIGHLIGHTED_CHARACTERS;
    const end = isLong ? text.lastIndexOf('\n', HIGHLIGHTED_CHARACTERS) + 1 : text.length;
    const lines = toLines(tokenize(text.slice(0, end), languages['solidity']));
    return isLong ? [...lines.slice(0, -1), ...plainLines(text.slice(end))] : lines;
  };
}
