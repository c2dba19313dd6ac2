const BODIES = 'a fixed number of request bodies is read at once; remove it';
const ANSWERS = 'a fixed number of large answers is under way at once; remove it';
const FIXED = 'it has a fixed value now; remove it';

/** Settings of earlier versions, with the advice for each. */
export const REMOVED_SETTING_ADVICE: ReadonlyMap<string, string> = new Map([
  ['limits.bodyMemoryBytes', BODIES],
  ['limits.bodySpoolBytes', BODIES],
  ['limits.clientBodyBytes', BODIES],
  ['limits.answerBytes', ANSWERS],
  ['limits.clientAnswerBytes', ANSWERS],
  [
    'verification.recheckPerHour',
    'verification.recheckRoundSeconds says in how long all contracts of a chain are read again, however many there are; use that',
  ],
  ['verification.jobWaitingRequests', 'verification.waitingRequests bounds it; remove it'],
  [
    'verification.clientWaitingRequests',
    'one client may have a tenth of verification.waitingRequests; remove it',
  ],
  ['events.connectionsPerClient', 'one client may have a quarter of events.maxClients; remove it'],
  ['limits.headersTimeoutMs', 'limits.requestTimeoutMs bounds the whole request; remove it'],
  ['limits.answerCacheBytes', FIXED],
  ['limits.headerBytes', FIXED],
  ['limits.jsonDepth', FIXED],
  ['limits.jsonValues', FIXED],
  ['monitor.concurrency', FIXED],
  ['monitor.queueShare', FIXED],
]);
