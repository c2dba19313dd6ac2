import { useEffect, useState } from 'preact/hooks';
import { createApi } from '../api.ts';
import { readChains, type ReadChains } from './read-chains.ts';

/** All chains for the browser: absent until they are read. */
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
