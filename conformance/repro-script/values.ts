/**
 * Values that the steps of a case pass to later ones: IDs, links, tokens and passwords of
 * responses, and the public keys of devices. In a script each is a variable, since it differs on
 * every run.
 */
import * as v from 'valibot';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import type { TargetExchange } from '../target/exchange.ts';
import { masksIn } from './shell.ts';

/** Input of a script: a request, and its response if there was one. */
export type ScriptExchange = Pick<TargetExchange, 'request' | 'response'>;

/** A value of a response that a later request repeats. */
export interface RepeatedValue {
  readonly value: string;
  /** Replaces the value in requests, as masks replace secrets. */
  readonly mark: string;
  /** Returns a bash command that prints the value, given the file with the response. */
  readonly extract: (file: string) => string;
}

/** A device's key, as requests contain it. */
export interface ScriptKey {
  /** The PEM text as encoded in JSON. */
  readonly value: string;
  readonly mark: string;
  /** The file with the reader's key in its place. */
  readonly file: string;
  readonly keyType: KeyType;
}

/** Shorter texts are not treated as IDs, since they occur in many places by chance. */
const VALUE_MIN_CHARACTERS = 8;

const member =
  /"(\w*?(?:id|uri|token|password|secret))"(\s*:\s*)"([^"\\\s]+(?:\\u[0-9a-f]{4}[^"\\\s]*)*)"/gi;
const namedKey = v.pipe(v.string(), v.parseJson(), v.looseObject({ pubkey: v.string() }));

/** PEM in the form that openssl writes. A key in another form is what the case tests. */
const plainName =
  /^-----BEGIN PUBLIC KEY-----\n(?:[\w+/=]{64}\n)*[\w+/=]{1,64}\n-----END PUBLIC KEY-----\n?$/;

/** A value in a response, under a name that describes it. */
interface CandidateValue {
  readonly name: string;
  readonly value: string;
  readonly extract: (file: string) => string;
}

/** Returns the values that each step passes on, in the order of the steps. */
export function valuesPassedOn(
  exchanges: readonly ScriptExchange[],
  maskText: (text: string) => string,
): readonly (readonly RepeatedValue[])[] {
  const texts = exchanges.map(({ request }) => sentText(request));
  const counts = new Map<string, number>();
  const passedValues = new Set<string>();
  return exchanges.map(({ response }, step) => {
    const isNewValue = ({ value }: CandidateValue): boolean => {
      if (passedValues.has(value)) return false;
      const forms = usedFormats(value);
      const isUsed = texts
        .slice(step + 1)
        .some((text) => forms.some((form) => text.includes(form)));
      const isOurs = texts.slice(0, step + 1).some((text) => text.includes(value));
      return isUsed && !isOurs && masksIn(value).length === 0;
    };
    const newValues: RepeatedValue[] = [];
    for (const candidate of candidatesOf(response, texts.slice(0, step + 1))) {
      if (!isNewValue(candidate)) continue;
      const { name, value, extract } = candidate;
      passedValues.add(value);
      const kind = /^<masked:([\w-]+)>$/.exec(maskText(value))?.[1] ?? name;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      newValues.push({ value, extract, mark: `<masked:${kind}-${counts.get(kind)}>` });
    }
    return newValues;
  });
}

/** Returns the value, and the parts of a token from which a case may build another one. */
function usedFormats(value: string): readonly string[] {
  const [, claims = '', signature = '', ...more] = value.split('.');
  const isToken = value.startsWith('eyJ') && signature !== '' && more.length === 0;
  return isToken ? [value, claims, signature] : [value];
}

/**
 * Returns the keys with which devices sign correctly; wrong signatures are what a case tests.
 * Returns none if a correctly signed request cannot be signed again, since all requests of a device
 * must use the same key.
 */
export function deviceKeys(exchanges: readonly ScriptExchange[]): readonly ScriptKey[] {
  const signedExchanges = exchanges.filter(({ request }) => request.signature?.fits);
  if (signedExchanges.some(({ request }) => keyTextOf(request) === undefined)) return [];
  const keys = new Map<string, ScriptKey>();
  for (const { request } of exchanges) {
    const value = keyTextOf(request);
    const { signature } = request;
    if (value === undefined || !signature?.fits || keys.has(value)) continue;
    const number = keys.size + 1;
    const { keyType } = signature;
    const file = `device-${number}-${keyType}.pem`;
    keys.set(value, { value, file, keyType, mark: `<masked:pubkey-${number}>` });
  }
  return [...keys.values()];
}

/** Returns the key text in a request exactly as written there; undefined unless it occurs once. */
export function keyTextOf({ body = '', bodyEncoding, bodyBytes }: TargetExchange['request']) {
  if (bodyEncoding !== undefined || bodyBytes !== undefined || body.includes('\0'))
    return undefined;
  const parsed = v.safeParse(namedKey, body);
  if (!parsed.success) return undefined;
  if (!plainName.test(parsed.output.pubkey)) return undefined;
  const escapedKey = JSON.stringify(parsed.output.pubkey).slice(1, -1);
  return body.split(escapedKey).length === 2 ? escapedKey : undefined;
}

function sentText({ line, headers, body = '' }: TargetExchange['request']): string {
  return [line, ...Object.values(headers), ...basicTexts(headers), body].join('\n');
}

function basicTexts({
  authorization = '',
}: TargetExchange['request']['headers']): readonly string[] {
  const basic = basicText(authorization);
  return basic === undefined ? [] : [basic];
}

/** Returns the content of a header of the scheme Basic; undefined for another scheme. */
export function basicText(authorization: string): string | undefined {
  const [, encoded] = /^Basic (\S+)$/.exec(authorization) ?? [];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
}

function candidatesOf(
  response: TargetExchange['response'],
  sent: readonly string[],
): readonly CandidateValue[] {
  if (response === undefined) return [];
  const { headers, body = '' } = response;
  const createdId = headers.location?.split('/').at(-1) ?? '';
  const candidates: CandidateValue[] = [
    {
      name: 'id',
      value: createdId,
      extract: (file) => `grep -i '^location:' ${file} | tr -d '\\r' | sed 's#.*/##'`,
    },
    { name: 'token', value: body, extract: (file) => `tr -d '\\r' < ${file} | sed '1,/^$/d'` },
    ...memberCandidates(body, sent),
  ];
  return candidates.filter(
    ({ value }) => value.length >= VALUE_MIN_CHARACTERS && !/\s/.test(value),
  );
}

/**
 * Returns the JSON members that hold an ID or the like; works on a truncated body, which is not
 * JSON.
 */
function memberCandidates(body: string, sent: readonly string[]): readonly CandidateValue[] {
  return [...body.matchAll(member)].flatMap((match) => {
    const [, name = '', , written = ''] = match;
    const value = written.replaceAll('\\u0026', '&');
    // Searches the whole body, so it is done only for the few values that a script takes.
    const extract = (file: string) => extractorOf(body, { name, at: match.index }, sent)(file);
    return [{ name: kindOf(name), value, extract }, ...queryCandidates(value, extract)];
  });
}

/** Returns the parameters of a link, which a case may put into another link. */
function queryCandidates(
  link: string,
  extractLink: CandidateValue['extract'],
): readonly CandidateValue[] {
  return [...link.matchAll(/[?&]([\w-]+)=([^&#]+)/g)].map(([, name = '', value = '']) => ({
    name: `link-${name.toLowerCase()}`,
    value,
    extract: (file) => `${extractLink(file)} | grep -o '[?&]${name}=[^&]*' | cut -d= -f2-`,
  }));
}

function kindOf(name: string): string {
  return /id$/i.test(name) ? 'id' : name.replaceAll('_', '-').toLowerCase();
}

/**
 * Returns the command that finds the member in a new response. In a list, other entries may precede
 * the member, so the command uses its distance from a text that the case itself has sent, such as a
 * serial number.
 */
function extractorOf(
  body: string,
  { name, at }: { readonly name: string; readonly at: number },
  sent: readonly string[],
): (file: string) => string {
  const pattern = `"${name}" *: *"[^"]*"`;
  const value = `cut -d'"' -f4 | sed 's/\\\\u0026/\\&/g'`;
  const locations = [...body.matchAll(new RegExp(pattern.replaceAll(' *', '\\s*'), 'g'))].map(
    ({ index }) => index,
  );
  const position = locations.indexOf(at);
  const landmark = listPattern.test(body) ? landmarkIn(body, at, sent) : undefined;
  if (landmark === undefined) {
    return (file) => `grep -o '${pattern}' ${file} | sed -n ${position + 1}p | ${value}`;
  }
  const marks = [...body.matchAll(new RegExp(landmark.word, 'g'))].map(({ index }) => index);
  const lines = [...locations, ...marks].sort((one, other) => one - other);
  const steps = lines.indexOf(at) - lines.indexOf(landmark.at);
  const neighbourFilter =
    steps < 0
      ? `grep -B${-steps} '${landmark.word}' | head -n 1`
      : `grep -A${steps} '${landmark.word}' | head -n ${steps + 1} | tail -n 1`;
  return (file) =>
    `grep -o -e '${pattern}' -e '${landmark.word}' ${file} | ${neighbourFilter} | ${value}`;
}

/** Matches JSON that is a list or contains one. */
const listPattern = /^\[|:\s*\[\s*\{/;

/** Finds the text nearest to the member that the case has sent and that occurs first there. */
function landmarkIn(body: string, at: number, sent: readonly string[]) {
  const landmarks = [...body.matchAll(/(?<=")[\w@.-]{12,64}(?=\\?")/g)].map(
    ({ 0: word, index }) => ({
      word,
      at: index,
    }),
  );
  const fit = landmarks.filter(
    (each) => body.indexOf(each.word) === each.at && sent.some((text) => text.includes(each.word)),
  );
  const distance = (each: { readonly at: number }): number => Math.abs(each.at - at);
  return fit.sort((one, other) => distance(one) - distance(other))[0];
}
