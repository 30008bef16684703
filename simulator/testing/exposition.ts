/** Parses Prometheus' text format with Prometheus' strictness, for tests. */

/** A line of the exposition. */
interface MetricSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric: its type, its help text and its samples. */
export interface MetricFamily {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly MetricSample[];
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const sampleLine = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`);
const labelPair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/gy;
const suffixes: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
};

/**
 * Returns the metrics by name.
 * @throws Error naming the invalid line
 */
export function parseExposition(text: string): ReadonlyMap<string, MetricFamily> {
  if (!text.endsWith('\n')) throw new Error('the text does not end with a line feed');
  const families = new Map<string, { type: string; help: string; samples: MetricSample[] }>();
  const helps = new Map<string, string>();
  const sampleKeys = new Set<string>();
  for (const line of text.split('\n')) {
    const [, comment, about = '', lineEnd = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (comment === 'HELP') helps.set(about, lineEnd);
    else if (comment === 'TYPE') {
      if (families.has(about)) throw new Error(`the metric already has a type: ${line}`);
      families.set(about, { type: lineEnd, help: helps.get(about) ?? '', samples: [] });
    } else if (line !== '') {
      const sample = parseSample(line);
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      if (sampleKeys.has(key)) throw new Error(`the sample repeats an earlier one: ${line}`);
      sampleKeys.add(key);
      familyOf(sample.name, families).samples.push(sample);
    }
  }
  for (const [name, { type, samples }] of families) {
    if (type === 'histogram') checkHistogram(name, samples);
  }
  return families;
}

function parseSample(line: string): MetricSample {
  const [, name, pairs = '', number = ''] = sampleLine.exec(line) ?? [];
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
  if (name === undefined || Number.isNaN(value)) throw new Error(`not a valid sample: ${line}`);
  const labels: Record<string, string> = {};
  labelPair.lastIndex = 0;
  while (labelPair.lastIndex < pairs.length) {
    const [, label, text = ''] = labelPair.exec(pairs) ?? [];
    if (label === undefined || label in labels)
      throw new Error(`invalid or repeated label: ${line}`);
    labels[label] = text.replace(/\\(.)/g, (_, mark) => (mark === 'n' ? '\n' : mark));
  }
  return { name, labels, value };
}

function familyOf<Kind extends { type: string }>(name: string, families: Map<string, Kind>): Kind {
  for (const [family, kind] of families) {
    if (name === family && kind.type !== 'histogram') return kind;
    if (suffixes[kind.type]?.some((suffix) => name === family + suffix)) return kind;
  }
  throw new Error(`the sample ${name} belongs to no metric with a type`);
}

/**
 * Checks that the buckets of a histogram never decrease and that the last one equals the total
 * count.
 */
function checkHistogram(name: string, samples: readonly MetricSample[]): void {
  const bucketCounts = new Map<string, number>();
  for (const { name: sampleName, labels, value } of samples) {
    const { le, ...group } = labels;
    const key = JSON.stringify(group);
    if (sampleName === `${name}_bucket`) {
      if (le === undefined || value < (bucketCounts.get(key) ?? 0))
        throw new Error(`a bucket of ${name} is smaller than the one before`);
      bucketCounts.set(key, value);
    } else if (sampleName === `${name}_count` && bucketCounts.get(key) !== value) {
      throw new Error(`${name}_count is ${value}, which differs from its last bucket`);
    }
  }
}
