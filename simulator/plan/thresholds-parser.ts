/** Parses thresholds such as `95% updated within 10m`, `p99(poll) < 200ms` and `errors < 0.1%`. */
import * as v from 'valibot';
import { printable } from '../../fixtures/base/printable.ts';
import { operationsById } from '../../fixtures/contract/operation-ids.ts';
import { pollOperations } from '../../fixtures/contract/operations.ts';

/** User that compares the observed value with the limit. */
export type Comparator = '<=' | '>=' | '<' | '>' | '=';

/** The measured quantity. An empty list of operations means all operations. */
type ThresholdSubject =
  | { readonly kind: 'updated'; readonly withinMs: number }
  | {
      readonly kind: 'percentile';
      readonly percent: number;
      readonly operations: readonly string[];
    }
  | { readonly kind: 'rate'; readonly operations: readonly string[] }
  | {
      readonly kind: 'errors';
      readonly unit: 'share' | 'count';
      readonly operations: readonly string[];
    }
  | { readonly kind: 'success' }
  | { readonly kind: 'reports'; readonly outcome: 'lost' | 'doubled' };

/** The part of a run to which a threshold applies; without members, the whole run. */
export interface ThresholdScope {
  /** Name of a cohort of the plan. */
  readonly cohort?: string;
  /** Name of a stage of the run, such as `2 hold`. */
  readonly stage?: string;
}

/** One condition that a run must meet. */
export interface Threshold {
  /** The text as the user wrote it, in lower case and without `abort on fail`. */
  readonly text: string;
  readonly subject: ThresholdSubject;
  readonly scope: ThresholdScope;
  readonly comparator: Comparator;
  /**
   * The limit in the unit of the subject: milliseconds, a share from 0 to 1, a count, or a count
   * per second.
   */
  readonly limit: number;
  /** True when the run ends as soon as the threshold can no longer be met. */
  readonly abortsRun: boolean;
}

/** Thrown for an invalid threshold. The message is one sentence that names the accepted syntaxes. */
export class ThresholdError extends Error {
  override readonly name = 'ThresholdError';
  /** The reason, without the text of the threshold. */
  readonly reason: string;

  constructor(text: string, reason: string) {
    super(`"${printable(text, TEXT_MAX_CHARACTERS)}" is not a threshold: ${reason}`);
    this.reason = reason;
  }
}

/** Thrown for an invalid part of a threshold. */
class ThresholdPartError extends Error {}

/** The operations that download a file. */
export const downloadOperations: readonly string[] = [
  'download-artifact',
  'download-configuration',
];

/** Short names for operations of the contract. */
const values: Readonly<Record<string, readonly string[]>> = {
  all: [],
  poll: pollOperations,
  status: ['put-deployment-status'],
  auth: ['post-auth-request'],
  inventory: ['put-attributes', 'patch-attributes'],
  configuration: ['get-configuration', 'put-configuration'],
  download: downloadOperations,
  log: ['put-deployment-log'],
  alerts: ['post-alerts'],
  connect: ['connect'],
};

const TEXT_MAX_CHARACTERS = 200;
const millisecondsPerUnit: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const number = String.raw`(\d+(?:\.\d+)?)`;
const duration = String.raw`${number}\s*(us|ms|s|m|h|d)`;
const comparison = String.raw`\s*(<=|>=|<|>|=)\s*`;
/** Stands for the scope, whose names keep their case, while a syntax is matched. */
const SCOPE = '{}';
const target = String.raw`\(\s*([\w-]+)\s*\)(?:\s*\{\})?`;

interface ThresholdSyntax {
  readonly example: string;
  readonly pattern: RegExp;
  readonly read: (found: readonly string[]) => Pick<Threshold, 'subject' | 'comparator' | 'limit'>;
}

/**
 * The syntaxes of a threshold. `found` contains the groups of the pattern, with '' for a group that
 * did not match.
 */
const syntaxes: readonly ThresholdSyntax[] = [
  {
    example: '95% updated within 10m',
    pattern: patternOf(String.raw`${number}\s*% updated within ${duration}`),
    read: ([share = '', time = '', unit = '']) => ({
      subject: { kind: 'updated', withinMs: millisecondsOf(time, unit) },
      comparator: '>=',
      limit: shareOf(share),
    }),
  },
  {
    example: 'p99(poll) < 200ms',
    pattern: patternOf(`(?:p${number}|(max))${target}${comparison}${duration}`),
    read: ([percent = '', max = '', word = '', comparator = '', time = '', unit = '']) => ({
      subject: {
        kind: 'percentile',
        percent: max === '' ? percentOf(percent) : 100,
        operations: operationsOf(word),
      },
      comparator: comparator as Comparator,
      limit: millisecondsOf(time, unit),
    }),
  },
  {
    example: 'errors < 0.1%',
    pattern: patternOf(String.raw`errors(?:${target}|\s*\{\})?${comparison}${number}\s*(%?)`),
    read: ([word = '', comparator = '', limit = '', unit = '']) => ({
      subject: {
        kind: 'errors',
        unit: unit === '' ? 'count' : 'share',
        operations: operationsOf(word || 'all'),
      },
      comparator: comparator as Comparator,
      limit: unit === '' ? Number(limit) : shareOf(limit),
    }),
  },
  {
    example: 'success rate >= 99%',
    pattern: patternOf(String.raw`success rate${comparison}${number}\s*%`),
    read: ([comparator = '', share = '']) => ({
      subject: { kind: 'success' },
      comparator: comparator as Comparator,
      limit: shareOf(share),
    }),
  },
  {
    example: 'lost reports = 0',
    pattern: patternOf(String.raw`(lost|doubled) reports${comparison}(\d+)`),
    read: ([outcome = '', comparator = '', limit = '']) => ({
      subject: { kind: 'reports', outcome: outcome === 'lost' ? 'lost' : 'doubled' },
      comparator: comparator as Comparator,
      limit: Number(limit),
    }),
  },
  {
    example: 'rate(poll) > 100/s',
    pattern: patternOf(String.raw`rate${target}${comparison}${number}\s*/\s*s`),
    read: ([word = '', comparator = '', limit = '']) => ({
      subject: { kind: 'rate', operations: operationsOf(word) },
      comparator: comparator as Comparator,
      limit: Number(limit),
    }),
  },
];

