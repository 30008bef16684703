/** Checks before a run that the server has the plan's artifact for the fleet's device type. */
import type { Clock } from '../../fixtures/base/clock.ts';
import { nearestOf } from '../../fixtures/base/nearest.ts';
import { ManagementClient } from '../api-client/management.ts';
import { RunMetrics } from '../metrics/run-metrics.ts';
import { FleetStopped } from '../network/errors.ts';
import { planTransport } from '../network/plan-transport.ts';
import type { FleetPlan } from '../plan/plan.ts';

/**
 * Thrown with one sentence when the server does not have the plan's artifact, or has it only for
 * other device types.
 */
export class NotDeployableError extends Error {
  override readonly name = 'NotDeployableError';
}

/**
 * Checks that the artifact of the plan's deployment exists. The check passes when the server does
 * not support the list of artifacts.
 * @throws NotDeployableError when no artifact is suitable; ClientError when the server cannot be
 *   reached or refuses the user
 */
export async function requireDeployable(
  plan: FleetPlan,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const { acceptWith: credentials, deploy } = plan;
  if (credentials === undefined || deploy === undefined || signal.aborted) return;
  const transport = planTransport(plan, {
    clock,
    observer: new RunMetrics(clock),
    connectionsMax: 1,
  });
  const giveUp = (): void => transport.abortAll();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    const problem = await problemOf(
      plan,
      deploy,
      new ManagementClient({ transport, clock, credentials }),
    );
    if (problem !== undefined) throw new NotDeployableError(`${plan.baseUrl}: ${problem}`);
  } catch (error) {
    // A run that is interrupted this early continues to its regular result, so no error is thrown.
    if (!(error instanceof FleetStopped)) throw error;
  } finally {
    signal.removeEventListener('abort', giveUp);
    await transport.close();
  }
}

async function problemOf(
  { deviceType }: FleetPlan,
  deploy: string,
  management: ManagementClient,
): Promise<string | undefined> {
  const listedArtifacts = await management.artifacts(deploy);
  // A server that ignores the filter by name also lists other artifacts.
  const namedArtifacts = listedArtifacts?.filter(({ name }) => name === deploy);
  if (namedArtifacts === undefined) return undefined;
  if (namedArtifacts.length === 0) return absentArtifact(deploy, await management.artifacts());
  const types = [...new Set(namedArtifacts.flatMap((each) => each.device_types_compatible))];
  if (types.includes(deviceType)) return undefined;
  return (
    `no artifact named "${deploy}" is compatible with device type "${deviceType}"; ` +
    `it is compatible with ${quoteNames(nearestOf(deviceType, types))}; choose one with --device-type`
  );
}

function absentArtifact(deploy: string, all: Awaited<ReturnType<ManagementClient['artifacts']>>) {
  const names = (all ?? []).map(({ name }) => name);
  const absent = `there is no artifact named "${deploy}"`;
  if (names.length === 0) return `${absent}; the server has no artifacts: upload it first`;
  return `${absent}; nearest names: ${quoteNames(nearestOf(deploy, names))}`;
}

function quoteNames(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}
