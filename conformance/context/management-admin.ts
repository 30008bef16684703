/** The user that controls a target by the management API, with a user's token. */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import type { NewDeployment } from '../../fixtures/contract/management/deployments.ts';
import {
  type ManagementId,
  managementOperations,
} from '../../fixtures/contract/management/index.ts';
import type { GivenControlMap } from '../../fixtures/contract/resources.ts';
import type { SettableAuthSetStatus } from '../../fixtures/contract/vocabulary.ts';
import type { SigningKey } from '../signing/signing-key.ts';
import { ApiCaller, bearer, type CallArguments, requestOf } from '../target/call.ts';
import { responseSummary } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';
import type { TargetClient } from '../target/target.ts';
import {
  AdminFailure,
  alertViews,
  configurationView,
  connectionView,
  type DeviceDeployment,
  deviceDeployments,
  inventoryView,
  listedArtifacts,
  listedDeployments,
  type ManagedDevice,
  managedDevice,
  monitorViews,
  type ShownAlert,
  type ShownAttribute,
  type ShownConfiguration,
  type ShownMonitor,
  sentAttributes,
  type TargetAdmin,
} from './target-admin.ts';

/** Page size and number of pages that a search reads. */
const PAGE_DEVICES = 500;
const PAGES_MAX = 40;

/** The token of a user; another one after the user has logged in again. */
export interface UserToken {
  readonly token: string;
}

/** A user of the management API whose requests are recorded by one client. */
export class ManagementAdmin implements TargetAdmin {
  readonly #client: TargetClient;
  readonly #user: UserToken;

  constructor(client: TargetClient, user: UserToken) {
    this.#client = client;
    this.#user = user;
  }

