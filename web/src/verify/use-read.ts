import { useEffect, useState } from 'preact/hooks';

const TYPING_MS = 250;

/** Reads something after typing has paused; undefined until then, and if it cannot be read. */
export function useRead<Value>(
  key: string | undefined,
  read: (key: string) => Promise<Value | undefined>,
): Value | undefined {
  const [found, setFound] = useState<{ readonly key: string; readonly value: Value | undefined }>();
  useEffect(() => {
    if (key === undefined) return undefined;
    let isOver = false;
    const timer = setTimeout(() => {
      void read(key).then((value) => {
        if (!isOver) setFound({ key, value });
      });
    }, TYPING_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [key]);
  return found?.key === key ? found?.value : undefined;
}
