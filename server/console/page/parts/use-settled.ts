/** A typed text, once typing has paused: the server does not get a request for each letter. */
import { useEffect, useState } from 'preact/hooks';
import { after } from '../api/browser-clock.ts';

const SETTLE_MS = 250;

/** The previous text, until typing has paused. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => after(SETTLE_MS, () => setSettled(text)), [text]);
  return settled;
}
