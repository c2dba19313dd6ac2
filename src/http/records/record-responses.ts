/** Declares an error in the format of an API. */
export type Say<Declared> = (description: string) => Declared;

/** Responses of a route while too many large responses are in progress. */
export function overloadResponses<Declared>(say: Say<Declared>): { 429: Declared; 503: Declared } {
  return {
    429: say(
      'This client has too many large responses or pages in progress (`too_many_client_answers`)',
    ),
    503: say(
      'Too many large responses are in progress (`too_many_answers`), or the database cannot be reached (`database_unreachable`)',
    ),
  };
}

/** Responses, apart from the record, of a route that responds with a record. */
export function recordResponses<Declared>(say: Say<Declared>): {
  304: { description: string };
  422: Declared;
  429: Declared;
  503: Declared;
} {
  return {
    304: { description: 'The client already has this content' },
    422: say('The response takes too long or too much memory (`answer_too_large`)'),
    ...overloadResponses(say),
  };
}
