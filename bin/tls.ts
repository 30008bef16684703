/** The options of `fleetbed serve` that encrypt the API, and what is written and told of them. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { authorityFiles } from '../server/listeners/tls/authority-files.ts';
import type { TlsSettings } from '../server/listeners/tls/settings.ts';
import type { RunningServer } from '../server/server.ts';
import { exitCodes } from './exit-codes.ts';
import { CommandFault } from './fault.ts';
import { FOR_ALL, fileFault, requireWritable, writeWhole } from './files.ts';
import * as values from './option-values.ts';

/** What commander makes of the options. */
export interface TlsOptions {
  readonly tls?: boolean;
  readonly tlsName?: readonly string[];
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsClientCa?: string;
  readonly tlsCaKeep?: string;
  readonly tlsGallery?: boolean;
  readonly tlsCaOut?: string;
}

/** Of the encrypted listeners, for scripts. */
export interface TlsReady {
  /** Where --tls-ca-out has put the test CA's certificate. */
  readonly caFile?: string;
  /** The test CA's certificate; absent with a certificate of one's own. */
  readonly caPem?: string;
  /** Base URL by what is wrong there; empty without --tls-gallery. */
  readonly gallery: Readonly<Record<string, string>>;
}

/** Adds the options; each of them encrypts, with or without --tls. */
export function addTlsOptions(command: Command): void {
  command
    .option('--tls', 'serve the API over HTTPS with a certificate of a new test CA')
    .addOption(
      new Option(
        '--tls-name <name>',
        'host name or address for the certificate; repeatable',
      ).argParser(values.listed),
    )
    .option(
      '--tls-cert <file>',
      'PEM file with your own certificate; needs --tls-key',
      values.filled,
    )
    .option('--tls-key <file>', 'PEM file with the key of that certificate', values.filled)
    .option(
      '--tls-client-ca <file>',
      'require client certificates of an authority in this PEM file',
      values.filled,
    )
    .option(
      '--tls-ca-out <folder>',
      "write the test CA's certificate to ca.pem, ca.der and ca.h (C) in this folder",
      values.filled,
    )
    .option(
      '--tls-ca-keep <file>',
      'keep the test CA and its private key in this PEM file over restarts',
      values.filled,
    )
    .option('--tls-gallery', 'listen on extra ports with broken TLS, one for each kind');
}

/**
 * The settings of the options, with those of TLS in the form that the server takes.
 * @throws CommandFault
 */
export function tlsPlan<Options extends TlsOptions>(options: Options) {
  const { tls, tlsName, tlsCert, tlsKey, tlsClientCa, tlsCaKeep, ...others } = options;
  const { tlsGallery, tlsCaOut: caFolder, ...rest } = others;
  const texts = { certFile: tlsCert, keyFile: tlsKey, clientCaFile: tlsClientCa };
  const all = { names: tlsName, ...texts, caKeepFile: tlsCaKeep, gallery: tlsGallery };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  if (caFolder !== undefined && tlsCert !== undefined) {
    throw new CommandFault(
      '--tls-ca-out cannot be used with --tls-cert: there is no test CA then.',
      exitCodes.usage,
    );
  }
  const isAsked = tls === true || caFolder !== undefined || given.length > 0;
  const chosen: TlsSettings = Object.fromEntries(given);
  return { settings: { ...rest, ...(isAsked && { tls: chosen }) }, caFolder };
}

/** Makes the folder of --tls-ca-out, before the server starts. @throws CommandFault */
export async function prepareCaFolder(folder: string | undefined): Promise<void> {
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw fileFault(`--tls-ca-out cannot create ${folder}`, error);
  });
  await requireWritable('--tls-ca-out', join(folder, 'ca.pem'));
}

/** Writes the test CA where that was asked for, and tells of TLS. @throws CommandFault */
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
