/** The log lines of refusals and answers. */

import type { Exchange } from '../http/exchange.ts';
import type { Refusal, RefusalDetail } from '../http/refusal.ts';
import type { Success } from '../http/success.ts';
import { quoted } from './shell.ts';

/** Returns the line of a refusal: the reason, the location, and the command that explains it. */
export function refusalLine(exchange: Exchange, { status, error, detail }: Refusal): string {
  const { request, path, requestId } = exchange;
  const wrong = detail?.path === undefined ? '' : ` [${detail.path}: ${comparison(detail)}]`;
  const asked = `${status} ${request.method} ${path}`;
  return `${asked}: ${error}${wrong} (${requestId}); explain with: npx fleetbed explain ${quoted(requestId)}`;
}

/** Returns the line of an answer, with the reason why a device got no update. */
export function answerLine(exchange: Exchange, { status, noUpdate }: Success): string {
  const { request, path, requestId } = exchange;
  const why = noUpdate ? `: no update: ${noUpdate.because}` : '';
  return `${status} ${request.method} ${path}${why} (${requestId})`;
}

function comparison({ expected, actual }: RefusalDetail): string {
  const told = [
    ...(expected === undefined ? [] : [`expected ${expected}`]),
    ...(actual === undefined ? [] : [`got ${actual}`]),
  ];
  return told.join(', ');
}
