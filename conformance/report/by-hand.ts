/**
 * How a person repeats a request by hand: a block for bash with curl, and with openssl where the
 * request is signed. Secrets are variables; each is told how to get. Spec: Device authentication
 */
import * as v from 'valibot';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import type { CaseVerdict } from '../result.ts';
import type { Exchange } from '../target/exchange.ts';
import { masksIn, shellFile, shellWord } from './shell.ts';

type SentRequest = Exchange['request'];
type Signature = NonNullable<SentRequest['signature']>;

/** How openssl makes a key of this type, and a signature with it. */
const opensslOf: Readonly<Record<KeyType, { readonly key: string; readonly sign: string }>> = {
  rsa: { key: '-algorithm RSA -pkeyopt rsa_keygen_bits:2048', sign: 'dgst -sha256 -sign' },
  ecdsa: {
    key: '-algorithm EC -pkeyopt ec_paramgen_curve:P-256',
    sign: 'dgst -sha256 -sign',
  },
  ed25519: { key: '-algorithm ED25519', sign: 'pkeyutl -sign -rawin -inkey' },
};

const namedKey = v.pipe(v.string(), v.parseJson(), v.looseObject({ pubkey: v.string() }));

/** The sample key of RFC 6455; the suite's own is new each time. */
const SAMPLE_SOCKET_KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
const SOCKET_SECONDS = 5;
/** Where the masks of a request that nothing says more about come from. */
const UNNAMED = 'SECRET';

/** The block for the request of an exchange. @param baseUrl where the target's API begins */
export function byHand({ request }: Pick<Exchange, 'request'>, baseUrl: string): string {
  const { signature } = request;
  const signedBody = signature?.fits ? ownSignedBody(request) : undefined;
  const lines =
    signature && signedBody !== undefined
      ? signedLines(request, signature, signedBody)
      : [...recordedSignatureNote(signature), ...curlLines(request, bodyWords(request))];
  return [...variableNotes(request, baseUrl), ...lines].join('\n');
}

/** A failed verdict with the block of its last exchange, which is the one that was judged. */
export function withByHand(verdict: CaseVerdict, baseUrl: string): CaseVerdict {
  const last = verdict.exchanges?.at(-1);
  if (verdict.verdict !== 'fail' || last === undefined) return verdict;
  return { ...verdict, byHand: byHand(last, baseUrl) };
}

/** A body that names a key of the reader's own in place of the suite's, as a word for bash. */
function ownSignedBody({ body = '', bodyForm, bodyBytes }: SentRequest): string | undefined {
  if (bodyForm !== undefined || bodyBytes !== undefined || body.includes('\0')) return undefined;
  const parsed = v.safeParse(namedKey, body);
  if (!parsed.success) return undefined;
  const written = JSON.stringify(parsed.output.pubkey).slice(1, -1);
  const [before, after, ...more] = body.split(written);
  if (before === undefined || after === undefined || more.length > 0) return undefined;
  return `${shellWord(before, variableOf)}"$PUBKEY"${shellWord(after, variableOf)}`;
}

function signedLines(request: SentRequest, signature: Signature, body: string): readonly string[] {
  const { keyType, header } = signature;
  const { key, sign } = opensslOf[keyType];
  const file = `device-${keyType}.pem`;
  const headers = { ...request.headers, [header]: '<masked:signature>' };
  return [
    '# The request is signed with a key of your own, made once:',
    `[ -f ${file} ] || openssl genpkey ${key} -out ${file}`,
    `PUBKEY=$(openssl pkey -in ${file} -pubout | awk '{printf "%s\\\\n", $0}')`,
    `printf %s ${body} > body.json`,
    `SIGNATURE=$(openssl ${sign} ${file} ${keyType === 'ed25519' ? '-in ' : ''}body.json | openssl base64 -A)`,
    ...curlLines({ ...request, headers }, ['--data-binary @body.json']),
  ];
}

function recordedSignatureNote(signature: Signature | undefined): readonly string[] {
  if (signature === undefined) return [];
  const fit = signature.fits
    ? 'fits the body as it is'
    : 'does not fit the body, as the case wants it';
  return [`# The signature is the recorded one; it ${fit}.`];
}

