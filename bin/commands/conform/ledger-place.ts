/** Where a run keeps its ledger, and the sentence about it at the end. */
import { accessSync, constants, existsSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { readLedger } from '../../../conformance/cleanup/ledger-reading.ts';
import type { ConformanceResult } from '../../../conformance/result/result.ts';
import { systemClock } from '../../../fixtures/clock.ts';
import { makeFolder } from '../../../fixtures/make-folder.ts';
import type { Output } from '../../output/output.ts';
import { type ConformOptions, credentialsOf } from './options.ts';

/** The ledger of one run. */
export interface LedgerPlace {
  readonly file: string;
  /** How what stayed is removed. */
  readonly hint: string;
}

/**
 * The given file, or one in the user's state folder when the suite has a user and so creates
 * resources; undefined otherwise.
 */
export function ledgerPlace(
  options: ConformOptions & { readonly ledger?: string },
): LedgerPlace | undefined {
  const { ledger: named } = options;
  if (named !== undefined) return { file: named, hint: hintOf(named, options) };
  if (credentialsOf(options) === 'none') return undefined;
  const moment = new Date(systemClock.now()).toISOString().replace(/[-:]|\.\d+/g, '');
  const file = join(stateFolder(), `conform-${moment}-${process.pid}.ledger`);
  return { file, hint: hintOf(file, options) };
}

/** Prints how to remove resources that a second Ctrl-C leaves behind, until it is dismissed. */
export function notifyWhenInterrupted(
  { file, hint }: LedgerPlace,
  stop: AbortSignal,
): { dismiss(): void } {
  const notify = (): void => {
    if (stop.aborted && existsSync(file)) process.stderr.write(`${hint}\n`);
  };
  process.on('exit', notify);
  return { dismiss: () => process.off('exit', notify) };
}

/**
 * Prints how to remove what the run has left; deletes the ledger where nothing is left of this run
 * and of earlier ones.
 */
export function closeLedger(
  { file, hint }: LedgerPlace,
  result: ConformanceResult,
  output: Output,
) {
  const stayed = [
    ...result.leftBehind,
    ...result.verdicts.flatMap((each) => each.leftBehind ?? []),
  ];
  if (stayed.length > 0) output.progress(hint);
  else if (readLedger(file).remainders.length === 0) rmSync(file);
}

function hintOf(file: string, { url, controlUrl }: ConformOptions): string {
  const control =
    controlUrl === undefined ? '' : ` --control-url ${controlUrl} --control-token ...`;
  const words = `${file} --url ${url} --password ...${control}`;
  return `some resources were not removed; to remove them: fleetbed cleanup ${words}`;
}

/** The folder for what a program keeps of its runs; the temporary one where there is no home. */
function stateFolder(): string {
  const state = process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state');
  const folder = join(state, 'fleetbed');
  try {
    makeFolder(folder, 0o700);
    accessSync(folder, constants.W_OK);
    return folder;
  } catch {
    return tmpdir();
  }
}
