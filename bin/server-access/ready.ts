/** The ready message of a server for people, scripts and the ready file. */
import { rm } from 'node:fs/promises';
import type { RunningServer } from '../../server/server.ts';
import { requireWritable, writeWhole } from '../output/files.ts';
import { packageVersion } from '../output/version.ts';
import type { TlsReady } from './tls.ts';

/** The ready message, sent once the server accepts connections on both listeners. */
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

/** Returns the ready message of a server. */
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

/** Returns the address of the console, with the token that logs the user in. */
export function consoleUrl(server: { controlUrl: string; controlToken: string }): string {
  return `${server.controlUrl}/#token=${encodeURIComponent(server.controlToken)}`;
}

/**
 * Checks that the ready file can be written, and removes an old one, which would describe a server
 * that no longer runs.
 * @throws CommandError
 */
export async function prepareReadyFile(path: string | undefined): Promise<void> {
  if (path === undefined) return;
  await requireWritable('--ready-file', path);
  await rm(path, { force: true });
}

/** Writes the ready file, if one was requested. @throws CommandError */
export async function writeReadyFile(path: string | undefined, ready: object): Promise<void> {
  if (path === undefined) return;
  await writeWhole(path, `${JSON.stringify(ready)}\n`);
}
