/** Reads from a ledger which resources remain, even if the run that wrote it was killed. */
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { plainFile } from '../../fixtures/base/plain-file.ts';
import { LedgerError, ledgerLine } from '../context/cleanup-ledger.ts';
import type { ResourceIdentity } from '../context/resource.ts';

/** Maximum size of a ledger, which has a few lines for each case. */
const LEDGER_MAX_CHARACTERS = 64 * 1_048_576;

/** One resource that a run announced and did not remove. */
export interface LeftResource {
  readonly run: string;
  readonly entry: number;
  /** Base URL of the target of the run. */
  readonly baseUrl: string;
  readonly resource: ResourceIdentity;
  /** The ID on the target; undefined if the response with the ID was never received. */
  readonly id: string | undefined;
}

/** The contents of a ledger. */
export interface ReadLedger {
  /** The base URLs of the targets of its runs, the newest last. */
  readonly baseUrls: readonly string[];
  /** The resources that are still to be removed, the newest first. */
  readonly remainders: readonly LeftResource[];
  /** Number of resources that were announced, whether removed since or not. */
  readonly announced: number;
}

/** Reads a ledger. Throws a LedgerError when the file is not a ledger. */
export function readLedger(path: string): ReadLedger {
  try {
    return readLines(readFileSync(plainFile(path), 'utf8'));
  } catch (error) {
    throw new LedgerError(path, error);
  }
}

function readLines(text: string): ReadLedger {
  if (text.length > LEDGER_MAX_CHARACTERS) throw new Error('it is too large for a ledger');
  const resources = new Map<string, LeftResource>();
  const urlOfRun = new Map<string, string>();
  let announcedCount = 0;
  for (const line of linesOf(text)) {
    if ('ledger' in line) {
      urlOfRun.set(line.run, line.baseUrl);
      continue;
    }
    const { run, entry } = line;
    const key = `${run}/${entry}`;
    const knownResource = resources.get(key);
    if ('intent' in line) {
      const baseUrl = urlOfRun.get(run) ?? '';
      resources.set(key, { run, entry, baseUrl, resource: line.intent, id: undefined });
      announcedCount += 1;
    } else if ('removed' in line) resources.delete(key);
    else if (knownResource) resources.set(key, { ...knownResource, id: line.made });
  }
  if (urlOfRun.size === 0) throw new Error('it does not start with the first line of a ledger');
  const baseUrls = [...urlOfRun.values()];
  return { baseUrls, remainders: [...resources.values()].reverse(), announced: announcedCount };
}

/** Yields the valid lines, and skips a line that was truncated when a process was killed. */
function* linesOf(text: string): Generator<v.InferOutput<typeof ledgerLine>> {
  for (const [index, line] of text.split('\n').entries()) {
    const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), ledgerLine), line);
    if (parsed.success) yield parsed.output;
    else if (index === 0) return;
  }
}
