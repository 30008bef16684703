/** `--ndjson FILE`: a run as lines of JSON while it is going on; `-` is standard output. */
import { writeSync } from 'node:fs';
import type { CaseVerdict, ConformanceResult } from '../../conformance/conformance.ts';
import { endLine, startLine, verdictNdjson } from '../../conformance/report/ndjson.ts';
import type { RunStart } from '../../conformance/result/result.ts';
import { openForLines } from '../files.ts';
import type { ConformOptions } from './options.ts';

/** What to call as a run goes on. */
interface RunLines {
  readonly start: (start: RunStart) => void;
  readonly verdict: (verdict: CaseVerdict) => void;
  readonly end: (result: ConformanceResult) => void;
}

/** Opens the file; without `--ndjson` nothing is written. @throws CommandFault */
export async function openRunLines({
  ndjson,
  url,
  headerPrefix,
}: Pick<ConformOptions, 'ndjson' | 'url' | 'headerPrefix'>): Promise<RunLines> {
  const write = ndjson === undefined ? () => undefined : await writerOf(ndjson);
  return {
    start: (start) => write(startLine(start, { baseUrl: url, headerPrefix })),
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
