/** The connection to the control listener: the token, the overview, the stream of events. */
import { type Activity, isActivity, isOverview, type Overview } from './overview.ts';

const TOKEN_KEY = 'fleetbed-control-token';

/** The control listener does not accept the token. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
}

/**
 * Returns the token in the address's fragment, and removes it from the address bar, or the stored
 * one.
 */
export function knownToken(): string | undefined {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get('token');
  if (given) {
    keepToken(given);
    fragment.delete('token');
    const rest = fragment.size > 0 ? `#${fragment}` : '';
    history.replaceState(null, '', location.pathname + rest);
  }
  return sessionStorage.getItem(TOKEN_KEY) ?? undefined;
}

/** Returns the request id in the address's fragment. */
export function requestAskedAbout(): string | undefined {
  return new URLSearchParams(location.hash.slice(1)).get('request') ?? undefined;
}

/** Stores the token for the lifetime of this tab. */
export function keepToken(token: string): void {
  sessionStorage.setItem(TOKEN_KEY, token);
}

export function forgetToken(): void {
  sessionStorage.removeItem(TOKEN_KEY);
}

/**
 * Reads the state of the server. @throws TokenRefused, TypeError when the server cannot be reached
 */
export async function readOverview(token: string): Promise<Overview> {
  const answer = await ask('/overview', token);
  const body: unknown = await answer.json();
  if (isOverview(body)) return body;
  throw new Error('the server answered with something that is no overview');
}

/** Reads the explanation of an answer, or why there is none. Throws as `readOverview` does. */
export async function readExplanation(token: string, requestId: string): Promise<string> {
  const path = `/explanations/${encodeURIComponent(requestId)}`;
  const answer = await ask(path, token, { accept: 'text/plain', expected: 404 });
  const text = await answer.text();
  return answer.ok ? text : String(JSON.parse(text).error);
}

/**
 * Follows the stream of answered requests until it ends or the signal aborts.
 * @throws TokenRefused, TypeError when the server cannot be reached or disconnects
 */
export async function followActivity(
  token: string,
  onActivity: (activity: Activity) => void,
  signal: AbortSignal,
): Promise<void> {
  const answer = await ask('/events', token, { signal });
  const lines = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let read = await lines?.read(); read && !read.done; read = await lines?.read()) {
    const messages = (rest + read.value).split('\n\n');
    rest = messages.pop() ?? '';
    for (const activity of messages.flatMap(activitiesIn)) onActivity(activity);
  }
}

function activitiesIn(message: string): Activity[] {
  const data = /^data: (.*)$/m.exec(message)?.[1];
  const value: unknown = data === undefined ? undefined : JSON.parse(data);
  return isActivity(value) ? [value] : [];
}

interface Asking {
  readonly signal?: AbortSignal;
  readonly accept?: string;
  /** A status besides those of success that is not an error. */
  readonly expected?: number;
}

async function ask(path: string, token: string, asking: Asking = {}): Promise<Response> {
  const { signal, accept = '*/*', expected } = asking;
  const headers = { Authorization: `Bearer ${token}`, Accept: accept };
  const answer = await fetch(path, { headers, ...(signal && { signal }) });
  if (answer.status === 401) throw new TokenRefused();
  if (answer.ok || answer.status === expected) return answer;
  throw new Error(`the server answered ${answer.status}`);
}
