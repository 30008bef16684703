/** The TLS options of `fleetbed serve`, and the files and messages that result from them. */
import { join } from 'node:path';
import { makeFolder } from '../../fixtures/base/make-folder.ts';
import type { OptionRows } from '../../fixtures/base/option-row.ts';
import { authorityFiles } from '../../server/listeners/tls/authority-files.ts';
import type { RunningServer } from '../../server/server.ts';
import { tlsRows } from '../../server/tls-settings.ts';
import { settingsOfOptions } from '../options/option-rows.ts';
import { CommandError } from '../output/command-error.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { FOR_ALL, fileError, requireWritable, writeWhole } from '../output/files.ts';

/** The options; each of them enables TLS, with or without --tls. */
export const tlsOptionRows = {
  isEnabled: {
    flag: '--tls',
    group: 'TLS',
    help: 'serve the API over HTTPS with a certificate of a new test CA',
    cli: { kind: 'switch' },
  },
  ...tlsRows,
  caFolder: {
    flag: '--tls-ca-out <folder>',
    group: 'TLS',
    help: "write the test CA's certificate to ca.pem, ca.der and ca.h (C) in this folder",
    cli: { kind: 'text' },
  },
} as const satisfies OptionRows;

/** The TLS settings in the ready message. */
export interface TlsReady {
  /** File of the test CA's certificate, written by --tls-ca-out. */
  readonly caFile?: string;
  /** The test CA's certificate, PEM; absent when the server uses a given certificate. */
  readonly caPem?: string;
  /** Base URLs by kind of defect; empty without --tls-broken. */
  readonly brokenTls: Readonly<Record<string, string>>;
}

/**
 * Returns the TLS settings of the server, undefined without TLS, and the folder of --tls-ca-out.
 * @param options the options as commander parses them
 * @throws CommandError
 */
export function tlsPlan(options: object) {
  const tlsSettings = settingsOfOptions(tlsOptionRows, options);
  const { isEnabled, caFolder, ...tls } = tlsSettings;
  if (caFolder !== undefined && tls.certFile !== undefined) {
    throw new CommandError(
      '--tls-ca-out cannot be used with --tls-cert, which replaces the test CA.',
      exitCodes.usage,
    );
  }
  return { tls: Object.keys(tlsSettings).length > 0 ? tls : undefined, caFolder };
}

/** Creates the folder of --tls-ca-out before the server starts. @throws CommandError */
export async function prepareCaFolder(folder: string | undefined): Promise<void> {
  if (folder === undefined) return;
  try {
    makeFolder(folder);
  } catch (error) {
    throw fileError(`--tls-ca-out cannot create ${folder}`, error);
  }
  await requireWritable('--tls-ca-out', join(folder, 'ca.pem'));
}

/**
 * Writes the test CA to the folder, if any.
 * @returns the TLS settings for the ready message
 * @throws CommandError
 */
export async function publishTls(
  { tls }: RunningServer,
  folder: string | undefined,
): Promise<TlsReady | undefined> {
  if (!tls || folder === undefined || tls.caPem === undefined) return tls;
  for (const [name, content] of Object.entries(authorityFiles(tls.caPem))) {
    await writeWhole(join(folder, name), content, FOR_ALL);
  }
  return { caFile: join(folder, 'ca.pem'), ...tls };
}
