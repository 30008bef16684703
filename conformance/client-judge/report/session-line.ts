/** A step of a session as one line, for the log of a scene and for the report. */
import type { SessionStep } from './client-test-result.ts';

/** Returns the line: number, seconds, and what happened. */
export function sessionLine({ sequence, atMs, by, text, response }: SessionStep): string {
  const number = String(sequence ?? '').padStart(5);
  const time = (atMs / 1000).toFixed(2).padStart(8);
  const line = by === 'client-test' ? `-- ${text}` : text;
  return `${number} ${time} s  ${line}${response === undefined ? '' : ` -> ${response}`}`;
}
