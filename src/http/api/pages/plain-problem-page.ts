import { type Answer, answer, HTML_TYPE, NOT_STORED, type ResponseHeaders } from '../../answer.ts';
import { type Problem, retryAfter } from '../../error-response.ts';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '"': '&quot;' };
const escape = (text: string): string => text.replaceAll(/[&<"]/g, (each) => ENTITIES[each] ?? '');

/** Renders a problem as a minimal page that needs no data and no page thread. */
export function renderPlainProblemPage(problem: Problem, headers: ResponseHeaders): Answer {
  const [title, detail] = [problem.title, problem.detail].map(escape);
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title} · Fullmatch</title></head><body><main><h1>${title}</h1><p>${detail} <code>${problem.code}</code></p></main></body></html>`;
  return answer(page, {
    status: problem.status,
    type: HTML_TYPE,
    cacheControl: NOT_STORED,
    headers: { ...headers, ...retryAfter(problem), vary: 'Accept' },
  });
}
