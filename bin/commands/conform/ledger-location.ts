/** Chooses the ledger file of a run, and prints at its end how to remove leftover resources. */
import { accessSync, constants, existsSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { readLedger } from '../../../conformance/cleanup/ledger-reading.ts';
import { LedgerError } from '../../../conformance/context/cleanup-ledger.ts';
import type { ConformanceResult } from '../../../conformance/result/result.ts';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { makeFolder } from '../../../fixtures/base/make-folder.ts';
import { secretVariables } from '../../../fixtures/base/secret-variables.ts';
import { shellWord } from '../../../fixtures/formats/shell-word.ts';
import type { Output } from '../../output/output.ts';
import { type ConformOptions, credentialsOf } from './options.ts';

/** The ledger file of one run. */
export interface LedgerLocation {
  readonly file: string;
  /** A sentence on how to remove leftover resources. */
  readonly hint: string;
}

/**
 * Returns the file of `--ledger`. Without that option, returns a new file in the user's state
 * folder if the suite has credentials and so creates resources; undefined otherwise.
 */
export function ledgerLocation(
  options: ConformOptions & { readonly ledger?: string },
): LedgerLocation | undefined {
  const { ledger: ledgerFile } = options;
  if (ledgerFile !== undefined) return { file: ledgerFile, hint: hintOf(ledgerFile, options) };
  if (credentialsOf(options) === 'none') return undefined;
  const time = new Date(systemClock.now()).toISOString().replace(/[-:]|\.\d+/g, '');
  const file = join(stateFolder(), `conform-${time}-${process.pid}.ledger`);
  return { file, hint: hintOf(file, options) };
}

/**
 * Prints the hint when the process exits after an interruption while the ledger still exists; call
 * `dismiss` once the run has closed its ledger.
 */
export function notifyWhenInterrupted(
  { file, hint }: LedgerLocation,
  stop: AbortSignal,
): { dismiss(): void } {
  const notify = (): void => {
    if (stop.aborted && existsSync(file)) process.stderr.write(`${hint}\n`);
  };
  process.on('exit', notify);
  return { dismiss: () => process.off('exit', notify) };
}

/** Deletes the ledger of a run that ended without a result, unless it still lists resources. */
export function closeEmptyLedger({ file, hint }: LedgerLocation, output: Output): void {
  if (!existsSync(file)) return;
  try {
    if (readLedger(file).remainders.length === 0) rmSync(file);
    else output.warn(hint);
  } catch (error) {
    // The run itself has failed with the sentence about this file.
    if (!(error instanceof LedgerError)) throw error;
  }
}

/**
 * Prints the hint when the run left resources on the target. Otherwise deletes the ledger, unless
 * it still lists resources of earlier runs.
 */
export function closeLedger(
  { file, hint }: LedgerLocation,
  result: ConformanceResult,
  output: Output,
) {
  const stayed = [
    ...result.leftBehind,
    ...result.verdicts.flatMap((each) => each.leftBehind ?? []),
  ];
  if (stayed.length > 0) output.warn(hint);
  else if (readLedger(file).remainders.length === 0) rmSync(file);
}

/** Returns the hint; secrets of the command line must come from the environment next time. */
function hintOf(file: string, options: ConformOptions): string {
  const { url, controlUrl } = options;
  const control = controlUrl === undefined ? [] : ['--control-url', controlUrl];
  const args = ['npx', 'fleetbed', 'cleanup', file, '--url', url, ...control].map(shellWord);
  const secrets = {
    [secretVariables.password]: options.password,
    [secretVariables.userToken]: options.token,
    [secretVariables.controlToken]: options.controlToken,
  };
  const unset = Object.entries(secrets).filter(
    ([name, value]) => value !== undefined && process.env[name] !== value,
  );
  const first = unset.length === 0 ? '' : ` (first set ${unset.map(([name]) => name).join(', ')})`;
  return `some resources were not removed; to remove them${first}: ${args.join(' ')}`;
}

/**
 * Returns the folder for files that outlast a run, and creates it if needed; the system's temporary
 * folder when it cannot be written.
 */
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
