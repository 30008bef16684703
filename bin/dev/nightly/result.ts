/** The result of nightly steps that passed, as it is kept in the repository. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';

const DAY_MS = 86_400_000;
/** Age from which a result no longer counts for the present code. */
const AGE_MAX_DAYS = 14;
/** Date from which the age of a never stored step counts: the first day of the nightly run. */
const LANE_SINCE = '2026-11-26T00:00:00Z';

const stepShape = v.object({
  name: v.string(),
  /** End of the step: ISO 8601 in UTC. */
  date: v.pipe(v.string(), v.isoTimestamp()),
  /** The tested commit: 40 hex digits. */
  commit: v.pipe(v.string(), v.regex(/^[0-9a-f]{40}$/)),
  seconds: v.number(),
  /** Lines of the step's output with its figures. */
  figures: v.array(v.string()),
});
const resultShape = v.array(stepShape);

/** A step in the result of the nightly run. */
export type NightlyStep = v.InferOutput<typeof stepShape>;

/** The committed file; the path differs between sources and built files. */
export const resultFile = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? 'result.json' : '../../../../bin/dev/nightly/result.json',
    import.meta.url,
  ),
);

/** `isYoung` is true when every step is recent enough; `lines` describe the age of each step. */
export interface ResultAge {
  readonly isYoung: boolean;
  readonly lines: readonly string[];
}

const again = 'run `npm run test:nightly` and commit bin/dev/nightly/result.json';

/**
 * Judges the age of the result in a file.
 * @param names the steps that it must hold
 */
export function ageOfResult(file: string, names: readonly string[], nowMs: number): ResultAge {
  const steps = readNightlyResult(file);
  if (!steps) return { isYoung: false, lines: [`${file} is not a nightly result; ${again}`] };
  const judgedSteps = names.map((name) => judgedStep(name, steps, nowMs));
  const isYoung = judgedSteps.every(({ isYoung }) => isYoung);
  const lines = judgedSteps.flatMap(({ lines }) => lines);
  return { isYoung, lines: [...lines, ...(isYoung ? [] : [again])] };
}

/**
 * Returns the steps of a result file: an empty list when the file is missing, undefined when it is
 * not a result.
 */
export function readNightlyResult(file: string): readonly NightlyStep[] | undefined {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, 'utf8');
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), resultShape), text);
  return result.success ? result.output : undefined;
}

/** Returns the steps with this step in place of its earlier run. */
export function withStep(steps: readonly NightlyStep[], step: NightlyStep): readonly NightlyStep[] {
  return [...steps.filter(({ name }) => name !== step.name), step];
}

function judgedStep(name: string, steps: readonly NightlyStep[], nowMs: number): ResultAge {
  const step = steps.find((each) => each.name === name);
  const { date, commit, figures } = step ?? { date: LANE_SINCE, commit: undefined, figures: [] };
  const days = Math.floor((nowMs - Date.parse(date)) / DAY_MS);
  const age = commit
    ? `${days} days old (${date}, commit ${commit.slice(0, 12)})`
    : `never stored, ${days} days after the nightly run was introduced`;
  const head = `nightly ${name}: ${age}, valid for ${AGE_MAX_DAYS}`;
  return { isYoung: days < AGE_MAX_DAYS, lines: [head, ...figures.map((line) => `  ${line}`)] };
}
