import { parentPort } from 'node:worker_threads';
import { answerQuestion, type JobQuestion } from './answer-question.ts';

parentPort?.on('message', (question: JobQuestion) => {
  parentPort?.postMessage(answerQuestion(question));
});
