/** `npm run bench`: every basic benchmark, as tables. docs/benchmarks.md contains figures from this command. */
import { runHttpBenchmark } from './http.ts';
import { runServiceBenchmark } from './service.ts';
import { runStoreBenchmark } from './store.ts';

console.log('Service: start and memory');
console.table(await runServiceBenchmark());
console.log(
  'Store: matches per second, compared with plain INSERTs of as many rows in the same run',
);
console.table(await runStoreBenchmark());
console.log(
  'HTTP: CPU time per request, compared with bare node:http sending the same bytes in the same run',
);
await runHttpBenchmark();
