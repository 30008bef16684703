/**
 * The management API by the ids of its operations, through the control listener, which knows their
 * paths and acts as the tenant's administrator.
 */
import type { AnswerOf } from '../../../../fixtures/control/operations.ts';
import { askJson, jsonOf, type Query, type Sent, send, withTenant } from './client.ts';

type Places = AnswerOf<'GET /management'>;

/** A call of an operation. */
export interface ManagementCall extends Pick<Sent, 'json' | 'body'> {
  readonly query?: Query;
  readonly parameters?: Readonly<Record<string, string>>;
}

let places: Promise<Places> | undefined;

/** The answer of an operation. Throws as `ask` does. */
export async function manage(id: string, call: ManagementCall = {}): Promise<Response> {
  const { parameters, query, ...sent } = call;
  const { method, path } = await placeOf(id, parameters);
  return send(withTenant(path, query), { ...sent, method });
}

/** The JSON of its answer. */
export async function manageJson<Answer>(id: string, call: ManagementCall = {}): Promise<Answer> {
  return jsonOf(await manage(id, call));
}

/** Method and path of an operation, its parameters filled in. */
export async function placeOf(
  id: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<Places[string]> {
  places ??= askJson('GET /management').catch((error: unknown) => {
    places = undefined;
    throw error;
  });
  const place = (await places)[id];
  if (!place) throw new Error(`the server has no operation ${id}`);
  const path = place.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(parameters[name] ?? ''),
  );
  return { method: place.method, path: `/management${path}` };
}
