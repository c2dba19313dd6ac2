import { parentPort } from 'node:worker_threads';
import { answerQuestion, type JobQuestion } from './answer-question.ts';
import { giveWay } from '../../lib/give-way.ts';

if (parentPort !== null) giveWay();
parentPort?.on('message', (question: JobQuestion) => {
  parentPort?.postMessage(answerQuestion(question));
});