  get caller(): ApiCaller {
    return new ApiCaller(this.#client, bearer(this.#user.token));
  }

  async findDevice(
    identity: Readonly<Record<string, unknown>>,
    status?: string,
  ): Promise<ManagedDevice | undefined> {
    const serial = identity.serial;
    for (let page = 1; page <= PAGES_MAX; page++) {
      const query = { page, per_page: PAGE_DEVICES, ...(status === undefined ? {} : { status }) };
      const response = await this.#call('list-devices', { query });
      const devices = this.#read('list devices', response, v.array(managedDevice));
      const similar = devices.filter(({ identity_data }) => identity_data.serial === serial);
      // Some cases have devices whose identities differ in other members, which a server may show
      // in another form.
      const device =
        similar.find((each) => isDeepStrictEqual(each.identity_data, identity)) ?? similar[0];
      if (device || devices.length < PAGE_DEVICES) return device;
    }
    return undefined;
  }

  async device(id: string): Promise<ManagedDevice | undefined> {
    const response = await this.#call('get-device', { path: { id } });
    return response.status === 404
      ? undefined
      : this.#read('show a device', response, managedDevice);
  }

  async preauthorize(
    identity: Readonly<Record<string, unknown>>,
    { publicKeyPem }: SigningKey,
  ): Promise<string> {
    const body = { identity_data: identity, pubkey: publicKeyPem };
    const response = await this.#call('preauthorize-device', { body });
    return this.#created('preauthorize a device', response);
  }

  async decide(
    id: string,
    { publicKeyPem }: SigningKey,
    status: SettableAuthSetStatus,
  ): Promise<void> {
    const sets = (await this.device(id))?.auth_sets ?? [];
    const authSet = sets.find(({ pubkey }) => pubkey.trim() === publicKeyPem.trim());
    if (!authSet) throw new AdminFailure('show the key of a device', JSON.stringify(sets));
    const path = { id, aid: authSet.id };
    const response = await this.#call('set-auth-set-status', { path, body: { status } });
    this.#done(`set a device to ${status}`, response, 204);
  }

  async decommission(id: string): Promise<boolean> {
    const response = await this.#call('decommission-device', { path: { id } });
    this.#done('decommission a device', response, 204, 404);
    return response.status === 204;
  }

  async uploadArtifact(
    fileName: string,
    bytes: Buffer,
    fields: Readonly<Record<string, string>> = {},
  ): Promise<string | undefined> {
    const form = {
      fields: { description: 'uploaded by the conformance suite', ...fields },
      file: { field: 'artifact', name: fileName, bytes },
    };
    const operation = managementOperations['upload-artifact'];
    const request = requestOf(operation, { headers: bearer(this.#user.token) });
    const response = await this.#client.send({ ...request, form });
    if (response.status === 409 || response.status === 422) return undefined;
    return this.#created(`accept the artifact ${fileName}`, response);
  }

  async findArtifact(name: string, deviceType: string): Promise<string | undefined> {
    const response = await this.#call('list-all-artifacts', { query: { name } });
    const artifacts = this.#read('list artifacts', response, listedArtifacts);
    return artifacts.find(
      (artifact) => artifact.name === name && artifact.device_types_compatible.includes(deviceType),
    )?.id;
  }

  async deleteArtifact(id: string): Promise<boolean> {
    const response = await this.#call('delete-artifact', { path: { id } });
    this.#done('delete an artifact', response, 204, 404);
    return response.status === 204;
  }

  async describeArtifact(id: string, description: string): Promise<void> {
    const response = await this.#call('update-artifact', { path: { id }, body: { description } });
    this.#done('describe an artifact', response, 204);
  }

  async deploy(deployment: NewDeployment): Promise<string> {
    const response = await this.#call('create-deployment', { body: deployment });
    return this.#created('create a deployment', response);
  }

  async changeControlMap(id: string, map: GivenControlMap): Promise<void> {
    const body = { update_control_map: map };
    const response = await this.#call('update-deployment', { path: { id }, body });
    this.#done('change the control map of a deployment', response, 204);
  }

  async findDeployment(name: string): Promise<string | undefined> {
    const response = await this.#call('list-deployments', { query: { name } });
    const deployments = this.#read('list deployments', response, listedDeployments);
    return deployments.find((deployment) => deployment.name === name)?.id;
  }

  async abort(id: string): Promise<void> {
    const response = await this.#call('abort-deployment', {
      path: { id },
      body: { status: 'aborted' },
    });
    this.#done('abort a deployment', response, 204, 404, 422);
  }

  async deviceDeployment(
    deploymentId: string,
    deviceId: string,
  ): Promise<DeviceDeployment | undefined> {
    const response = await this.#call('list-deployment-devices', { path: { id: deploymentId } });
    const entries = this.#read('list the devices of a deployment', response, deviceDeployments);
    return entries.find(({ id }) => id === deviceId);
  }

  async deploymentLog(deploymentId: string, deviceId: string): Promise<string | undefined> {
    const path = { id: deploymentId, device_id: deviceId };
    const response = await this.#call('get-deployment-log', { path });
    if (response.status === 404) return undefined;
    this.#done('show a deployment log', response, 200);
    return response.text;
  }

  async configure(
    deviceId: string,
    configuration: Readonly<Record<string, string>>,
  ): Promise<void> {
    const path = { id: deviceId };
    const response = await this.#call('set-configuration', { path, body: configuration });
    this.#done('configure a device', response, 204);
  }

  async deployConfiguration(deviceId: string): Promise<string> {
    const path = { id: deviceId };
    const response = await this.#call('deploy-configuration', { path, body: { retries: 0 } });
    const responseShape = v.looseObject({ deployment_id: v.string() });
    return this.#read('deploy a configuration', response, responseShape).deployment_id;
  }

  async configuration(deviceId: string): Promise<ShownConfiguration> {
    const response = await this.#call('show-configuration', { path: { id: deviceId } });
    if (response.status === 404) return { configured: {}, reported: {} };
    return this.#read('show a configuration', response, configurationView);
  }

  async connection(deviceId: string): Promise<string | undefined> {
    const response = await this.#call('get-connection', { path: { id: deviceId } });
    if (response.status === 404) return undefined;
    return this.#read('show a connection', response, connectionView).status;
  }

  async attributes(deviceId: string): Promise<readonly ShownAttribute[]> {
    const response = await this.#call('get-inventory', { path: { id: deviceId } });
    if (response.status === 404) return [];
    return sentAttributes(this.#read('show an inventory', response, inventoryView));
  }

  async alerts(deviceId: string): Promise<readonly ShownAlert[]> {
    const response = await this.#call('list-alerts', { path: { id: deviceId } });
    return this.#read('list alerts', response, alertViews);
  }

  async monitorConfiguration(deviceId: string): Promise<readonly ShownMonitor[]> {
    const response = await this.#call('show-monitor-configuration', { path: { id: deviceId } });
    return this.#read('show a monitor configuration', response, monitorViews);
  }

  #call<Id extends ManagementId>(
    id: Id,
    ...[options]: CallArguments<(typeof managementOperations)[Id]['path']>
  ): Promise<HttpResponse> {
    const callOptions = { ...options, headers: bearer(this.#user.token) };
    const request = requestOf<string>(managementOperations[id], callOptions as never);
    return this.#client.send(request);
  }

  #done(action: string, response: HttpResponse, ...statuses: readonly number[]): void {
    if (!statuses.includes(response.status))
      throw new AdminFailure(action, responseSummary(response));
  }

  #read<const Shape extends v.GenericSchema>(
    action: string,
    response: HttpResponse,
    shape: Shape,
  ): v.InferOutput<Shape> {
    this.#done(action, response, 200);
    const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), shape), response.text);
    if (!parsed.success) throw new AdminFailure(action, responseSummary(response));
    return parsed.output;
  }

  /** Returns the last segment of the Location of a created resource. */
  #created(action: string, response: HttpResponse): string {
    this.#done(action, response, 201);
    const id = response.headers.location?.split('/').at(-1);
    if (!id) throw new AdminFailure(action, `${response.status} without a Location`);
    return id;
  }
}
