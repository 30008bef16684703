/** Calls of the control listener, and of the management API behind it. */
import { signOut, tenant, token } from './session.ts';

/** What an answer other than success says. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(typeof body.error === 'string' ? body.error : `the server answered with ${status}`);
    this.status = status;
    this.body = body;
  }
}

/** What a call may carry. */
export interface Call {
  readonly method?: string;
  readonly query?: Query;
  readonly json?: unknown;
  readonly body?: BodyInit;
  readonly accept?: string;
  readonly signal?: AbortSignal;
}

type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** Paths of what all tenants share, which refuse the name of one. */
const ofServer = /^\/(tenants|outbox|runs|variations)(\/|$)|^\/management(\/tickets)?$/;

/** The path of a call, about the chosen tenant where it is about one. */
export function pathWith(path: string, query: Query = {}): string {
  const chosen = ofServer.test(path) ? undefined : tenant.value || undefined;
  const pairs = Object.entries({ tenant: chosen, ...query }).flatMap(([name, values]) =>
    values === undefined || values === ''
      ? []
      : [values].flat().map((value): [string, string] => [name, String(value)]),
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}

/** The answer of success. @throws ApiError for any other, TypeError without a connection */
export async function ask(path: string, call: Call = {}): Promise<Response> {
  const { method = 'GET', query, json, body, accept, signal } = call;
  const shown = token.value;
  const headers = new Headers({ Authorization: `Bearer ${shown}` });
  if (accept !== undefined) headers.set('Accept', accept);
  if (json !== undefined) headers.set('Content-Type', 'application/json');
  const answer = await fetch(pathWith(path, query), {
    method,
    headers,
    body: json === undefined ? (body ?? null) : JSON.stringify(json),
    signal: signal ?? null,
  });
  if (answer.ok) return answer;
  const text = await answer.text();
  // A later sign-in is not undone by the answer to an earlier token.
  if (answer.status === 401 && shown === token.value) {
    signOut('The token was refused. Use the one that fleetbed serve prints when it is ready.');
  }
  throw new ApiError(answer.status, bodyOf(text));
}

/** The JSON of an answer. Throws as `ask` does. */
export async function askJson<Answer>(path: string, call: Call = {}): Promise<Answer> {
  const answer = await ask(path, call);
  const text = await answer.text();
  return (text === '' ? undefined : JSON.parse(text)) as Answer;
}

/** One sentence of whatever went wrong. */
export function reasonOf(fault: unknown): string {
  if (fault instanceof ApiError) return fault.message;
  if (fault instanceof TypeError) return 'The server does not answer.';
  return fault instanceof Error ? fault.message : String(fault);
}

function bodyOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
