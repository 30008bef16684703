/** Describes answers that do not come from this API, for errors that end a run before its start. */
import { STATUS_CODES } from 'node:http';
import type { Answer } from './answer.ts';
import { shown } from './expectations.ts';

/** Limit for an HTML page, whose title is near its start. */
const PAGE_READ_CHARACTERS = 20_000;

/** Returns true for an answer with an HTML or XML page. */
export function isMarkup({ headers, text }: Answer): boolean {
  return /\b(?:html|xml)\b/i.test(headers['content-type'] ?? '') || /^\s*</.test(text);
}

/**
 * Describes an answer by its status and body; an HTML page by its title, or else by its visible
 * text.
 */
export function describeAnswer(answer: Answer): string {
  const { status, text } = answer;
  const named = `${status} ${STATUS_CODES[status] ?? ''}`.trim();
  if (text.trim() === '') return `${named} without a body`;
  if (!isMarkup(answer)) return `${named} with the body ${shown(text)}`;
  const head = text.slice(0, PAGE_READ_CHARACTERS);
  const title = /<title>([^<]*)/i.exec(head)?.[1]?.trim();
  const words = head.replace(/<[^<>]*>/g, ' ').trim();
  return `${named} with the HTML page ${shown(title || words || text)}`;
}
