import { defineConfig } from '@wagmi/cli';
import { blockExplorer } from '@wagmi/cli/plugins';

export default defineConfig({
  out: 'generated.js',
  plugins: [
    blockExplorer({
      baseUrl: process.env.EXPLORER_API_URL,
      contracts: [{ name: 'Guestbook', address: process.env.CONTRACT }],
      cacheDuration: 0,
    }),
  ],
});
