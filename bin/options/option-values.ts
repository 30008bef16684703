/**
 * Parsers of option values. Each converts text of the command line to a typed value, or throws an
 * error that lists what is accepted; commander prefixes the message with the option's name and the
 * value.
 */
import { InvalidArgumentError } from 'commander';
import { durationText, durationMs as millisecondsOf } from '../../fixtures/base/duration.ts';
import type { OptionValue, RateLimit } from '../../fixtures/base/option-row.ts';
import { textRules, type ValueRule, wholeNumbers } from '../../fixtures/base/value-rules.ts';
import { isTimestamp, timestampMs } from '../../fixtures/contract/text.ts';
import { rateLimitProblem } from '../../server/settings.ts';

const MS_PER_SECOND = 1000;
const PORT_MAX = 65_535;
const WEIGHT_MAX = 1_000_000;

const durationForm = 'a number with ms, s, m, h or d (a number without a unit is in seconds)';

/** Returns a parser of the text that a rule accepts. */
export function ruleParser<Value>({ read, accepted }: ValueRule<string, Value>) {
  return (text: string): Value => {
    const value = read(text);
    if (value !== undefined) return value;
    throw new InvalidArgumentError(`Accepted: ${accepted}.`);
  };
}

/** Weights by name; only their proportions matter. */
export type Weights = Readonly<Record<string, number>>;

type WholeDuration = Extract<OptionValue, { readonly kind: 'whole-duration' }>;

/**
 * Parses a duration such as `250ms`, `1.5s`, `10m`, `2h`, `7d`; a number without a unit is in
 * seconds.
 * @returns milliseconds
 */
export function durationMs(text: string): number {
  const milliseconds = millisecondsOf(text);
  if (milliseconds !== undefined) return milliseconds;
  throw new InvalidArgumentError(`Accepted: ${durationForm}, at most 3650d.`);
}

/** Parses a duration above zero, in the format that `durationMs` accepts. @returns milliseconds */
export function positiveDurationMs(text: string): number {
  const milliseconds = durationMs(text);
  if (milliseconds > 0) return milliseconds;
  throw new InvalidArgumentError('Accepted: a duration above zero, such as 500ms or 10s.');
}

/**
 * Returns a parser of durations from `min` to `max`, both included.
 * @returns the number of whole units
 */
export function wholeDuration({ unit, min, max }: WholeDuration): (text: string) => number {
  const unitMs = unit === 's' ? MS_PER_SECOND : 1;
  const range = `from ${durationText(min * unitMs)} to ${durationText(max * unitMs)}`;
  const word = unit === 's' ? 'seconds' : 'milliseconds';
  return ruleParser({
    read: (text) => wholeNumbers(min, max).read((millisecondsOf(text) ?? Number.NaN) / unitMs),
    accepted: `${durationForm} ${range}, in whole ${word}`,
  });
}

/**
 * Parses a date, or a time with an offset, in ISO 8601.
 * @returns milliseconds since the Unix epoch
 */
export function parseTime(text: string): number {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text;
  if (isTimestamp(time)) return timestampMs(time);
  throw new InvalidArgumentError(
    'Accepted: a date such as 2027-08-25 (midnight UTC), or a time such as 2027-08-25T08:00:00Z.',
  );
}

/** Parses a number of requests per time window, such as `100/60s`. */
export function rateLimit(text: string): RateLimit {
  const [, requests, window = ''] = /^(\d{1,7})\/(.+)$/.exec(text) ?? [];
  const limit = { requests: Number(requests), windowSeconds: durationMs(window) / 1000 };
  if (rateLimitProblem(limit) === undefined) return limit;
  throw new InvalidArgumentError(
    'Accepted: a number of requests per whole seconds, such as 100/60s, at most 1000000/1d.',
  );
}

/**
 * Returns a parser of rates per second, such as `20/s` or `0.5`.
 * @param max the largest accepted rate
 */
export function ratePerSecond(max: number): (text: string) => number {
  return (text) => {
    const [, number] = /^(\d+(?:\.\d+)?)(?:\/s)?$/.exec(text) ?? [];
    const value = Number(number);
    if (value > 0 && value <= max) return value;
    throw new InvalidArgumentError(`Accepted: a number above zero, such as 20/s, at most ${max}.`);
  };
}

/** Parses a share from 0 to 1, such as `0.25`. */
export function share(text: string): number {
  const value = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value <= 1) return value;
  throw new InvalidArgumentError('Accepted: a number from 0 to 1, such as 0.25.');
}

