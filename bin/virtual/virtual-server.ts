/**
 * The server of a run in virtual time: in this process, on its own clock, with random numbers
 * derived from the seed.
 */
import { ManualClock } from '../../fixtures/base/clock.ts';
import { type Random, seededRandom } from '../../fixtures/base/random.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { writeArtifact } from '../../fixtures/formats/mender-artifact-writer.ts';
import type { FleetPlan } from '../../simulator/engine/simulate-fleet.ts';
import { RestartableServer } from './server-process.ts';

/** The host name that devices of a virtual run call; nothing listens there. */
export const virtualHost = 'reference-server.invalid';
const ARTIFACT_BYTES = 20_000;

/** A server with the clock that it shares with its fleet. */
export interface VirtualServer {
  readonly clock: ManualClock;
  /** The server; the caller must close it. */
  readonly server: RestartableServer;
}

/** The options of a virtual server. */
interface VirtualServerOptions {
  /** Start of the virtual time, in milliseconds since the Unix epoch. */
  readonly startMs: number;
  /**
   * Permutes timers that are due at the same time. When absent, such timers fire in the order in
   * which they were set.
   */
  readonly order?: Random | undefined;
  /** True when the server will be restarted. */
  readonly mayRestart: boolean;
}

/**
 * The user of every virtual server. The fixed password is safe, because nothing outside of the
 * process can reach the server.
 */
export const virtualUser = { email: 'admin@example.com', password: 'virtual-password' } as const;

/** Opens the server of a plan, with the artifact that the plan deploys. */
export async function openVirtualServer(
  plan: FleetPlan,
  { startMs, order, mayRestart }: VirtualServerOptions,
): Promise<VirtualServer> {
  const clock = new ManualClock(startMs, order && (() => order.fraction()));
  const server = await RestartableServer.start({
    clock,
    mayRestart,
    optionsOf: (start) => ({
      port: 0,
      controlPort: 0,
      logLevel: 'silent',
      journalEntriesMax: 0,
      adminEmail: virtualUser.email,
      adminPassword: virtualUser.password,
      headerPrefix: plan.headerPrefix,
      // Each start has its own random stream; the same one would generate the same IDs again.
      random: seededRandom(`${plan.seed}/server${start === 0 ? '' : `/${start}`}`),
    }),
  });
  try {
    if (plan.deploy !== undefined) {
      await uploadRelease(await artifactOf(plan, plan.deploy, startMs), server);
    }
  } catch (error) {
    await server.close();
    throw error;
  }
  return { clock, server };
}

/** Returns an artifact of this name for the devices of the plan. */
export function artifactOf(
  { deviceType }: Pick<FleetPlan, 'deviceType'>,
  name: string,
  modifiedMs: number,
): Promise<Buffer> {
  return writeArtifact({
    name,
    deviceTypes: [deviceType],
    payloadType: 'single-file',
    files: [{ name: 'app.bin', content: Buffer.alloc(ARTIFACT_BYTES, 7) }],
    modifiedMs,
  });
}

async function uploadRelease(
  artifact: Buffer,
  { listener, adminToken: token }: RestartableServer,
): Promise<void> {
  const form = new FormData();
  form.append('artifact', new Blob([Uint8Array.from(artifact)]), 'release.mender');
  const encoded = new Response(form);
  const { method, path } = managementOperations['upload-artifact'];
  const request = {
    method,
    target: pathOf({ path }),
    host: virtualHost,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': encoded.headers.get('content-type') ?? '',
    },
    body: Buffer.from(await encoded.arrayBuffer()),
  };
  const status = await new Promise<number>((resolve) => {
    let statusCode = 0;
    const onHead = (status: number): void => {
      statusCode = status;
    };
    listener(request, { onHead, onData: () => undefined, onEnd: () => resolve(statusCode) });
  });
  if (status !== 201) throw new Error(`the virtual server answered the upload with ${status}`);
}
