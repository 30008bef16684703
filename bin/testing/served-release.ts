/** Starts the built server with one release to which fleets can update. */
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { writeArtifact } from '../../fixtures/formats/mender-artifact-writer.ts';
import type { ServerReady } from '../server-access/ready.ts';
import { type RunningCommand, startServe } from './built-command.ts';

/** Name of the artifact on the server; it fits every device of a fleet with the default type. */
export const releaseName = 'release-2';

/** The server, and calls as a user of its management API. */
export interface ServedRelease {
  readonly running: RunningCommand;
  readonly ready: ServerReady;
  /** Calls a path of the management API. @throws Error when the server refuses the call */
  manage(path: string, request?: RequestInit): Promise<Response>;
}

/** Starts the server and uploads the release. */
export async function serveRelease(): Promise<ServedRelease> {
  const { running, ready } = await startServe();
  const manage = async (path: string, request: RequestInit = {}): Promise<Response> => {
    const headers = { Authorization: `Bearer ${ready.adminToken}`, ...request.headers };
    const response = await fetch(ready.baseUrl + path, { ...request, headers });
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}`);
    return response;
  };
  const artifact = await writeArtifact({
    name: releaseName,
    deviceTypes: ['fleetbed-board'],
    payloadType: 'single-file',
    files: [{ name: 'app.bin', content: Buffer.alloc(20_000, 7) }],
    modifiedMs: 0,
  });
  const body = new FormData();
  body.append('artifact', new Blob([Uint8Array.from(artifact)]), `${releaseName}.mender`);
  await manage(pathOf(managementOperations['upload-artifact']), { method: 'POST', body });
  return { running, ready, manage };
}
