/**
 * The repro script of a case: a bash script that sends every request in order with curl, and signs
 * with openssl. Secrets are variables, each with a note on how to get its value. Values that later
 * steps take from a response are read from the new response. It works in a folder of its own, which
 * it removes, and its exit code says whether the failure is there again. Spec: Device
 * authentication
 */
import type { Operation } from '../../fixtures/contract/operation.ts';
import type { CaseVerdict } from '../result/result.ts';
import { reportedExchanges } from '../target/exchange.ts';
import { recognizeRequest } from '../target/operation-at.ts';
import { cleanupLines } from './cleanup.ts';
import { closingLines, type FailedCase, judgedStep, openingLines, shownLines } from './outcome.ts';
import {
  keyLines,
  recordedLines,
  type ScriptRequest,
  signedLines,
  uploadedFileLines,
} from './request.ts';
import { maskedWord, variableOf } from './shell.ts';
import {
  basicText,
  deviceKeys,
  keyTextOf,
  type RepeatedValue,
  type ScriptExchange,
  type ScriptKey,
  valuesPassedOn,
} from './values.ts';
import { alteredLines, variableLines } from './variables.ts';

/** Maximum length of a script, as failure reports contain it; the first steps are omitted. */
const SCRIPT_MAX_CHARACTERS = 250_000;

/** Hides the secrets of a run. */
interface Masking {
  text(text: string): string;
  value<T>(value: T): T;
}

/** The identity masking, for evidence whose secrets are already hidden. */
const masked: Masking = { text: (text) => text, value: (value) => value };

/** The inputs of a script besides its exchanges. */
interface ScriptOrigin {
  /** Base URL of the target's API. */
  readonly baseUrl: string;
  readonly mask?: Masking | undefined;
  /** Number of earlier exchanges that were not kept. */
  readonly dropped?: number | undefined;
  /** The case that failed; absent for the script of a case that did not. */
  readonly failed?: FailedCase | undefined;
}

/** Returns the script of these exchanges. */
export function reproScript(
  exchanges: readonly ScriptExchange[],
  { baseUrl, mask = masked, dropped = 0, failed }: ScriptOrigin,
): string {
  const steps = withoutPolls(exchanges, baseUrl);
  for (let from = 0; ; from += Math.ceil((steps.length - from) / 2)) {
    const scriptFacts = { dropped: dropped + from, baseUrl, mask, failed };
    const script = scriptOf(steps.slice(from), scriptFacts);
    if (script.length <= SCRIPT_MAX_CHARACTERS || steps.length - from <= 1) return script;
  }
}

/** Options of a verdict's script. */
interface ScriptOptions {
  readonly baseUrl: string;
  /** Hides the secrets; absent when they are already hidden. */
  readonly mask?: Masking | undefined;
  /** True to add a script to cases that did not fail as well. */
  readonly always?: boolean | undefined;
}

/** Returns the verdict without secrets; a failed one has the script of its exchanges. */
export function withReproScript(
  verdict: CaseVerdict,
  { baseUrl, mask = masked, always = false }: ScriptOptions,
): CaseVerdict {
  const { exchanges, exchangesDropped: dropped, ...rest } = verdict;
  if (exchanges === undefined) return mask.value(verdict);
  const isWanted = exchanges.length > 0 && (always || verdict.verdict === 'fail');
  const failedExchange = verdict.verdict === 'fail' ? mask.value(rest) : undefined;
  const script = isWanted
    ? { reproScript: reproScript(exchanges, { baseUrl, mask, dropped, failed: failedExchange }) }
    : {};
  return { ...mask.value({ ...rest, ...reportedExchanges(exchanges, dropped) }), ...script };
}

/** One step: a request with its response, and the number of consecutive polls that it replaces. */
interface StepOfCase extends ScriptExchange {
  readonly times: number;
}

/** Replaces repeated polls by a user with the last one, whose response shows the effect. */
function withoutPolls(
  exchanges: readonly ScriptExchange[],
  baseUrl: string,
): readonly StepOfCase[] {
  const steps: StepOfCase[] = [];
  for (const exchange of exchanges) {
    const lastStep = steps.at(-1);
    const operation = operationOf(exchange.request.line, baseUrl);
    const isLook = operation?.authorization === 'user' && operation.method === 'GET';
    const isSame =
      lastStep !== undefined &&
      JSON.stringify(lastStep.request) === JSON.stringify(exchange.request);
    if (isLook && isSame) steps.pop();
    steps.push({ ...exchange, times: isLook && isSame ? lastStep.times + 1 : 1 });
  }
  return steps;
}

function scriptOf(
  steps: readonly StepOfCase[],
  { baseUrl, mask = masked, dropped = 0, failed }: ScriptOrigin,
) {
  const judgedIndex = judgedStep(steps, failed);
  const handed = valuesPassedOn(steps, mask.text.bind(mask));
  const keys = deviceKeys(steps);
  const requests = steps.map(({ request }, index) => {
    const values = [...handed.slice(0, index).flat(), ...keys];
    return withVariables(request, mask.value(request), { values, mask });
  });
  const createdSteps = steps.map(({ request }, index) => ({
    request: requests[index] ?? request,
    operation: operationOf(request.line, baseUrl)?.id,
    file: responseFile(index),
  }));
  const definedMarks = new Set([...handed.flat(), ...keys].map(({ mark }) => mark));
  const lines = steps.flatMap((step, index) => {
    const request = requests[index] ?? step.request;
    const heading = headingOf(step, {
      index,
      count: steps.length,
      isJudged: index === judgedIndex,
      baseUrl,
    });
    return [
      '',
      heading,
      ...alteredLines(request, handed.slice(0, index).flat()),
      ...stepLines({
        step,
        request,
        keys,
        handed: handed[index] ?? [],
        index,
        response: mask.value(step.response),
        failed: index === judgedIndex ? failed : undefined,
        isCompared: index <= judgedIndex,
      }),
    ];
  });
  return [
    ...openingLines(failed),
    ...(dropped > 0 ? [`# The first ${dropped} steps are left out.`] : []),
    ...variableLines(requests, { definedMarks, baseUrl, isWhole: dropped === 0 }),
    ...keyPreamble(keys),
    ...filePreamble(steps),
    ...lines,
    ...cleanupLines(createdSteps, baseUrl),
    ...closingLines,
  ].join('\n');
}

