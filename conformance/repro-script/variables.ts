/**
 * The variables of a script for secrets, which reports never contain. The reader provides real
 * secrets; the script itself generates those that a case invented or altered.
 */
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { shellQuoted } from '../../fixtures/formats/shell-word.ts';
import { bodyNotes, type ScriptRequest } from './request.ts';
import { maskedWord, masksIn, variableOf } from './shell.ts';
import type { RepeatedValue } from './values.ts';

const parts = ['header', 'claims', 'signature'];

interface Script {
  /** The marks of values that the script takes from responses. */
  readonly definedMarks: ReadonlySet<string>;
  readonly baseUrl: string;
  /** True if the script has all steps, so that answers contain every secret that it needs. */
  readonly isWhole: boolean;
}

/** Returns the first lines: each secret and how to get its value, and notes on truncated bodies. */
export function variableLines(
  requests: readonly ScriptRequest[],
  { definedMarks, baseUrl, isWhole }: Script,
): readonly string[] {
  const isTaken = (mask: string): boolean =>
    [...definedMarks].some((mark) => mark.startsWith(`${withoutAlteration(mask).slice(0, -1)}-`));
  const masks = requests.flatMap(masksOf).filter((mask) => {
    return !definedMarks.has(mask) && (withoutAlteration(mask) === mask || !isTaken(mask));
  });
  const lines = [...new Set(masks.map(withoutAlteration))].flatMap((mask) =>
    secretLines(mask, { baseUrl, isWhole }),
  );
  return [...lines, ...new Set(requests.flatMap(bodyNotes))];
}

/** Returns lines for the tokens altered in this request, made from the newest of their kind. */
export function alteredLines(
  request: ScriptRequest,
  handed: readonly RepeatedValue[],
): readonly string[] {
  return [...new Set(masksOf(request))].flatMap((mask) => {
    const { kind, altered } = readMask(mask);
    if (altered === undefined) return [];
    const newest = handed.findLast(({ mark }) => new RegExp(`^<masked:${kind}-\\d+>$`).test(mark));
    const token = variableOf(newest?.mark ?? withoutAlteration(mask));
    // {} in Base64: not a signature, and without the claims or header of a token.
    const chunks = parts.map((part, index) =>
      altered.includes(part) ? 'e30' : `$(printf %s "$${token}" | cut -d. -f${index + 1})`,
    );
    return [`${variableOf(mask)}="${chunks.join('.')}"`];
  });
}

function masksOf({ line, headers, body = '' }: ScriptRequest): readonly string[] {
  return [line, ...Object.values(headers), body].flatMap(masksIn);
}

/** Returns the mask of the whole token that was altered. */
function withoutAlteration(mask: string): string {
  const { kind, altered } = readMask(mask);
  return altered === undefined ? mask : `<masked:${kind}>`;
}

function readMask(mask: string): { readonly kind: string; readonly altered: string | undefined } {
  const [, kind = '', altered] = /^<masked:?([\w-]*)(?:, other (.+))?>$/.exec(mask) ?? [];
  return { kind, altered };
}

/** The kinds of secrets that only the reader has; cases invent all others. */
const real: readonly string[] = ['user-token', 'device-token', 'control-token'];

function secretLines(
  mask: string,
  { baseUrl, isWhole }: Omit<Script, 'definedMarks'>,
): readonly string[] {
  const { kind } = readMask(mask);
  const name = variableOf(mask);
  if (isWhole && !real.includes(kind)) {
    return [`${name}=\${${name}:-made-up-text} # any value will do`];
  }
  return [
    ...fromEnvironment(kind, name, baseUrl),
    `need ${name} "$${name}" ${shellQuoted(sourceOf(kind, baseUrl))}`,
  ];
}

/** Returns lines that take a secret from the variables of `fleetbed`, or log in with them. */
function fromEnvironment(kind: string, name: string, baseUrl: string): readonly string[] {
  const beginning = `\${${name}:-`;
  if (kind === 'control-token') return [`${name}=${beginning}\${FLEETBED_CONTROL_TOKEN:-}}`];
  if (kind !== 'user-token') return [`${name}=${beginning}}`];
  const login = maskedWord(`${baseUrl}${pathOf(managementOperations.login)}`);
  const user = `"\${FLEETBED_EMAIL:-admin@example.com}:\${FLEETBED_PASSWORD:-}"`;
  return [
    `${name}=${beginning}\${FLEETBED_TOKEN:-}}`,
    `[ -n "$${name}" ] || [ -z "\${FLEETBED_PASSWORD:-}" ] ||`,
    `  ${name}=$(curl -sS -f -X POST -u ${user} ${login})`,
  ];
}

function sourceOf(kind: string, baseUrl: string): string {
  const authentication = `${baseUrl}${pathOf(operations['post-auth-request'])}`;
  const sources: Readonly<Record<string, string>> = {
    'user-token': 'the JWT of a user, or set FLEETBED_EMAIL and FLEETBED_PASSWORD',
    'device-token': `the body of the 200 response to an accepted device's POST ${authentication}`,
    'control-token': 'the control token, as printed by fleetbed serve',
    'link-signature': 'the signature in a new link from the target',
    'tenant-token': "the tenant's token, from its settings or from the server's administrator",
    password: "the user's password",
    basic: "printf %s 'EMAIL:PASSWORD' | openssl base64 -A",
  };
  return sources[kind] ?? 'a secret that the run was given or received';
}
