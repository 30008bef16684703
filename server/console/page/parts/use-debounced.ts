/**
 * Delays a typed text until typing pauses, so that the server does not get a request for each
 * letter.
 */
import { useEffect, useState } from 'preact/hooks';
import { after } from '../api/browser-clock.ts';

const DEBOUNCE_MS = 250;

/** Returns the text as it was before typing started, until typing pauses. */
export function useDebounced(text: string): string {
  const [debouncedText, setDebouncedText] = useState(text);
  useEffect(() => after(DEBOUNCE_MS, () => setDebouncedText(text)), [text]);
  return debouncedText;
}
