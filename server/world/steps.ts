/**
 * Executes the steps of a world through the API where possible, so that every loaded state is
 * reachable. The first contacts of devices and users are written directly to the store.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { type Operation, pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import type { DeviceDeploymentStatus } from '../../fixtures/contract/vocabulary.ts';
import type { ResponseOf } from '../../fixtures/control/operations.ts';
import { writeArtifact } from '../../fixtures/formats/mender-artifact-writer.ts';
import { singleFilePayload } from '../../fixtures/formats/update-modules.ts';
import { hashPassword } from '../crypto/passwords.ts';
import { readPublicKey } from '../crypto/public-key.ts';
import type { Services } from '../pipeline/services.ts';
import { readIdentity } from '../rules/identity.ts';
import { findRole, predefinedRoles } from '../tenants/access.ts';
import { audit, deviceActor, deviceObject } from '../tenants/audit.ts';
import type { Tenant } from '../tenants/tenants.ts';
import { absent, type LoadStep, WorldFileError } from './load-order.ts';
import type { World, WorldDeployment, WorldDevice } from './world-shape.ts';

/** A response of the API. */
interface ApiResponse {
  readonly status: number;
  readonly text: string;
  readonly location: string | null;
}

/** Calls the API of the server. */
export type CallApi = (
  operation: Pick<Operation, 'method'>,
  path: string,
  call: { readonly token: string; readonly json?: unknown; readonly form?: FormData },
) => Promise<ApiResponse>;

/** A loaded device, as `POST /world` returns it. */
type LoadedDevice = ResponseOf<'POST /world'>['devices'][number];

/** The context of the steps, and the resources created so far, by their names in the file. */
export interface LoadContext {
  readonly services: Services;
  readonly tenant: Tenant;
  readonly world: World;
  readonly callApi: CallApi;
  readonly userToken: string;
  readonly devices: Map<string, LoadedDevice>;
  readonly artifacts: Map<string, string>;
  readonly deployments: Map<string, string>;
}

/**
 * For each status, the statuses that a device reports before it. A status without an entry cannot
 * be reached by reports.
 */
const reportsTo: Readonly<
  Partial<Record<DeviceDeploymentStatus, readonly DeviceDeploymentStatus[]>>
> = {
  downloading: [],
  pause_before_installing: ['downloading'],
  installing: ['downloading'],
  pause_before_rebooting: ['downloading', 'installing'],
  rebooting: ['downloading', 'installing'],
  pause_before_committing: ['downloading', 'installing', 'rebooting'],
  success: ['downloading', 'installing', 'rebooting'],
  failure: ['downloading', 'installing'],
  'already-installed': [],
};

/**
 * Executes one step at the time of the tenant's clock.
 * @throws WorldFileError if the server refuses it
 */
export async function takeStep(loading: LoadContext, step: LoadStep): Promise<void> {
  if (step.kind === 'user') await addUser(loading, step.user);
  else if (step.kind === 'artifact') await addArtifact(loading, step.artifact);
  else if (step.kind === 'device') await addDevice(loading, step.device);
  else await addDeployment(loading, step.deployment);
}

async function addUser(
  { services, tenant }: LoadContext,
  user: World['users'][number],
): Promise<void> {
  const { email, password } = user;
  const passwordHash = await hashPassword(password, services.random);
  const { users } = tenant.store;
  const where = `users: ${user.email}`;
  if (services.tenants.findByEmail(user.email)) {
    throw new WorldFileError(`${where}: another user already has this email address`);
  }
  const unknownRole = user.roles.find((name) => !findRole(tenant.store, name));
  if (unknownRole !== undefined) {
    throw absent(where, 'role', { wanted: unknownRole, names: [...predefinedRoles.keys()] });
  }
  const id = services.random.uuid();
  users.create({ id, email, passwordHash, roles: user.roles }, tenant.clock.now());
}

