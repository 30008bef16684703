/** The end of a repro script, which removes the resources that its steps created. */
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { controlPaths } from '../../fixtures/control/control-listener.ts';
import { headerOf, type ScriptRequest } from './request.ts';
import { maskedWord } from './shell.ts';

/** A step of a script. */
interface CleanupRequest {
  /** The request, with marks in place of values that the script takes from responses. */
  readonly request: ScriptRequest;
  /** The ID of the operation that the request calls. */
  readonly operation: string | undefined;
  /** The file in which the script stores the response. */
  readonly file: string;
}

type RemovalOperationId = keyof typeof managementOperations;

/** For each operation that creates a resource, the operation that removes it, and its body. */
const endings: Readonly<Record<string, readonly [RemovalOperationId, string?]>> = {
  'upload-artifact': ['delete-artifact'],
  'create-deployment': ['abort-deployment', '{"status":"aborted"}'],
  'preauthorize-device': ['decommission-device'],
};

/** Returns the URL where a testbed creates tenants; undefined for any other request. */
function tenantsUrl({ line }: ScriptRequest): string | undefined {
  const [method, url = ''] = line.split(' ');
  const isThere = URL.canParse(url) && new URL(url).pathname === controlPaths.tenants;
  return method === 'POST' && isThere ? url : undefined;
}

/** Returns the lines of the cleanup; none if no step creates a resource. */
export function cleanupLines(steps: readonly CleanupRequest[], baseUrl: string): readonly string[] {
  const lines = [...new Set(steps.flatMap((step) => endLines(step, baseUrl)))].reverse();
  return lines.length === 0
    ? []
    : ['', '# Remove what the steps created, so that the script can be run again.', ...lines];
}

function endLines(
  { request, operation, file }: CleanupRequest,
  baseUrl: string,
): readonly string[] {
  const { line } = request;
  const ending = endings[operation ?? ''];
  if (ending) {
    const idExpression = `"$(grep -i '^location:' ${file} | tr -d '\\r' | sed 's#.*/##')"`;
    return [endLine(request, { baseUrl, ending, id: idExpression })];
  }
  const [, device] = /\/devices\/([^/]+)\/auth\//.exec(line) ?? [];
  if (operation === 'set-auth-set-status' && device !== undefined) {
    const id = maskedWord(device);
    return [endLine(request, { baseUrl, ending: ['decommission-device'], id })];
  }
  const tenants = tenantsUrl(request);
  if (tenants === undefined) return [];
  const idExpression = `"$(grep -o '"id" *: *"[^"]*"' ${file} | head -n 1 | cut -d'"' -f4)"`;
  return [removalCommand(request, 'DELETE', `${maskedWord(`${tenants}/`)}${idExpression}`)];
}

function endLine(
  request: ScriptRequest,
  {
    baseUrl,
    ending: [id, body],
    id: made,
  }: {
    readonly baseUrl: string;
    readonly ending: readonly [RemovalOperationId, string?];
    readonly id: string;
  },
): string {
  const { method, path } = managementOperations[id];
  const [prefix = '', suffix = ''] = path.split('{id}');
  const url = `${maskedWord(baseUrl + prefix)}${made}${suffix === '' ? '' : maskedWord(suffix)}`;
  return removalCommand(request, method, url, body);
}

/** Removes a resource as the user of the step that created it. */
function removalCommand(
  { headers }: ScriptRequest,
  method: string,
  url: string,
  body?: string,
): string {
  const bodyOptions =
    body === undefined ? '' : ` -H 'content-type: application/json' --data-raw ${maskedWord(body)}`;
  const user = maskedWord(`authorization: ${headerOf(headers, 'authorization') ?? ''}`);
  return `curl -sS -o /dev/null -X ${method} ${url} -H ${user}${bodyOptions}`;
}
