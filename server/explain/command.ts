/**
 * Writes a corrected request as bash commands with curl, and with openssl if a signature is needed.
 */
import { valueText } from '../../fixtures/base/value-text.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import { shellWord } from '../../fixtures/formats/shell-word.ts';
import { readPublicKey } from '../crypto/public-key.ts';
import type { CorrectedRequest, FormPart } from './corrected-request.ts';
import type { Correction } from './correction.ts';
import { jsonOf } from './received-request.ts';
import { escapingLines, quotedText } from './shell-text.ts';
import type { PreparationStep } from './steps.ts';
import { type CommandText, readable } from './text.ts';

/** Facts about the server that a command needs. */
interface CommandFacts {
  readonly headerNames: VendorNames;
  /** The user to log in as, if no other user is known. */
  readonly adminEmail: string;
  /** True if devices have to send a tenant token. */
  readonly namesTenant: boolean;
}

const authPath = operations['post-auth-request'].path;
const loginPath = managementOperations.login.path;
const jsonHeader = "-H 'Content-Type: application/json'";
const publicKeyLine = `PUBLIC_KEY=$(openssl pkey -in "$KEY" -pubout | awk '{printf "%s\\\\n", $0}')`;

const preauthorizePath = managementOperations['preauthorize-device'].path;
const preauthorizeLine = `printf '{"identity_data":%s,"pubkey":"%s"}' "$ID_DATA" "$PUBLIC_KEY" | curl -fsS -X POST -H "Authorization: Bearer $ADMIN_TOKEN" ${jsonHeader} --data-binary @- ${urlOf([preauthorizePath])}`;

const signers: Readonly<Record<KeyType, string>> = {
  rsa: 'openssl dgst -sha256 -sign "$KEY" "$BODY"',
  ecdsa: 'openssl dgst -sha256 -sign "$KEY" "$BODY"',
  ed25519: 'openssl pkeyutl -sign -rawin -inkey "$KEY" -in "$BODY"',
};
const anySigner = `{ ${signers.rsa} 2>/dev/null || ${signers.ed25519}; }`;

/** Returns the lines of bash that perform the steps and then send the request. */
export function commandOf(correction: Correction, facts: CommandFacts): string {
  const { request, steps, followsLink } = correction;
  const precedingLines = steps.flatMap((step) => linesOf(step, facts));
  if (request.operation.authorization === 'signature') {
    return [...precedingLines, ...signedCommand(request, facts)].join('\n');
  }
  precedingLines.push(...escapingLines(request.body ?? []));
  if (followsLink) return [...precedingLines, ...linkCommand(request)].join('\n');
  if (request.operation.authorization === 'basic') precedingLines.push(emailLine(facts.adminEmail));
  return [...precedingLines, callOf(request)].join('\n');
}

function linesOf(step: PreparationStep, facts: CommandFacts): string[] {
  switch (step.kind) {
    case 'wait':
      return [`sleep ${step.seconds}`];
    case 'accept':
      return [
        ...loginLines('ADMIN_TOKEN', facts.adminEmail),
        `curl -fsS -X PUT -H "Authorization: Bearer $ADMIN_TOKEN" ${jsonHeader} --data-raw '{"status":"accepted"}' ${urlOf([step.path])}`,
      ];
    case 'preauthorize':
      return [publicKeyLine, ...loginLines('ADMIN_TOKEN', facts.adminEmail), preauthorizeLine];
    case 'user-token':
      return step.isOther
        ? [loginLine('TOKEN')]
        : loginLines('TOKEN', step.email ?? facts.adminEmail);
    case 'device-token':
      return deviceTokenLines(step, facts);
  }
}

function loginLines(variable: string, email: string): string[] {
  return [emailLine(email), loginLine(variable)];
}

function loginLine(variable: string): string {
  return `${variable}=$(curl -fsS -X POST -u "$EMAIL:$PASSWORD" ${urlOf([loginPath])})`;
}

function emailLine(email: string): string {
  return `EMAIL=\${EMAIL-${shellWord(email)}}`;
}

function deviceTokenLines(
  { identity, keyType }: Extract<PreparationStep, { kind: 'device-token' }>,
  facts: CommandFacts,
): string[] {
  const { headerNames, namesTenant } = facts;
  const identityWord = identity === undefined ? '"$ID_DATA"' : shellWord(identity);
  const tenant = namesTenant ? ',"tenant_token":"%s"' : '';
  const values = [`"$(printf %s ${identityWord} | sed 's/[\\\\"]/\\\\&/g')"`, '"$PUBLIC_KEY"'];
  if (namesTenant) values.push('"$TENANT_TOKEN"');
  const template = `{"id_data":"%s","pubkey":"%s"${tenant}}`;
  return [
    publicKeyLine,
    'BODY=$(mktemp)',
    `printf '${template}' ${values.join(' ')} > "$BODY"`,
    `SIGNATURE=$(${keyType ? signers[keyType] : anySigner} | base64 -w0)`,
    `TOKEN=$(curl -fsS ${jsonHeader} -H "${headerNames.signature}: $SIGNATURE" --data-binary @"$BODY" ${urlOf([authPath])})`,
  ];
}

