/**
 * Delays a typed text until typing pauses, so that the server does not get a request for each
 * letter.
 */
import { useEffect, useState } from 'preact/hooks';
import { after } from '../api/browser-clock.ts';

const SETTLE_MS = 250;

/** Returns the text as it was before typing started, until typing pauses. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => after(SETTLE_MS, () => setSettled(text)), [text]);
  return settled;
}