async function addArtifact(
  loading: LoadContext,
  artifact: World['artifacts'][number],
): Promise<void> {
  const { name, deviceTypes, content } = artifact;
  const bytes = await writeArtifact({
    name,
    deviceTypes,
    ...singleFilePayload('/var/lib/fleetbed', { name: 'content', content: Buffer.from(content) }),
    modifiedMs: Math.max(0, loading.tenant.clock.now()),
  });
  const form = new FormData();
  form.append('artifact', new Blob([new Uint8Array(bytes)]), `${name}.mender`);
  const row = managementOperations['upload-artifact'];
  const response = await requireSuccess(loading, `artifacts: ${name}`, [
    row,
    pathOf(row),
    { form },
  ]);
  loading.artifacts.set(name, idIn(response));
}

async function addDevice(loading: LoadContext, device: WorldDevice): Promise<void> {
  const where = `devices: ${device.name}`;
  const identityData = device.identity ?? { name: device.name };
  const identity = readIdentity(JSON.stringify(identityData));
  if ('reason' in identity) throw new WorldFileError(`${where}: identity: ${identity.reason}`);
  const newPrivateKey = device.publicKey === undefined ? newKey(loading) : undefined;
  const pem = device.publicKey ?? publicPem(newPrivateKey);
  const key = readPublicKey(pem);
  if ('reason' in key) throw new WorldFileError(`${where}: publicKey: ${key.reason}`);
  const recordedDevice =
    device.status === 'preauthorized'
      ? await preauthorizeDevice(loading, { where, identity: identityData, pem })
      : await firstContact(loading, { device, identity: identity.canonical, pem: key.pem });
  const privateKey = newPrivateKey?.export({ type: 'pkcs8', format: 'pem' }).toString();
  loading.devices.set(device.name, {
    name: device.name,
    ...recordedDevice,
    ...(privateKey !== undefined && { privateKey }),
  });
  await sendInventory(loading, { device, where, ...recordedDevice });
}

async function preauthorizeDevice(
  loading: LoadContext,
  { where, identity, pem }: { where: string; identity: object; pem: string },
) {
  const row = managementOperations['preauthorize-device'];
  const json = { identity_data: identity, pubkey: pem };
  return { id: idIn(await requireSuccess(loading, where, [row, pathOf(row), { json }])) };
}

async function firstContact(
  loading: LoadContext,
  { device, identity, pem }: { device: WorldDevice; identity: string; pem: string },
): Promise<{ id: string; token?: string }> {
  const { services, tenant } = loading;
  const where = `devices: ${device.name}`;
  const { random, settings } = services;
  const nowMs = tenant.clock.now();
  if (tenant.store.devices.findByIdentity(identity)) {
    throw new WorldFileError(`${where}: another device has this identity`);
  }
  const [id, authSetId] = [random.uuid(), random.uuid()];
  const authSet = { id: authSetId, publicKeyPem: pem, status: 'pending', nowMs } as const;
  tenant.store.devices.recordFirstContact({ id, identity }, authSet);
  const actor = { id, identity };
  audit(
    { store: tenant.store, settings, nowMs },
    {
      actor: deviceActor(actor),
      action: 'create',
      object: deviceObject(actor),
      change: 'first request; pending until a user accepts it',
    },
  );
  if (device.status === 'pending') return { id };
  const row = managementOperations['set-auth-set-status'];
  const json = { status: device.status };
  await requireSuccess(loading, where, [row, pathOf(row, { id, aid: authSetId }), { json }]);
  if (device.status !== 'accepted') return { id };
  const issuedAt = Math.floor(nowMs / 1000);
  const claims = { kind: 'device', subject: id, id: authSetId, tenantId: tenant.id } as const;
  const expiresAt = issuedAt + settings.tokenLifetimeSeconds;
  return { id, token: services.tokenIssuer.issue({ ...claims, expiresAt }, issuedAt) };
}

