/** How the routes of an interface declare an error. */
type Say<Declared> = (description: string) => Declared;

/** What a route answers while too many large answers are under way. */
export function crowdedResponses<Declared>(say: Say<Declared>): { 429: Declared; 503: Declared } {
  return {
    429: say(
      'This client has too many large responses or pages in progress (`too_many_client_answers`)',
    ),
    503: say(
      'Too many large responses are in progress (`too_many_answers`), or the database cannot be reached (`database_unreachable`)',
    ),
  };
}

/** What a route that answers with a record answers besides the record. */
export function recordResponses<Declared>(say: Say<Declared>): {
  304: { description: string };
  422: Declared;
  429: Declared;
  503: Declared;
} {
  return {
    304: { description: 'The client already has this content' },
    422: say('The response takes too long or too much memory (`answer_too_large`)'),
    ...crowdedResponses(say),
  };
}
