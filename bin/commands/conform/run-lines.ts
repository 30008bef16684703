/**
 * `--ndjson FILE`: writes the events of a run as lines of JSON during the run; `-` is standard
 * output.
 */
import { writeSync } from 'node:fs';
import type {
  CaseVerdict,
  ConformanceOptions,
  ConformanceResult,
} from '../../../conformance/conformance.ts';
import { endLine, startLine, verdictNdjson } from '../../../conformance/report/ndjson.ts';
import type { RunStart } from '../../../conformance/result/result.ts';
import { openForLines } from '../../output/files.ts';

/** Writes the events of a run as lines. */
interface RunLines {
  readonly start: (start: RunStart) => void;
  readonly verdict: (verdict: CaseVerdict) => void;
  readonly end: (result: ConformanceResult) => void;
}

/** Opens the file; without a file, the returned writer discards everything. @throws CommandError */
export async function openRunLines(
  file: string | undefined,
  { baseUrl, headerPrefix }: Pick<ConformanceOptions, 'baseUrl' | 'headerPrefix'>,
): Promise<RunLines> {
  const write = file === undefined ? () => undefined : await writerOf(file);
  return {
    start: (start) => write(startLine(start, { baseUrl, headerPrefix })),
    verdict: (verdict) => write(verdictNdjson(verdict)),
    end: (result) => write(endLine(result)),
  };
}

/**
 * Returns a function that writes each line at once and as a whole, so that a killed run leaves only
 * complete lines.
 */
async function writerOf(path: string): Promise<(line: string) => void> {
  if (path === '-') return (line) => process.stdout.write(line);
  const file = await openForLines('--ndjson', path);
  return (line) => writeSync(file, line);
}
