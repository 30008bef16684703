/** Reports that a command is ready: to people, to scripts, and in a ready file. */
import { rm } from 'node:fs/promises';
import type { RunningServer } from '../../server/server.ts';
import { requireWritable, writeWhole } from '../output/files.ts';
import { packageVersion } from '../output/version.ts';
import type { TlsReady } from './tls.ts';

/** What is known once the server accepts connections on both listeners. */
export interface ServerReady {
  readonly event: 'ready';
  readonly baseUrl: string;
  readonly controlUrl: string;
  readonly adminEmail: string;
  readonly adminPassword: string;
  /** A user's JWT for the management API. */
  readonly adminToken: string;
  /** The secret of the control listener; it does not expire. */
  readonly controlToken: string;
  readonly headerPrefix: string;
  /** The TLS settings of the server; absent without TLS. */
  readonly tls?: TlsReady;
  readonly version: string;
}

/** The ready word of a server. */
export function serverReady(server: RunningServer, tls?: TlsReady): ServerReady {
  const { baseUrl, controlUrl, adminEmail, adminPassword, adminToken, controlToken } = server;
  return {
    event: 'ready',
    baseUrl,
    controlUrl,
    adminEmail,
    adminPassword,
    adminToken,
    controlToken,
    headerPrefix: server.headerPrefix,
    ...(tls && { tls }),
    version: packageVersion(),
  };
}

/** The address of the console with the token that it asks for. */
export function consoleUrl(server: { controlUrl: string; controlToken: string }): string {
  return `${server.controlUrl}/#token=${encodeURIComponent(server.controlToken)}`;
}

/**
 * Makes sure that a ready file can be written, and takes an old one away: it would speak of a
 * server that is gone.
 * @throws CommandError
 */
export async function prepareReadyFile(path: string | undefined): Promise<void> {
  if (path === undefined) return;
  await requireWritable('--ready-file', path);
  await rm(path, { force: true });
}

/** Writes the ready file where one was asked for. @throws CommandError */
export async function writeReadyFile(path: string | undefined, ready: object): Promise<void> {
  if (path === undefined) return;
  await writeWhole(path, `${JSON.stringify(ready)}\n`);
}
