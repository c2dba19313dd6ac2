/** `npm run bench`: every basic benchmark, as tables. docs/benchmarks.md contains figures from this command. */
import { runHttpBenchmark } from './http.ts';
import { runServiceBenchmark } from './service.ts';
import { runStoreBenchmark } from './store.ts';

console.log('Service: start and memory');
console.table(await runServiceBenchmark());
console.log(
  'Store: matches per second, against plain INSERTs of the same number of rows in the same run',
);
console.table(await runStoreBenchmark());
console.log(
  'HTTP: processor time for a request, against bare node:http with the same bytes in the same run',
);
await runHttpBenchmark();
