/**
 * Describes responses that do not come from this API, for errors that end a run before its start.
 */
import { STATUS_CODES } from 'node:http';
import { describeValue } from './expectations.ts';
import type { HttpResponse } from './response.ts';

/** Limit for an HTML page, whose title is near its start. */
const PAGE_READ_CHARACTERS = 20_000;

/** Returns true for a response with an HTML or XML page. */
export function isMarkup({ headers, text }: HttpResponse): boolean {
  return /\b(?:html|xml)\b/i.test(headers['content-type'] ?? '') || /^\s*</.test(text);
}

/**
 * Describes a response by its status and body; an HTML page by its title, or else by its visible
 * text.
 */
export function describeResponse(response: HttpResponse): string {
  const { status, text } = response;
  const statusLine = `${status} ${STATUS_CODES[status] ?? ''}`.trim();
  if (text.trim() === '') return `${statusLine} without a body`;
  if (!isMarkup(response)) return `${statusLine} with the body ${describeValue(text)}`;
  const head = text.slice(0, PAGE_READ_CHARACTERS);
  const title = /<title>([^<]*)/i.exec(head)?.[1]?.trim();
  const visible = head.replace(/<[^<>]*>/g, ' ').trim();
  return `${statusLine} with the HTML page ${describeValue(title || visible || text)}`;
}
