/** Formats one request as lines for bash: a curl command, and openssl for a new signature. */
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import type { TargetExchange } from '../target/exchange.ts';
import { maskedWord, shellFile } from './shell.ts';

export type ScriptRequest = TargetExchange['request'];

/** The arguments with which openssl creates a key and a signature, by key type. */
const opensslOf: Readonly<Record<KeyType, { readonly key: string; readonly sign: string }>> = {
  rsa: { key: '-algorithm RSA -pkeyopt rsa_keygen_bits:2048', sign: 'dgst -sha256 -sign' },
  ecdsa: {
    key: '-algorithm EC -pkeyopt ec_paramgen_curve:P-256',
    sign: 'dgst -sha256 -sign',
  },
  ed25519: { key: '-algorithm ED25519', sign: 'pkeyutl -sign -rawin -inkey' },
};

/** Time for which a script keeps a WebSocket open. */
const SOCKET_SECONDS = 2;

/** Returns lines that create a key, and put its public part into a variable as JSON encodes it. */
export function keyLines(variable: string, file: string, keyType: KeyType): readonly string[] {
  return [
    `openssl genpkey ${opensslOf[keyType].key} -out ${file}`,
    `${variable}=$(openssl pkey -in ${file} -pubout | awk '{printf "%s\\\\n", $0}')`,
  ];
}

/** Returns lines that sign the body with the key in the file and send it. */
export function signedLines(request: ScriptRequest, file: string): readonly string[] {
  const { body = '', headers, signature } = request;
  if (signature === undefined) return [];
  const { keyType, header } = signature;
  const { sign } = opensslOf[keyType];
  const signedHeaders = { ...headers, [header]: '<masked:signature>' };
  return [
    `printf %s ${maskedWord(body)} > body.json`,
    `SIGNATURE=$(openssl ${sign} ${file} ${keyType === 'ed25519' ? '-in ' : ''}body.json | openssl base64 -A)`,
    ...curlLines({ ...request, headers: signedHeaders }, ['--data-binary @body.json']),
  ];
}

const FILE_COLUMNS = 120;

/** Returns lines that write the file that a step sends; leading spaces in them do no harm. */
export function uploadedFileLines(request: ScriptRequest, step: number): readonly string[] {
  const content = request.form?.content ?? request.content;
  if (content === undefined) return [];
  const lines = content.match(new RegExp(`.{1,${FILE_COLUMNS}}`, 'g')) ?? [];
  const pipeline = `tr -d ' \\n' | openssl base64 -d -A | gunzip > ${fileOf(step)}`;
  return ["printf %s '", ...lines, `' | ${pipeline}`];
}

function fileOf(step: number): string {
  return `sent-${step}.bin`;
}

/**
 * Returns lines that send the request as recorded, with its original signature.
 * @param step its number in the script
 */
export function recordedLines(request: ScriptRequest, step: number): readonly string[] {
  const { signature } = request;
  const fit = signature?.fits
    ? 'is valid for the body'
    : 'is invalid for the body, as the case requires';
  const note = `# The signature is the recorded one; it ${fit}.`;
  return [...(signature ? [note] : []), ...curlLines(request, bodyArgs(request, step))];
}

/** Returns the value of a header by its name in lower case; the sent name may use other letters. */
export function headerOf(headers: ScriptRequest['headers'], wanted: string): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1];
}

function curlLines(
  { line, headers, body }: ScriptRequest,
  bodyPart: readonly string[],
): readonly string[] {
  const [method = '', url = ''] = [
    line.slice(0, line.indexOf(' ')),
    line.slice(line.indexOf(' ') + 1),
  ];
  const isNamed = (wanted: string): boolean => headerOf(headers, wanted) !== undefined;
  const isUpgrade = isNamed('upgrade');
  const flags = isUpgrade ? ` --http1.1 --max-time ${SOCKET_SECONDS}` : '';
  const verb = method === 'HEAD' ? '--head' : `-X ${maskedWord(method)}`;
  const args = [
    `curl ${isUpgrade ? '-s' : '-sS'} -i --globoff --path-as-is${flags} ${verb} ${maskedWord(url)}`,
    ...Object.entries(headers).map(([name, value]) => headerArgs(name, value)),
    // Prevents curl from adding its default Content-Type.
    ...(body !== undefined && !isNamed('content-type') ? ["-H 'content-type:'"] : []),
    ...bodyPart,
  ];
  return args.map((each, index) => {
    const indented = index === 0 ? each : `  ${each}`;
    return index === args.length - 1 ? indented : `${indented} \\`;
  });
}

function headerArgs(name: string, value: string): string {
  const [, userAndPassword] = /^Basic <text:([\s\S]*)>$/.exec(value) ?? [];
  if (userAndPassword !== undefined) {
    return `-H ${maskedWord(`${name}: Basic `)}"$(printf %s ${maskedWord(userAndPassword)} | openssl base64 -A)"`;
  }
  // Curl omits a header without a value unless it ends with a semicolon.
  return `-H ${maskedWord(value === '' ? `${name};` : `${name}: ${value}`)}`;
}

function bodyArgs(
  { body, bodyEncoding, bodyBytes, content, form }: ScriptRequest,
  step: number,
): readonly string[] {
  if (form) {
    const file = `${form.field}=@${fileOf(step)};filename=${form.name}`;
    const fields = Object.entries(form.fields).map(([name, value]) => `${name}=${value}`);
    return [...fields, file].map((each) => `-F ${maskedWord(each)}`);
  }
  if (body === undefined) return [];
  // Prevents curl from sending `Expect: 100-continue` before a large body.
  if (content !== undefined) return ["-H 'expect:'", `--data-binary @${fileOf(step)}`];
  if (bodyBytes !== undefined) return ['--data-binary @body.bin'];
  if (bodyEncoding === undefined && !body.includes('\0')) return [`--data-raw ${maskedWord(body)}`];
  return [`--data-binary @${shellFile(Buffer.from(body, bodyEncoding ?? 'utf8'))}`];
}

/** Returns notes for the reader on a truncated body. */
export function bodyNotes({ bodyBytes, content }: ScriptRequest): readonly string[] {
  if (bodyBytes === undefined || content !== undefined) return [];
  return [
    `# body.bin: the body has ${bodyBytes} bytes and is not kept in full; conform rerun sends it`,
  ];
}
