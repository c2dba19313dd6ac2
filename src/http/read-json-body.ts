import { FullmatchError } from '../errors.ts';

/** Deeper than any compiler input or metadata: those that nest most are ABIs of nested structs. */
const MAX_DEPTH = 100;

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((member) => isDeeper(member, levels - 1));
}

function invalidJson(message: string): FullmatchError {
  return new FullmatchError('invalid_json', message);
}

/**
 * The JSON object that a body holds.
 * @throws FullmatchError invalid_json for what is no JSON object, or nests without end.
 */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidJson('The body is no JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidJson('The body is JSON, but no object.');
  }
  if (isDeeper(value, MAX_DEPTH)) {
    throw invalidJson(`The body nests deeper than ${MAX_DEPTH} levels.`);
  }
  return value as Readonly<Record<string, unknown>>;
}
