/**
 * The repro script of a case: a script for bash with every step of it in order, by curl,
 * and by openssl where a request is signed. Secrets are variables, each told how to get; what an
 * answer hands on to later steps is taken from the new answer. Spec: Device authentication
 */
import type { Operation } from '../../fixtures/contract/operation.ts';
import type { CaseVerdict } from '../result/result.ts';
import { reportedExchanges } from '../target/exchange.ts';
import { recognized } from '../target/operation-at.ts';
import { cleanupLines, isMaking } from './cleanup.ts';
import {
  keyLines,
  recordedLines,
  type SentRequest,
  signedLines,
  uploadedFileLines,
} from './request.ts';
import { shellWord, variableOf } from './shell.ts';
import {
  basicText,
  type DeviceKey,
  deviceKeys,
  type HandedValue,
  handedValues,
  keyTextOf,
  type Sent,
} from './values.ts';
import { alteredLines, variableLines } from './variables.ts';

/** A script is part of every report of a failure; the first steps of a longer one are left out. */
const SCRIPT_MAX_CHARACTERS = 250_000;

/** What hides the secrets of a run. */
interface Masking {
  text(text: string): string;
  value<T>(value: T): T;
}

/** For evidence whose secrets are hidden already. */
const masked: Masking = { text: (text) => text, value: (value) => value };

/** What a script is made for. */
interface Origin {
  /** Where the target's API begins. */
  readonly baseUrl: string;
  readonly mask?: Masking | undefined;
  /** Exchanges before the first one that were not kept. */
  readonly dropped?: number | undefined;
}

/** The script of these exchanges, the last of which is the one that was judged. */
export function reproScript(
  exchanges: readonly Sent[],
  { baseUrl, mask = masked, dropped = 0 }: Origin,
): string {
  const steps = withoutPolls(exchanges, baseUrl);
  for (let from = 0; ; from += Math.ceil((steps.length - from) / 2)) {
    const left = { dropped: dropped + from, baseUrl, mask };
    const script = scriptOf(steps.slice(from), left);
    if (script.length <= SCRIPT_MAX_CHARACTERS || steps.length - from <= 1) return script;
  }
}

/** For what a verdict gets its script. */
interface Telling {
  readonly baseUrl: string;
  /** Hides the secrets; without it they are hidden already. */
  readonly mask?: Masking | undefined;
  /** Whether a case that did not fail gets one too. */
  readonly always?: boolean | undefined;
}

/** The verdict without secrets; one that failed has the script of its exchanges. */
export function withReproScript(
  verdict: CaseVerdict,
  { baseUrl, mask = masked, always = false }: Telling,
): CaseVerdict {
  const { exchanges, exchangesDropped: dropped, ...rest } = verdict;
  if (exchanges === undefined) return mask.value(verdict);
  const isWanted = exchanges.length > 0 && (always || verdict.verdict === 'fail');
  const script = isWanted ? { byHand: reproScript(exchanges, { baseUrl, mask, dropped }) } : {};
  return { ...mask.value({ ...rest, ...reportedExchanges(exchanges, dropped) }), ...script };
}

/** One step: a request, and how often it was sent in a row. */
interface StepOfCase extends Sent {
  readonly times: number;
}

/** Users look again and again until an effect is there; the last look is the one that tells it. */
function withoutPolls(exchanges: readonly Sent[], baseUrl: string): readonly StepOfCase[] {
  const steps: StepOfCase[] = [];
  for (const exchange of exchanges) {
    const before = steps.at(-1);
    const operation = operationOf(exchange.request.line, baseUrl);
    const isLook = operation?.authorization === 'user' && operation.method === 'GET';
    const isSame =
      before !== undefined && JSON.stringify(before.request) === JSON.stringify(exchange.request);
    if (isLook && isSame) steps.pop();
    steps.push({ ...exchange, times: isLook && isSame ? before.times + 1 : 1 });
  }
  return steps;
}

function scriptOf(steps: readonly StepOfCase[], { baseUrl, mask = masked, dropped = 0 }: Origin) {
  const handed = handedValues(steps, mask.text.bind(mask));
  const keys = deviceKeys(steps);
  const requests = steps.map(({ request }, index) => {
    const values = [...handed.slice(0, index).flat(), ...keys];
    return marked(request, mask.value(request), { values, mask });
  });
  const made = steps.map(({ request }, index) => ({
    request: requests[index] ?? request,
    operation: operationOf(request.line, baseUrl)?.id,
    file: answerFile(index),
  }));
  const own = new Set([...handed.flat(), ...keys].map(({ mark }) => mark));
  const lines = steps.flatMap((step, index) => {
    const request = requests[index] ?? step.request;
    const heading = headingOf(step, { index, steps, baseUrl });
    // The body of an answer may end without an end of line.
    return [
      ...(index > 0 ? ['echo', ''] : []),
      heading,
      ...alteredLines(request, handed.slice(0, index).flat()),
      ...stepLines({
        step,
        request,
        keys,
        handed: handed[index] ?? [],
        index,
        isKept: made.some((each, place) => place === index && isMaking(each)),
      }),
    ];
  });
  return [
    ...(dropped > 0 ? [`# The first ${dropped} steps are left out.`] : []),
    ...variableLines(requests, { own, baseUrl, isWhole: dropped === 0 }),
    ...keyPreamble(keys),
    ...filePreamble(steps),
    ...lines,
    ...cleanupLines(made, baseUrl),
  ].join('\n');
}

