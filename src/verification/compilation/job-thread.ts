import { parentPort } from 'node:worker_threads';
import { answerQuestion, type JobQuestion } from './answer-question.ts';
import { lowerThreadPriority } from '../../lib/thread-priority.ts';

if (parentPort !== null) lowerThreadPriority();
parentPort?.on('message', (question: JobQuestion) => {
  parentPort?.postMessage(answerQuestion(question));
});
