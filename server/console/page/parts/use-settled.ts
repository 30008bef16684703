/** What is being typed, once nobody has typed for a moment: the server is not asked for each letter. */
import { useEffect, useState } from 'preact/hooks';
import { after } from '../api/browser-clock.ts';

const SETTLE_MS = 250;

/** The text of a moment ago, until it has settled. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => after(SETTLE_MS, () => setSettled(text)), [text]);
  return settled;
}
