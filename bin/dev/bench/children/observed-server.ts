/**
 * Runs the reference server with an observer of its process. The argument is an `ObservedServer` as
 * JSON; the output is the server's ready line with the URL of the observer.
 */
import { openServer, type ServerOptions } from '../../../../server/server.ts';
import { stopSignal } from '../../../output/stop-signal.ts';
import { serverReady } from '../../../server-access/ready.ts';
import { fillAuditLog } from '../scale/audit-entries.ts';
import { observe } from '../scale/observer.ts';

/** The argument of this process, as JSON. */
export interface ObservedServer {
  readonly options: ServerOptions;
  /** Number of entries in the audit log of the first tenant at the start. */
  readonly auditEntries: number;
}

const input = JSON.parse(process.argv[2] ?? '') as ObservedServer;
const signal = stopSignal();
const { server, services, watchdog } = await openServer({
  port: 0,
  controlPort: 0,
  logLevel: 'error',
  ...input.options,
});
fillAuditLog(services.tenants.first.store, input.auditEntries);
watchdog.start();
const ready = serverReady(server, server.tls);
process.stdout.write(`${JSON.stringify({ ...ready, observerUrl: await observe() })}\n`);
// `close` removes the server's temporary files; the exit does not wait for its last connections.
signal.addEventListener('abort', () => void server.close().then(() => process.exit()));
