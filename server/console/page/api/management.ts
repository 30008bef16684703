/**
 * Calls the management API by the IDs of its operations, through the control listener. That
 * listener knows the paths and acts as the tenant's administrator.
 */
import type { ResponseOf } from '../../../../fixtures/control/operations.ts';
import {
  jsonOf,
  type QueryParameters,
  type RequestSettings,
  requestJson,
  send,
  withTenant,
} from './client.ts';

type OperationPaths = ResponseOf<'GET /management'>;

/** The query, body and path parameters of a call. */
export interface ManagementCall extends Pick<RequestSettings, 'json' | 'body'> {
  readonly query?: QueryParameters;
  readonly parameters?: Readonly<Record<string, string>>;
}

let paths: Promise<OperationPaths> | undefined;

/** Calls an operation and returns the response. Throws as `request` does. */
export async function callManagement(id: string, call: ManagementCall = {}): Promise<Response> {
  const { parameters, query, ...sent } = call;
  const { method, path } = await pathOf(id, parameters);
  return send(withTenant(path, query), { ...sent, method });
}

/** Calls an operation and returns the JSON of the response. Throws as `request` does. */
export async function manageJson<HttpResponse>(
  id: string,
  call: ManagementCall = {},
): Promise<HttpResponse> {
  return jsonOf(await callManagement(id, call));
}

/** Number of rows that are requested at a time, which is the maximum of most lists. */
const PAGE_ROWS = 500;

/** Returns all rows of a list, read page by page. Throws as `request` does. */
export async function manageAll<Row>(
  id: string,
  { query, ...call }: ManagementCall = {},
  pageRows = PAGE_ROWS,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let page = 1; ; page += 1) {
    const paging = { page, per_page: pageRows };
    const next = await manageJson<readonly Row[]>(id, { ...call, query: { ...query, ...paging } });
    rows.push(...next);
    if (next.length < pageRows) return rows;
  }
}

/** Returns the method and path of an operation, with the parameters filled in. */
export async function pathOf(
  id: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<OperationPaths[string]> {
  paths ??= requestJson('GET /management').catch((error: unknown) => {
    paths = undefined;
    throw error;
  });
  const operationPath = (await paths)[id];
  if (!operationPath) throw new Error(`the server has no operation ${id}`);
  const path = operationPath.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(parameters[name] ?? ''),
  );
  return { method: operationPath.method, path: `/management${path}` };
}