function curlLines(
  { line, headers, body }: SentRequest,
  bodyPart: readonly string[],
): readonly string[] {
  const [method = '', url = ''] = [
    line.slice(0, line.indexOf(' ')),
    line.slice(line.indexOf(' ') + 1),
  ];
  const isUpgrade = headers.upgrade !== undefined;
  const hasKey = headers['sec-websocket-key'] !== undefined;
  const flags = isUpgrade ? ` --http1.1 --max-time ${SOCKET_SECONDS}` : '';
  const verb = method === 'HEAD' ? '--head' : `-X ${shellWord(method, variableOf)}`;
  const words = [
    `curl -sS -i --globoff --path-as-is${flags} ${verb} ${shellWord(url, variableOf)}`,
    ...Object.entries(headers).map(([name, value]) => headerWords(name, value)),
    ...(isUpgrade && !hasKey ? [headerWords('sec-websocket-key', SAMPLE_SOCKET_KEY)] : []),
    // Without this curl would name a type of its own.
    ...(body !== undefined && headers['content-type'] === undefined ? ["-H 'content-type:'"] : []),
    ...bodyPart,
  ];
  return words.map((each, index) => {
    const indented = index === 0 ? each : `  ${each}`;
    return index === words.length - 1 ? indented : `${indented} \\`;
  });
}

function headerWords(name: string, value: string): string {
  // Curl leaves out a header without a value unless it ends with a semicolon.
  return `-H ${shellWord(value === '' ? `${name};` : `${name}: ${value}`, variableOf)}`;
}

function bodyWords({ body, bodyForm, bodyBytes }: SentRequest): readonly string[] {
  if (body === undefined) return [];
  if (bodyBytes !== undefined) return ['--data-binary @body.bin'];
  if (bodyForm === undefined && !body.includes('\0')) {
    return [`--data-raw ${shellWord(body, variableOf)}`];
  }
  return [`--data-binary @${shellFile(Buffer.from(body, bodyForm ?? 'utf8'))}`];
}

/** What stands in front: each variable with the way to its value, and a body that is not whole. */
function variableNotes(request: SentRequest, baseUrl: string): readonly string[] {
  const { line, headers, body = '', bodyBytes } = request;
  const masks = [line, ...Object.values(headers), body].flatMap(masksIn);
  const notes = [...new Set(masks)].map(
    (mask) => `# ${variableOf(mask)}: ${sourceOf(mask, baseUrl)}`,
  );
  if (bodyBytes === undefined) return notes;
  const size = bodyBytes === null ? 'was streamed' : `has ${bodyBytes} bytes`;
  return [...notes, `# body.bin: the body ${size} and is not kept whole; a replay sends it again`];
}

/** `<masked:device-token, other claims>` is `$DEVICE_TOKEN_OTHER_CLAIMS`. */
function variableOf(mask: string): string {
  const words = mask.slice('<masked'.length, -1).replace(/^:/, '');
  return words.replace(/\W+/g, '_').toUpperCase() || UNNAMED;
}

function sourceOf(mask: string, baseUrl: string): string {
  const [, kind = '', altered] = /^<masked:?([\w-]*)(?:, other (.+))?>$/.exec(mask) ?? [];
  const login = shellWord(`${baseUrl}${pathOf(managementOperations.login)}`, variableOf);
  const authentication = `${baseUrl}${pathOf(operations['post-auth-request'])}`;
  const sources: Readonly<Record<string, string>> = {
    'user-token': `curl -sS -X POST -u 'EMAIL:PASSWORD' ${login}`,
    'device-token': `what an accepted device gets as the body of the 200 of POST ${authentication}`,
    'tenant-token': "the tenant's token, from its settings or from who runs the server",
    'link-signature': 'the signature in the link, which the target gives anew',
    password: "the user's password",
    basic: "printf %s 'EMAIL:PASSWORD' | openssl base64 -A",
  };
  const source = sources[kind] ?? 'a secret that the run was given or got';
  return altered === undefined ? source : `${source}; then with another ${altered}`;
}
