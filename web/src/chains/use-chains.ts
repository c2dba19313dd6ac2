import { useEffect, useState } from 'preact/hooks';
import { createApi } from '../api.ts';
import { readChains, type ReadChains } from './read-chains.ts';

/** All chains in the browser: absent until they are loaded. */
export function useChains(base: string): ReadChains | undefined {
  const [read, setRead] = useState<ReadChains>();
  useEffect(() => {
    let unused = false;
    void readChains(createApi((path) => fetch(`${base}${path}`))).then((chains) => {
      if (!unused) setRead(chains);
    });
    return () => {
      unused = true;
    };
  }, [base]);
  return read;
}
