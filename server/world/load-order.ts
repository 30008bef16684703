/** Orders the content of a world as steps in time. Pure; `load.ts` executes the steps. */
import { knownNames } from '../../fixtures/base/nearest.ts';
import { agoMs, type World, type WorldDeployment, type WorldDevice } from './world-shape.ts';

/** A step of loading. `agoMs` is the time before the world's time, in milliseconds. */
export type LoadStep = { readonly agoMs: number } & (
  | { readonly kind: 'user'; readonly user: World['users'][number] }
  | { readonly kind: 'device'; readonly device: WorldDevice }
  | { readonly kind: 'artifact'; readonly artifact: World['artifacts'][number] }
  | { readonly kind: 'deployment'; readonly deployment: WorldDeployment }
);

/** Thrown for a contradiction in a world. The message names the place. */
export class WorldFileError extends Error {
  override readonly name = 'WorldFileError';
}

/** The order of steps at the same time. */
const order = { user: 0, artifact: 1, device: 2, deployment: 3 } as const;

/** Returns the steps, oldest first. @throws WorldFileError for an impossible state */
export function loadOrderOf(world: World): readonly LoadStep[] {
  checkNames(world);
  for (const deployment of world.deployments) checkDeployment(world, deployment);
  const steps: LoadStep[] = [
    ...world.users.map((user) => ({ kind: 'user' as const, user, agoMs: oldest(world) })),
    ...world.artifacts.map((artifact) => ({
      kind: 'artifact' as const,
      artifact,
      agoMs: agoMs(artifact.ago),
    })),
    ...world.devices.map((device) => ({
      kind: 'device' as const,
      device,
      agoMs: agoMs(device.ago),
    })),
    ...world.deployments.map((deployment) => ({
      kind: 'deployment' as const,
      deployment,
      agoMs: agoMs(deployment.ago),
    })),
  ];
  return steps.toSorted((a, b) => b.agoMs - a.agoMs || order[a.kind] - order[b.kind]);
}

function oldest({ devices, artifacts, deployments }: World): number {
  return Math.max(0, ...[...devices, ...artifacts, ...deployments].map(({ ago }) => agoMs(ago)));
}

function checkNames({ devices, artifacts, users }: World): void {
  requireDifferent(
    'devices',
    devices.map(({ name }) => name),
  );
  requireDifferent(
    'artifacts',
    artifacts.map(({ name }) => name),
  );
  requireDifferent(
    'users',
    users.map(({ email }) => email),
  );
}

function requireDifferent(location: string, names: readonly string[]): void {
  const doubled = names.find((name, index) => names.indexOf(name) !== index);
  if (doubled !== undefined)
    throw new WorldFileError(`${location}: the name "${doubled}" is used twice`);
}

function checkDeployment(world: World, deployment: WorldDeployment): void {
  const location = `deployments: ${deployment.name}`;
  const artifact = world.artifacts.find(({ name }) => name === deployment.artifact);
  if (!artifact) {
    const names = world.artifacts.map(({ name }) => name);
    throw absent(location, 'artifact', { wanted: deployment.artifact, names });
  }
  const startedMs = agoMs(deployment.ago);
  if (agoMs(artifact.ago) < startedMs) {
    throw new WorldFileError(
      `${location}: its artifact was created later; set a longer ago for the artifact`,
    );
  }
  const targets = deployment.devices ?? world.devices.map(({ name }) => name);
  for (const name of [...targets, ...Object.keys(deployment.reached)]) {
    const device = world.devices.find((one) => one.name === name);
    if (!device) {
      const names = world.devices.map((one) => one.name);
      throw absent(location, 'device', { wanted: name, names });
    }
    const isTarget = targets.includes(name) && device.status === 'accepted';
    if (!isTarget && name in deployment.reached) {
      throw new WorldFileError(
        `${location}: reached: "${name}" is not one of its accepted devices`,
      );
    }
    if (deployment.devices && agoMs(device.ago) < startedMs) {
      throw new WorldFileError(
        `${location}: device "${name}" was created later; set a longer ago for it`,
      );
    }
  }
}

/** Returns the error for a name that the world does not have. */
export function absent(
  location: string,
  noun: string,
  { wanted, names }: { readonly wanted: string; readonly names: readonly string[] },
): WorldFileError {
  const nearest = knownNames(noun, wanted, names);
  return new WorldFileError(`${location}: there is no ${noun} "${wanted}"; ${nearest}`);
}
