/** The record of the last nightly run that passed, as it is kept in the repository. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';

const DAY_MS = 86_400_000;
/** An older record shows nothing about the code as it is. */
const AGE_MAX_DAYS = 14;

const recordShape = v.object({
  /** When the run ended: ISO 8601, UTC. */
  date: v.pipe(v.string(), v.isoTimestamp()),
  /** What was tested. */
  commit: v.pipe(v.string(), v.regex(/^[0-9a-f]{40}$/)),
  steps: v.array(
    v.object({
      name: v.string(),
      seconds: v.number(),
      /** What the step printed of its result. */
      figures: v.array(v.string()),
    }),
  ),
});

/** A nightly run that passed. */
export type NightlyRecord = v.InferOutput<typeof recordShape>;

/** The committed file, whether this runs from the sources or from what is built of them. */
export const recordFile = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? 'record.json' : '../../../bin/nightly/record.json',
    import.meta.url,
  ),
);

/** Whether the record is young enough, and a line that says how old it is. */
export interface RecordAge {
  readonly isYoung: boolean;
  readonly lines: readonly string[];
}

/** Judges the record in a file at this moment, in milliseconds since the Unix epoch. */
export function ageOfRecord(file: string, nowMs: number): RecordAge {
  const again = 'run `npm run test:nightly` and commit bin/nightly/record.json';
  if (!existsSync(file)) return { isYoung: false, lines: [`no nightly run is recorded; ${again}`] };
  const read = v.safeParse(
    v.pipe(v.string(), v.parseJson(), recordShape),
    readFileSync(file, 'utf8'),
  );
  if (!read.success)
    return { isYoung: false, lines: [`${file} is not a nightly record; ${again}`] };
  const { date, commit, steps } = read.output;
  const days = Math.floor((nowMs - Date.parse(date)) / DAY_MS);
  const isYoung = days < AGE_MAX_DAYS;
  return {
    isYoung,
    lines: [
      `nightly run: ${days} days old (${date}, commit ${commit.slice(0, 12)}), valid for ${AGE_MAX_DAYS}`,
      ...steps.flatMap(({ name, figures }) => figures.map((line) => `  ${name}: ${line}`)),
      ...(isYoung ? [] : [again]),
    ],
  };
}
