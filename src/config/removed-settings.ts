const BODIES = 'a fixed number of request bodies is read at once; remove it';
const ANSWERS = 'a fixed number of large answers is under way at once; remove it';

/** Settings of earlier versions, and what to do about each. */
export const REMOVED_SETTINGS: ReadonlyMap<string, string> = new Map([
  ['limits.bodyMemoryBytes', BODIES],
  ['limits.bodySpoolBytes', BODIES],
  ['limits.clientBodyBytes', BODIES],
  ['limits.answerBytes', ANSWERS],
  ['limits.clientAnswerBytes', ANSWERS],
  [
    'verification.recheckPerHour',
    'verification.recheckRoundSeconds says in how long all contracts of a chain are read again, however many there are; use that',
  ],
  [
    'verification.jobWaitingRequests',
    'verification.waitingRequests and verification.clientWaitingRequests bound it; remove it',
  ],
]);
