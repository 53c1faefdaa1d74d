/** The first line of the list: another one when a line is asked for that is not in the list. */
import { useEffect, useState } from "react";
import { baseFor, type LineCache, MOST_ROWS } from "./line-cache";

export function useBase(
  cache: LineCache,
  isLoaded: boolean,
  line: number | null,
): { base: number | null; show: (line: number) => void } {
  const [base, setBase] = useState<number | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another line moves the list
  useEffect(() => {
    if (!isLoaded) return;
    const wanted = line ?? cache.total;
    const isInside = base !== null && wanted >= base && wanted <= base + MOST_ROWS;
    if (!isInside) setBase(baseFor(cache, wanted));
  }, [isLoaded, line]);
  return { base, show: (to) => setBase(baseFor(cache, to)) };
}