/**
 * Returns a parser of names from a list. Several names are separated by commas, or given by
 * repeating the option.
 */
export function namesFrom<const Name extends string>(
  names: readonly Name[],
): (text: string, previous: readonly Name[] | undefined) => readonly Name[] {
  return (text, previous = []) => {
    const matches = text.split(',').map((word) => names.find((name) => name === word.trim()));
    const knownNames = matches.filter((name) => name !== undefined);
    if (knownNames.length === matches.length) return [...new Set([...previous, ...knownNames])];
    throw new InvalidArgumentError(`Accepted: ${names.join(', ')}.`);
  };
}

function wholeNumber(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}

/** Parses a TCP port; 0 lets the system choose. */
export function port(text: string): number {
  const value = wholeNumber(text);
  if (value <= PORT_MAX) return value;
  throw new InvalidArgumentError(`Accepted: a whole number from 0 (any free port) to ${PORT_MAX}.`);
}

/** Returns a parser of whole numbers from `min` to `max`, both included. */
export function count(min: number, max: number): (text: string) => number {
  const { read, accepted } = wholeNumbers(min, max);
  return ruleParser({ read: (text) => read(wholeNumber(text)), accepted });
}

/**
 * Returns a parser of weights such as `rsa=1,ecdsa=2` or `rsa`; the option can be repeated.
 * @param names the accepted names; without them any name is accepted, to be checked later
 */
export function weights(
  names?: readonly string[],
): (text: string, previous: Weights | undefined) => Weights {
  return (text, previous = {}) => {
    const weightRows = text.split(',').map((share) => weight(share, names));
    const all: Weights = { ...previous, ...Object.fromEntries(weightRows) };
    const isRepeated = Object.keys(all).length < Object.keys(previous).length + weightRows.length;
    if (!isRepeated && Object.values(all).some((value) => value > 0)) return all;
    throw new InvalidArgumentError('Accepted: each name once, and at least one weight above zero.');
  };
}

function weight(share: string, names: readonly string[] | undefined): readonly [string, number] {
  const [, name = '', value = '1'] = /^([\w-]+)(?:=(\d+(?:\.\d+)?))?$/.exec(share.trim()) ?? [];
  const isKnown = names === undefined ? name !== '' : names.includes(name);
  if (isKnown && Number(value) <= WEIGHT_MAX) return [name, Number(value)];
  const namesText = names === undefined ? '' : ` names ${names.join(', ')},`;
  const weights = `weights from 0 to ${WEIGHT_MAX} (1 if omitted)`;
  throw new InvalidArgumentError(`Accepted: name=weight,${namesText} ${weights}.`);
}

/**
 * Parses the base URL of a server, such as `https://staging.example.com`, and removes a trailing
 * slash.
 */
export function baseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url && !url.search && !url.hash && !url.username && !url.password;
  if (isPlain && /^https?:$/.test(url.protocol)) return url.href.replace(/(?<!\/)\/+$/, '');
  throw new InvalidArgumentError(
    'Accepted: an http:// or https:// URL without user, query and fragment, such as http://127.0.0.1:8080.',
  );
}

/** Parsers of text by the rules that settings have too. */
export const email = ruleParser(textRules.email);
export const headerPrefix = ruleParser(textRules['header-prefix']);
export const nonEmptyText = ruleParser(textRules.text);

/** Parses a repeatable option whose texts are not empty. */
export function appendText(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, nonEmptyText(text)];
}

/** Parses a comma-separated list of addresses. */
export function addresses(text: string): readonly string[] {
  return text.split(',').map((address) => nonEmptyText(address).trim());
}

/** Returns a parser of `FORMAT=FILE` for these report formats; each format may appear once. */
export function reportFiles(formats: readonly string[]) {
  return (text: string, previous: Readonly<Record<string, string>> = {}) => {
    const [, format = '', file] = /^(\w+)=(.+)$/s.exec(text) ?? [];
    if (formats.includes(format) && file && !(format in previous))
      return { ...previous, [format]: file };
    throw new InvalidArgumentError(`Accepted: ${formatFiles(formats, 'and')}, each at most once.`);
  };
}

/** Returns a list such as `json=FILE, junit=FILE or html=FILE`. */
export function formatFiles(formats: readonly string[], word: 'and' | 'or'): string {
  const files = formats.map((format) => `${format}=FILE`);
  return [files.slice(0, -1).join(', '), ...files.slice(-1)].join(` ${word} `);
}
