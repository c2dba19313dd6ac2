import { type Say } from '../records/record-responses.ts';

const TOKEN = 'A token is required (`token_required`), or it is unknown (`token_unknown`)';

/** Responses of a route that starts a verification, to clients that may not. */
export const refusalResponses = <Declared>(say: Say<Declared>) => ({
  401: say(TOKEN),
  403: say('Verification is turned off (`verification_off`)'),
});

/** Responses of a route that receives a verification, in addition to those about the content of the body. */
export const submissionResponses = <Declared>(say: Say<Declared>) => ({
  ...refusalResponses(say),
  409: say('The contract already has a full match (`already_verified`)'),
  415: say('The body is compressed (`unsupported_content_coding`)'),
  503: say('Too many request bodies are being read (`too_many_bodies`)'),
});

/** Responses of a route that imports signatures, in addition to those about the content of the body. */
export const signatureImportResponses = <Declared>(say: Say<Declared>) => ({
  401: say(TOKEN),
  403: say(
    'Imports are turned off (`signature_import_refused`, `verification_off`), or the limit of imported signatures is reached (`signature_budget_spent`)',
  ),
  429: say('Too many imports are waiting (`too_many_waiters`)'),
});