/** Returns the value with its last letter percent-encoded, as a case sends it in a path. */
function escaped(value: string): string {
  return value.replace(/[a-z](?=[^a-z]*$)/, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
}

/** Returns the request with marks for values of earlier responses, and masks for secrets. */
function withVariables(
  raw: ScriptRequest,
  hidden: ScriptRequest,
  {
    values,
    mask,
  }: { readonly values: readonly (RepeatedValue | ScriptKey)[]; readonly mask: Masking },
): ScriptRequest {
  const longestFirst = [...values].sort((one, other) => other.value.length - one.value.length);
  const withMarks = (text: string): string =>
    longestFirst.reduce(
      (markedText, { value, mark }) =>
        markedText.replaceAll(value, mark).replaceAll(escaped(value), mark),
      text,
    );
  const wording = (own: string, otherwise: string): string => {
    const text = withMarks(own);
    return text === own ? otherwise : mask.text(text);
  };
  const headers = Object.entries(raw.headers).map(([name, value]) => {
    const basic = name === 'authorization' ? basicText(value) : undefined;
    const hiddenValue = hidden.headers[name] ?? '';
    if (basic === undefined) return [name, wording(value, hiddenValue)];
    const text = mask.text(withMarks(basic));
    return [name, text === basic ? hiddenValue : `Basic <text:${text}>`];
  });
  const { body, bodyEncoding, bodyBytes } = raw;
  const isText = bodyEncoding === undefined && bodyBytes === undefined;
  return {
    ...hidden,
    line: wording(raw.line, hidden.line),
    headers: Object.fromEntries(headers),
    ...(body !== undefined && isText && { body: wording(body, hidden.body ?? '') }),
  };
}

/** Returns the heading of a step: who sends it, and the outcome. */
function headingOf(
  { request, response, times }: StepOfCase,
  {
    index,
    count,
    isJudged,
    baseUrl,
  }: {
    readonly index: number;
    readonly count: number;
    readonly isJudged: boolean;
    readonly baseUrl: string;
  },
): string {
  const operation = operationOf(request.line, baseUrl);
  const who = operation ? callers[operation.authorization] : 'another request';
  const operationText = operation ? ` ${operation.id.replaceAll('-', ' ')}` : '';
  const came = response ? `answered with ${response.status}` : 'not answered';
  const often = times > 1 ? `, after ${times} requests` : '';
  const mark = isJudged ? ' (judged)' : '';
  return `# Step ${index + 1} of ${count}: ${who}${operationText}; ${came}${often}${mark}.`;
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

/** Returns the operation that a request calls; of several, the one with the fewest parameters. */
function operationOf(line: string, baseUrl: string): Operation | undefined {
  const [method = '', url = ''] = line.split(' ');
  if (!URL.canParse(url) || !url.startsWith(baseUrl)) return undefined;
  return recognizeRequest(method, url.slice(baseUrl.length).replace(/[?#].*$/s, '')).row;
}

interface StepLines {
  readonly step: StepOfCase;
  /** The request with marks and masks. */
  readonly request: ScriptRequest;
  readonly keys: readonly ScriptKey[];
  readonly handed: readonly RepeatedValue[];
  readonly index: number;
  /** The recorded response, with masked secrets. */
  readonly response: ScriptExchange['response'];
  /** Present for the judged step of a failed case. */
  readonly failed: FailedCase | undefined;
  /** False for a step after the judged one, whose response decides nothing. */
  readonly isCompared: boolean;
}

function responseFile(index: number): string {
  return `response-${index + 1}`;
}

function stepLines(options: StepLines): readonly string[] {
  const { step, request, keys, handed, index, response, failed, isCompared } = options;
  const { line, body } = request;
  if (line.startsWith('HOOK ')) return [`# ${line}`, `# input: ${maskedWord(body ?? '')}`];
  const key = keys.find(({ value }) => value === keyTextOf(step.request));
  const lines =
    key && step.request.signature?.fits
      ? signedLines(request, key.file)
      : recordedLines(request, index + 1);
  const file = responseFile(index);
  const values = handed.map(({ mark, extract }) => `${variableOf(mark)}=$(${extract(file)})`);
  return [
    ...lines.slice(0, -1),
    `${lines.at(-1)} > ${file}`,
    ...shownLines({ step: index + 1, response, failed, isCompared }),
    ...values,
  ];
}

function keyPreamble(keys: readonly ScriptKey[]): readonly string[] {
  if (keys.length === 0) return [];
  const comment = '# Device keys, created once:';
  const lines = keys.flatMap(({ mark, file, keyType }) =>
    keyLines(variableOf(mark), file, keyType),
  );
  return [comment, ...lines];
}

function filePreamble(steps: readonly StepOfCase[]): readonly string[] {
  const lines = steps.flatMap(({ request }, index) => uploadedFileLines(request, index + 1));
  return lines.length === 0 ? [] : ['# Files to upload:', ...lines];
}
