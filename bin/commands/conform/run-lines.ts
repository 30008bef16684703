/** `--ndjson FILE`: a run as lines of JSON while it is going on; `-` is standard output. */
import { writeSync } from 'node:fs';
import type {
  CaseVerdict,
  ConformanceOptions,
  ConformanceResult,
} from '../../../conformance/conformance.ts';
import { endLine, startLine, verdictNdjson } from '../../../conformance/report/ndjson.ts';
import type { RunStart } from '../../../conformance/result/result.ts';
import { openForLines } from '../../output/files.ts';

/** Writes the events of a run. */
interface RunLines {
  readonly start: (start: RunStart) => void;
  readonly verdict: (verdict: CaseVerdict) => void;
  readonly end: (result: ConformanceResult) => void;
}

/** Opens the file; nothing is written without one. @throws CommandError */
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

/** Each line goes out as a whole and at once, so that a run that is killed leaves whole lines. */
async function writerOf(path: string): Promise<(line: string) => void> {
  if (path === '-') return (line) => process.stdout.write(line);
  const file = await openForLines('--ndjson', path);
  return (line) => writeSync(file, line);
}
