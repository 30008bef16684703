/** Creates the one deployment of a run in shards, for the devices of all shards. */
import type { Clock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import type { RunDeployment } from '../api-client/management.ts';
import { ManagementClient } from '../api-client/management.ts';
import { createPlannedDeployment } from '../engine/deployment.ts';
import { FleetUser } from '../engine/fleet-user.ts';
import { Scheduler } from '../engine/scheduler.ts';
import { RunMetrics } from '../metrics/run-metrics.ts';
import { FleetStopped } from '../network/errors.ts';
import { planTransport } from '../network/plan-transport.ts';
import type { FleetPlan } from '../plan/plan.ts';

const CONNECTIONS_MAX = 2;

/**
 * Creates the plan's deployment for these devices, with the retries of a fleet's user.
 * @throws ClientError when the server refuses or errors continue; FleetStopped when the signal
 *   aborts first
 */
export async function deployForAll(
  plan: FleetPlan,
  deviceIds: readonly string[],
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<RunDeployment> {
  const { acceptWith: credentials, deploy } = plan;
  if (credentials === undefined || deploy === undefined) throw new FleetStopped();
  const metrics = new RunMetrics(clock);
  const transport = planTransport(plan, {
    clock,
    observer: metrics,
    connectionsMax: CONNECTIONS_MAX,
  });
  const management = new ManagementClient({ transport, clock, credentials });
  const scheduler = new Scheduler(clock);
  const stop = (): void => {
    scheduler.stop();
    transport.abortAll();
  };
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  const fleetUser = new FleetUser({
    management,
    clock,
    devices: [],
    metrics,
    random: seededRandom(plan.seed),
    sleep: (waitMs) => scheduler.sleep(waitMs),
    // The user would work until the end of a run, so it is stopped once the deployment exists.
    onDeployed: () => scheduler.stop(),
    deployment: () =>
      createPlannedDeployment(management, deviceIds, { plan, deploy, nowMs: clock.now() }),
  });
  try {
    return await fleetUser.work();
  } catch (error) {
    if (fleetUser.runDeployment !== undefined) return fleetUser.runDeployment;
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    await transport.close();
  }
}