/** Sends the inventory, configuration and group of a device. */
async function sendInventory(
  loading: LoadContext,
  { device, where, id, token }: { device: WorldDevice; where: string; id: string; token?: string },
): Promise<void> {
  const { inventory, reportedConfiguration, configuration, group } = device;
  if (token === undefined && (inventory || reportedConfiguration)) {
    throw new WorldFileError(
      `${where}: only an accepted device can report; leave out inventory and reportedConfiguration`,
    );
  }
  if (inventory) {
    const json = Object.entries(inventory).map(([name, value]) => ({ name, value }));
    const row = operations['patch-attributes'];
    await requireSuccess(loading, `${where}: inventory`, [row, pathOf(row), { json, token }]);
  }
  if (configuration) {
    const row = managementOperations['set-configuration'];
    const call = { json: configuration };
    await requireSuccess(loading, `${where}: configuration`, [row, pathOf(row, { id }), call]);
  }
  if (reportedConfiguration) {
    const row = operations['put-configuration'];
    const call = { json: reportedConfiguration, token };
    await requireSuccess(loading, `${where}: reportedConfiguration`, [row, pathOf(row), call]);
  }
  if (group !== undefined) {
    const row = managementOperations['set-device-group'];
    await requireSuccess(loading, `${where}: group`, [
      row,
      pathOf(row, { id }),
      { json: { group } },
    ]);
  }
}

async function addDeployment(loading: LoadContext, deployment: WorldDeployment): Promise<void> {
  const { name, artifact, devices, retries, reached, aborted } = deployment;
  const where = `deployments: ${name}`;
  const whom = devices
    ? { devices: devices.map((one) => loading.devices.get(one)?.id) }
    : { all_devices: true };
  const row = managementOperations['create-deployment'];
  const json = {
    name,
    artifact_name: artifact,
    ...whom,
    ...(retries !== undefined && { retries }),
  };
  const id = idIn(await requireSuccess(loading, where, [row, pathOf(row), { json }]));
  loading.deployments.set(name, id);
  for (const [device, status] of Object.entries(reached)) {
    await reachStatus(loading, { deployment, id, device, status });
  }
  if (!aborted) return;
  const abort = managementOperations['abort-deployment'];
  const call = { json: { status: 'aborted' } };
  await requireSuccess(loading, `${where}: aborted`, [abort, pathOf(abort, { id }), call]);
}

async function reachStatus(
  loading: LoadContext,
  {
    deployment,
    id,
    device,
    status,
  }: { deployment: WorldDeployment; id: string; device: string; status: DeviceDeploymentStatus },
): Promise<void> {
  const where = `deployments: ${deployment.name}: reached: ${device}`;
  const token = loading.devices.get(device)?.token;
  const reportsBefore = reportsTo[status];
  if (!reportsBefore) {
    const possible = Object.keys(reportsTo).join(', ');
    throw new WorldFileError(
      `${where}: a device cannot report "${status}"; it must be one of ${possible}`,
    );
  }
  const next = operations['get-next-deployment'];
  const type = loading.world.artifacts.find(({ name }) => name === deployment.artifact)
    ?.deviceTypes[0];
  const query = new URLSearchParams({ device_type: type ?? '', artifact_name: 'unknown' });
  const offer = await requireSuccess(loading, where, [next, `${pathOf(next)}?${query}`, { token }]);
  if (offer.status !== 200) {
    throw new WorldFileError(`${where}: the device has no deployment at that time`);
  }
  const row = operations['put-deployment-status'];
  for (const report of [...reportsBefore, status]) {
    const call = { json: { status: report }, token };
    await requireSuccess(loading, where, [row, pathOf(row, { id }), call]);
  }
}

type ApiCall = {
  readonly json?: unknown;
  readonly form?: FormData;
  readonly token?: string | undefined;
};

/**
 * Calls the API as the user, or with the given device token.
 * @throws WorldFileError if the server refuses the call
 */
async function requireSuccess(
  { callApi, userToken }: LoadContext,
  where: string,
  [operation, path, { token = userToken, ...call }]: [Pick<Operation, 'method'>, string, ApiCall],
): Promise<ApiResponse> {
  const response = await callApi(operation, path, { token, ...call });
  if (response.status < 300) return response;
  const { error } = JSON.parse(response.text) as { error?: string };
  throw new WorldFileError(`${where}: ${response.status}: ${error ?? response.text}`);
}

function idIn({ location }: ApiResponse): string {
  return location?.split('/').at(-1) ?? '';
}

/** The PKCS#8 header before the 32 bytes of an Ed25519 seed (RFC 8410). */
const ed25519Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

function newKey({ services }: LoadContext): KeyObject {
  const der = Buffer.concat([ed25519Prefix, services.random.bytes(32)]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

function publicPem(key: KeyObject | undefined): string {
  if (!key) return '';
  return createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();
}
