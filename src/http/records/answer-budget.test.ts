import { describe, expect, test } from 'vitest';
import { AnswerBudget } from './answer-budget.ts';

const BODY_BYTES = 100_000;
const LIMITS = { bytes: 20 * BODY_BYTES, clientBytes: 4 * BODY_BYTES };
const newBody = (bytes = BODY_BYTES): Uint8Array => new Uint8Array(bytes);
const ofClient = expect.objectContaining({ code: 'too_many_client_answers' }) as Error;

/** A budget, and the clients whose answers gave way. */
function countedBudget(): {
  budget: AnswerBudget;
  lost: string[];
  hold: (client: string, body?: Uint8Array) => () => void;
} {
  const budget = new AnswerBudget(LIMITS);
  const lost: string[] = [];
  const hold = (client: string, body = newBody()): (() => void) =>
    budget.hold(client, body, () => lost.push(client));
  return { budget, lost, hold };
}

describe('the bytes of answers that clients have not taken', () => {
  test('are bounded for a network as for a client, which gives way to a neighbour', () => {
    const { budget, lost, hold } = countedBudget();
    for (let index = 0; index < 4; index += 1) hold('203.0.113.1');
    expect(() => hold('203.0.113.1')).toThrow(ofClient);
    expect(() => budget.requireRoom('203.0.113.1')).toThrow(ofClient);
    for (let host = 2; host < 5; host += 1) hold(`203.0.113.${host}`);
    expect(() => hold('203.0.113.5')).toThrow(ofClient);
    expect(lost).toEqual(['203.0.113.1', '203.0.113.1', '203.0.113.1']);
    hold('198.51.100.1');
    expect(budget.held).toEqual({ bytes: 5 * BODY_BYTES, clients: 5 });
  });

  test('count once for all who take the same, and are given back once', () => {
    const { budget, hold } = countedBudget();
    const body = newBody();
    const releases = ['203.0.113.1', '198.51.100.1'].map((client) => hold(client, body));
    expect(budget.held).toEqual({ bytes: BODY_BYTES, clients: 2 });
    releases.forEach((release) => release());
    releases.forEach((release) => release());
    expect(budget.held).toEqual({ bytes: 0, clients: 0 });
  });

  test('may be more than the bound in one answer', () => {
    const { budget, hold } = countedBudget();
    const release = hold('203.0.113.1', newBody(30 * BODY_BYTES));
    expect(() => hold('203.0.113.1')).toThrow(ofClient);
    expect(() => hold('198.51.100.1')).toThrow('As many large answers');
    release();
    expect(budget.held).toEqual({ bytes: 0, clients: 0 });
  });
});
