// Checks the wording rules of docs/vocabulary.md on all user-facing text: plain English and the terms of the
// field.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..');
/** Phrases that read like a translation; `codes` is only the plural of an error code, never of bytecode. */
const PHRASES = [
  /\b(?:is|are|was|were) (?:said|told|judged|asked|answered|taken)\b/i,
  /\blook(?:s|ed|ing)? at\b|\blooked for\b|\ba look at\b/i,
  /\b(?:stands?|beside|whoever|anew|nobody|anybody)\b/i,
  /\bmend(?:s|ed|ing)?\b/i,
  /\bby which\b|(?<!\b(?:all|both|each|most|none|one|some) )\bof which\b/i,
  // "Of X: …" is not English for "only for X".
  /(?:^|[.!?] )Of [^.:]{1,40}: /,
  /\bas (?:it|they) should be\b|\bin force\b|\bgravest\b|\bat fault\b|\bcame to nothing\b/i,
  /\bwhat came of\b|\bways to\b|\bto the letter\b|\bthe place of\b/i,
  /\bas (?:many|much)\b[^.]{0,60}\bas (?:may|can)\b/i,
  /(?<!\b(?:error|exit|fault|status|reason|stable|both) )\bcodes\b(?! of findings\b)/i,
];

function findPhrase(text: string): string | undefined {
  return PHRASES.map((phrase) => phrase.exec(text)?.[0]).find((found) => found !== undefined);
}

/** A document's text without code. */
const proseOf = (markdown: string): string =>
  markdown.replace(/```.*?```/gs, '').replace(/`[^`\n]*`/g, '');

describe('documents', () => {
  const files = execFileSync('git', ['ls-files', '*.md'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    // The changelog is history, and the vocabulary lists the words to avoid.
    .filter((file) => /^(?:docs\/)?[\w-]+\.md$/.test(file))
    .filter((file) => !/CHANGELOG|vocabulary/.test(file));
  test.each(files)('%s', (file) => {
    const lines = proseOf(readFileSync(path.join(ROOT, file), 'utf8')).split('\n');
    expect(lines.filter((line) => findPhrase(line) !== undefined)).toEqual([]);
  });
});

/** Texts of at least three words in a source file, except SQL, statement labels and Solidity. */
function textsOf(file: string): string[] {
  const source = ts.createSourceFile(
    file,
    readFileSync(file, 'utf8'),
    ts.ScriptTarget.Latest,
    true,
    file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
  );
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return;
    if (ts.isCallExpression(node) && node.expression.getText() === 'sql') return;
    if (ts.isStringLiteralLike(node) || ts.isJsxText(node)) texts.push(node.text);
    if (ts.isTemplateExpression(node))
      texts.push(
        [node.head.text, ...node.templateSpans.map((span) => span.literal.text)].join('…'),
      );
    ts.forEachChild(node, visit);
  };
  visit(source);
  return texts.filter(
    (text) => /[a-z]+ [a-z]+ [a-z]+/i.test(text) && !/\bSELECT\b|\bcontract \w+ \{/.test(text),
  );
}

describe('text in pages, commands, errors, settings and the API', () => {
  test.each(['src', 'web/src', 'client/src'])('%s', (folder) => {
    const files = readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file) && !/\.test\./.test(file))
      .map((file) => path.join(ROOT, folder, file));
    const found = files.flatMap((file) =>
      textsOf(file)
        .filter((text) => findPhrase(text) !== undefined)
        .map((text) => `${path.relative(ROOT, file)}: ${text}`),
    );
    expect(found).toEqual([]);
    expect(files.length).toBeGreaterThan(3);
  });
});

test('the vocabulary names the words that people read, and pages contain them', () => {
  const [head = [], , ...rows] = readFileSync(path.join(ROOT, 'docs/vocabulary.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.slice(1, -1).split('|'))
    .map((cells) => cells.map((cell) => cell.trim()));
  const column = head.indexOf('What people read');
  const words = rows.flatMap((cells) => (cells[column] ?? '').split('; '));
  const folder = path.join(ROOT, 'web/src');
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => readFileSync(path.join(folder, file), 'utf8'))
    .join('\n')
    .toLowerCase();
  expect(words.length).toBeGreaterThan(30);
  expect(words.filter((word) => word !== '–' && !pages.includes(word.toLowerCase()))).toEqual([]);
});