/** The request with marks in place of what it has from earlier answers, and masks for secrets. */
function marked(
  raw: SentRequest,
  hidden: SentRequest,
  {
    values,
    mask,
  }: { readonly values: readonly (HandedValue | DeviceKey)[]; readonly mask: Masking },
): SentRequest {
  const longestFirst = [...values].sort((one, other) => other.value.length - one.value.length);
  const withMarks = (text: string): string =>
    longestFirst.reduce((rest, { value, mark }) => rest.replaceAll(value, mark), text);
  const told = (own: string, otherwise: string): string => {
    const text = withMarks(own);
    return text === own ? otherwise : mask.text(text);
  };
  const headers = Object.entries(raw.headers).map(([name, value]) => {
    const basic = name === 'authorization' ? basicText(value) : undefined;
    const hiddenValue = hidden.headers[name] ?? '';
    if (basic === undefined) return [name, told(value, hiddenValue)];
    const text = mask.text(withMarks(basic));
    return [name, text === basic ? hiddenValue : `Basic <text:${text}>`];
  });
  const { body, bodyForm, bodyBytes } = raw;
  const isText = bodyForm === undefined && bodyBytes === undefined;
  return {
    ...hidden,
    line: told(raw.line, hidden.line),
    headers: Object.fromEntries(headers),
    ...(body !== undefined && isText && { body: told(body, hidden.body ?? '') }),
  };
}

/** What one step is about: who does it, and what came of it. */
function headingOf(
  { request, answer, times }: StepOfCase,
  {
    index,
    steps,
    baseUrl,
  }: { readonly index: number; readonly steps: readonly unknown[]; readonly baseUrl: string },
): string {
  const operation = operationOf(request.line, baseUrl);
  const who = operation ? callers[operation.authorization] : 'another request';
  const what = operation ? ` ${operation.id.replaceAll('-', ' ')}` : '';
  const came = answer ? `answered ${answer.status}` : 'not answered';
  const often = times > 1 ? `, after ${times} requests` : '';
  const last = index === steps.length - 1 ? ' (judged)' : '';
  return `# Step ${index + 1} of ${steps.length}: ${who}${what}; ${came}${often}${last}.`;
}

const callers: Readonly<Record<Operation['authorization'], string>> = {
  device: 'a device,',
  socket: 'a device,',
  signature: 'a device, with its signature,',
  user: 'a user,',
  basic: 'a user, with a password,',
  link: 'anyone with the link,',
  secret: 'a user, by mail,',
};

/** The operation that a request calls. */
function operationOf(line: string, baseUrl: string): Operation | undefined {
  const [method = '', url = ''] = line.split(' ');
  if (!URL.canParse(url) || !url.startsWith(baseUrl)) return undefined;
  return recognized(method, url.slice(baseUrl.length).replace(/[?#].*$/s, '')).row;
}

interface StepLines {
  readonly step: StepOfCase;
  /** The request with marks and masks. */
  readonly request: SentRequest;
  readonly keys: readonly DeviceKey[];
  readonly handed: readonly HandedValue[];
  readonly index: number;
  /** Whether the answer is kept although no step takes anything from it. */
  readonly isKept: boolean;
}

function answerFile(index: number): string {
  return `answer-${index + 1}`;
}

function stepLines({ step, request, keys, handed, index, isKept }: StepLines): readonly string[] {
  const { line, body } = request;
  if (line.startsWith('HOOK ')) return [`# ${line}`, `# input: ${shellWord(body ?? '')}`];
  const key = keys.find(({ value }) => value === keyTextOf(step.request));
  const lines =
    key && step.request.signature?.fits
      ? signedLines(request, key.file)
      : recordedLines(request, index + 1);
  if (handed.length === 0 && !isKept) return lines;
  const file = answerFile(index);
  const values = handed.map(({ mark, take }) => `${variableOf(mark)}=$(${take(file)})`);
  return [...lines.slice(0, -1), `${lines.at(-1)} | tee ${file}`, ...values];
}

function keyPreamble(keys: readonly DeviceKey[]): readonly string[] {
  if (keys.length === 0) return [];
  const what = '# Device keys, created once:';
  const lines = keys.flatMap(({ mark, file, keyType }) =>
    keyLines(variableOf(mark), file, keyType),
  );
  return [what, ...lines];
}

function filePreamble(steps: readonly StepOfCase[]): readonly string[] {
  const lines = steps.flatMap(({ request }, index) => uploadedFileLines(request, index + 1));
  return lines.length === 0 ? [] : ['# Files to upload:', ...lines];
}