const suffix = /[,;]?(?<!\s)\s+abort on fail$/;

/**
 * Parses one threshold. `abort on fail` at its end makes it end the run early.
 * @throws ThresholdError when the text is not a threshold
 */
export function thresholdOf(text: string): Threshold {
  const spaced = text.trim().replace(/\s+/g, ' ');
  const [scopeText] = /\{[^{}]*\}/.exec(spaced) ?? [];
  const lower = (scopeText === undefined ? spaced : spaced.replace(scopeText, SCOPE)).toLowerCase();
  const abortsRun = suffix.test(lower);
  const plain = lower.replace(suffix, '');
  try {
    const scope = scopeText === undefined ? {} : scopeOf(scopeText);
    for (const { pattern, read } of syntaxes) {
      const match = plain.length <= TEXT_MAX_CHARACTERS && pattern.exec(plain);
      if (match) {
        const groups = match.slice(1).map((group: string | undefined) => group ?? '');
        return {
          text: plain.replace(SCOPE, () => scopeText ?? ''),
          ...read(groups),
          scope,
          abortsRun,
        };
      }
    }
    if (scopeText !== undefined) throw new ThresholdPartError(scopeMisplaced);
  } catch (error) {
    if (!(error instanceof ThresholdPartError)) throw error;
    throw new ThresholdError(text, error.message);
  }
  const examples = syntaxes.map(({ example }) => `"${example}"`).join(', ');
  throw new ThresholdError(
    text,
    `accepted: ${examples}, each with or without "abort on fail"; ${scopeMisplaced}`,
  );
}

const scopeExample = 'p99(poll){cohort:slow,stage:2 hold} < 200ms';
const scopeMisplaced =
  'a cohort or stage follows the subject of a latency, of errors or of a rate, ' +
  `such as "${scopeExample}"`;

/** Parses `{cohort:slow,stage:2 hold}`. @throws ThresholdPartError */
function scopeOf(text: string): ThresholdScope {
  const entries = text
    .slice(1, -1)
    .split(',')
    .map((part) => /^\s*(cohort|stage)\s*:\s*(\S(?:.*\S)?)\s*$/.exec(part) ?? []);
  const scope: ThresholdScope = Object.fromEntries(
    entries.map(([, name = '', value = '']) => [name, value]),
  );
  const isWhole = entries.every(([, name]) => name !== undefined);
  if (isWhole && Object.keys(scope).length === entries.length) return scope;
  throw new ThresholdPartError(
    `braces hold one cohort, one stage or both, such as "${scopeExample}"`,
  );
}

function patternOf(source: string): RegExp {
  return new RegExp(`^${source}$`);
}

function operationsOf(word: string): readonly string[] {
  const group = values[word];
  if (group) return group;
  if (operationsById.has(word)) return [word];
  throw new ThresholdPartError(
    `there is no operation "${word}"; use ${Object.keys(values).join(', ')} ` +
      'or an operation ID of the contract',
  );
}

function percentOf(text: string): number {
  const percent = Number(text);
  if (percent > 0 && percent <= 100) return percent;
  throw new ThresholdPartError('a percentile must be above 0 and at most 100, such as p99.9');
}

function shareOf(text: string): number {
  const percent = Number(text);
  if (percent <= 100) return percent / 100;
  throw new ThresholdPartError('a share must be at most 100%');
}

function millisecondsOf(time: string, unit: string): number {
  return Number(time) * (millisecondsPerUnit[unit] ?? 1);
}

const THRESHOLDS_MAX = 50;

const thresholdShape = v.pipe(
  v.string('must be a string'),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    try {
      thresholdOf(dataset.value);
    } catch (error) {
      if (!(error instanceof ThresholdError)) throw error;
      addIssue({ message: `must be a threshold (${error.reason})` });
    }
  }),
);

/** Schema of the thresholds of a plan: a list of at most `THRESHOLDS_MAX`. */
export const thresholdsShape = v.pipe(
  v.array(thresholdShape, 'must be a list of thresholds'),
  v.maxLength(THRESHOLDS_MAX, `must hold at most ${THRESHOLDS_MAX}`),
);
