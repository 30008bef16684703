/**
 * The management API by the ids of its operations, through the control listener, which knows their
 * paths and acts as the tenant's administrator.
 */
import { ask, askJson, type Call } from './client.ts';

interface Place {
  readonly method: string;
  /** Parameters in braces. */
  readonly path: string;
}

/** A call of an operation. */
export interface ManagementCall extends Omit<Call, 'method'> {
  readonly parameters?: Readonly<Record<string, string>>;
}

let places: Promise<Readonly<Record<string, Place>>> | undefined;

/** The answer of an operation. Throws as `ask` does. */
export async function manage(id: string, call: ManagementCall = {}): Promise<Response> {
  const { method, path } = await placeOf(id, call.parameters);
  return ask(path, { ...call, method });
}

/** The JSON of its answer. */
export async function manageJson<Answer>(id: string, call: ManagementCall = {}): Promise<Answer> {
  const { method, path } = await placeOf(id, call.parameters);
  return askJson(path, { ...call, method });
}

/** Method and path of an operation, its parameters filled in. */
export async function placeOf(
  id: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<Place> {
  places ??= askJson<Readonly<Record<string, Place>>>('/management').catch((fault: unknown) => {
    places = undefined;
    throw fault;
  });
  const place = (await places)[id];
  if (!place) throw new Error(`the server has no operation ${id}`);
  const path = place.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(parameters[name] ?? ''),
  );
  return { method: place.method, path: `/management${path}` };
}