/** Writes the body to a file first, so that the signed and the sent bytes are identical. */
function signedCommand(request: CorrectedRequest, { headerNames }: CommandFacts): string[] {
  const body = request.isBodyInFile ? [] : (request.body ?? []);
  const usesKey = body.some((part) => typeof part !== 'string' && part.variable === 'PUBLIC_KEY');
  return [
    ...(usesKey ? [publicKeyLine] : []),
    ...escapingLines(body),
    ...(request.isBodyInFile
      ? ['BODY=$(realpath "$BODY_FILE")']
      : ['BODY=$(mktemp)', `printf %s ${quotedText(body)} > "$BODY"`]),
    `SIGNATURE=$(${signerFor(body)} | base64 -w0)`,
    `curl -isS -X POST ${jsonHeader} -H "${headerNames.signature}: $SIGNATURE" --data-binary @"$BODY" ${urlOf(request.target)}`,
  ];
}

function signerFor(body: CommandText): string {
  const value = jsonOf(readable(body))?.value;
  const isObject = typeof value === 'object' && value !== null && 'pubkey' in value;
  const key = isObject ? readPublicKey(valueText(value.pubkey)) : undefined;
  return key && 'keyType' in key ? signers[key.keyType] : anySigner;
}

/** Returns the lines that request a link and fetch its file. */
function linkCommand(request: CorrectedRequest): string[] {
  const find = `sed -n 's/.*"uri": *"\\([^"]*\\)".*/\\1/p'`;
  return [
    `LINK=$(curl -fsS ${requestArgs(request)} | ${find})`,
    `: "\${LINK:?the response has no link: there is none for this device now}"`,
    // The output is discarded, so that a partly downloaded file of the reader is not overwritten.
    'curl -sS -D - -o /dev/null "$LINK"',
  ];
}

function callOf(request: CorrectedRequest): string {
  const call = `curl -isS ${requestArgs(request)}`;
  // An open WebSocket does not end by itself and would block the shell, so curl ends it by a
  // time-out, which is expected.
  return 101 in request.operation.success ? `${call} || [ $? -eq ${CURL_TIMED_OUT} ]` : call;
}

const CURL_TIMED_OUT = 28;

function requestArgs({
  operation,
  headers,
  target,
  body,
  isBodyInFile,
  form,
}: CorrectedRequest): string {
  const args = [];
  if (101 in operation.success) args.push('--http1.1 -N --max-time 2');
  if (operation.method === 'HEAD') args.push('-I');
  else if (operation.method !== 'GET') args.push(`-X ${operation.method}`);
  if (operation.authorization === 'basic') args.push('-u "$EMAIL:$PASSWORD"');
  args.push(...headersOf(headers));
  if (form) args.push(...form.map(partOf));
  if (isBodyInFile) args.push('--data-binary @"$BODY_FILE"');
  else if (body) args.push(`--data-raw ${quotedText(body)}`);
  const hasBody = form ?? body;
  return [...args, ...(hasBody ? [urlOf(target)] : withEncodedQuery(target))].join(' ');
}

/** Lets curl encode those query parameters whose value the reader sets. */
function withEncodedQuery(target: CommandText): string[] {
  const start = target.indexOf('?');
  const pairs = start < 0 ? [] : pairsOf(target.slice(start + 1));
  const needsValue = (pair: CommandText): boolean => pair.some((part) => typeof part !== 'string');
  const pairsWithNeeds = pairs.filter(needsValue);
  if (pairsWithNeeds.length === 0) return [urlOf(target)];
  const knownParts = pairs
    .filter((pair) => !needsValue(pair))
    .flatMap((pair, at) => [at ? '&' : '?', ...pair]);
  const encoded = pairsWithNeeds.map((pair) => `--data-urlencode ${quotedText(pair)}`);
  return ['-G', ...encoded, urlOf([...target.slice(0, start), ...knownParts])];
}

function pairsOf(query: CommandText): CommandText[] {
  const pairs: CommandText[number][][] = [[]];
  for (const part of query) {
    const [first = '', ...furtherPairs] = typeof part === 'string' ? part.split('&') : [part];
    pairs.at(-1)?.push(first);
    for (const furtherPair of furtherPairs) pairs.push([furtherPair]);
  }
  return pairs;
}

function headersOf(headers: CorrectedRequest['headers']): string[] {
  return headers.map(([name, value]) => `-H ${quotedText([`${name}: `, ...value])}`);
}

function partOf({ name, value, isFile = false }: FormPart): string {
  return isFile
    ? `-F ${name}=@${quotedText(value)}`
    : `--form-string ${quotedText([`${name}=`, ...value])}`;
}

/**
 * Options keep curl from reading brackets and braces as patterns and from removing dots from a
 * path.
 */
function urlOf(target: CommandText): string {
  const fixed = target.filter((part) => typeof part === 'string').join('');
  const options = `${/[[\]{}]/.test(fixed) ? '-g ' : ''}${/\/\.\.?(\/|$|\?)/.test(fixed) ? '--path-as-is ' : ''}`;
  return options + quotedText([{ variable: 'URL' }, ...target]);
}
