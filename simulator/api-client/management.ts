/**
 * the user side of the API, limited to the operations that a fleet needs: log in, accept
 * devices, deploy to them, abort the deployment of one device, and read the server's records.
 */
import type * as v from 'valibot';
import { isBearerToken } from '../../fixtures/base/bearer-token.ts';
import type { Clock } from '../../fixtures/base/clock.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import {
  type DeploymentDevice,
  deploymentDevicesShape,
  deploymentShape,
  type NewDeployment,
} from '../../fixtures/contract/management/deployments.ts';
import { type Device, devicesShape } from '../../fixtures/contract/management/devices.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { type Operation, pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import {
  type Artifact,
  type AuditLog,
  artifactsShape,
  auditLogsShape,
} from '../../fixtures/contract/resources.ts';
import type { AuthSetStatus } from '../../fixtures/contract/vocabulary.ts';
import { ClientError, ResponseError, StatusError } from '../network/errors.ts';
import type { HttpResponse, Transport } from '../network/transport.ts';
import { bodyOf, errorContextOf, expectSuccess, type ResponseContext } from './responses.ts';

/** A deployment that the run creates or joins. */
export interface RunDeployment {
  readonly deploymentId: string;
  readonly artifactName: string;
  /** Milliseconds since the Unix epoch at which the server acknowledged the deployment. */
  readonly createdMs?: number;
}

/** The user's credentials: either email and password, or a token. */
export type Credentials =
  | { readonly email: string; readonly password: string }
  | { readonly token: string };

/** The transport and the credentials of the user. */
export interface ManagementClientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly credentials: Credentials;
}

/**
 * Limit on the pages read from one list, so that an endless list cannot block the run: with full
 * pages, 50,000 accepted devices and as many unknown ones.
 */
const PAGES_MAX = 200;
/** Statuses of a response about a resource that no longer exists or is finished. */
const notFoundStatuses: readonly number[] = [404, 422];
/**
 * Limit on a response body. A page of devices is large because it includes the keys of each device.
 */
const PAGE_MAX_BYTES = 32 * 2 ** 20;

interface ManagementRequest {
  readonly operation: Pick<Operation, 'id' | 'method' | 'success'>;
  /** Path and query of the request, below the base URL. */
  readonly path: string;
  readonly body?: unknown;
}

/** A client of the management API. Every method throws ClientError or FleetStopped. */
export class ManagementClient {
  readonly #options: ManagementClientOptions;
  #token: string | undefined;

  constructor(options: ManagementClientOptions) {
    this.#options = options;
  }

  /**
   * Gets a token by email and password, or checks the given token.
   * @throws StatusError with status 401 for a wrong password or token
   */
  async login(): Promise<void> {
    const { credentials } = this.#options;
    if ('token' in credentials) return this.#tryToken(credentials.token);
    const operation = managementOperations.login;
    const { email, password } = credentials;
    const basic = Buffer.from(`${email}:${password}`).toString('base64');
    const sending = { operation, path: pathOf(operation) };
    const response = await this.#exchange(sending, `Basic ${basic}`);
    const context = this.#context(operation);
    const token = expectSuccess(response, context).body.toString('latin1');
    if (!isBearerToken(token)) {
      const sentence = `the server answered with ${response.status} without a plain token; check --url`;
      throw new ResponseError('not-a-token', sentence, errorContextOf(response, context));
    }
    this.#token = token;
  }

  async #tryToken(token: string): Promise<void> {
    this.#token = token;
    const operation = managementOperations['list-devices'];
    const response = await this.#exchange(
      { operation, path: `${pathOf(operation)}?per_page=1` },
      `Bearer ${token}`,
    );
    expectSuccess(response, this.#context(operation));
  }

  /** Returns the user's token, after a login when there is none yet. */
  async token(): Promise<string> {
    if (this.#token === undefined) await this.login();
    return this.#token ?? '';
  }

  /** Yields the devices with this status, page by page. */
  devices(status: AuthSetStatus): AsyncGenerator<readonly Device[]> {
    const operation = managementOperations['list-devices'];
    return this.#pages({ operation, path: pathOf(operation) }, { shape: devicesShape, status });
  }

  /** Accepts an authentication set of a device. */
  async accept(deviceId: string, authSetId: string): Promise<void> {
    await this.#setStatus(deviceId, authSetId, 'accepted');
  }

  /** Rejects an authentication set of a device. The server then refuses the device's token. */
  async reject(deviceId: string, authSetId: string): Promise<void> {
    await this.#setStatus(deviceId, authSetId, 'rejected');
  }

  async #setStatus(
    deviceId: string,
    authSetId: string,
    status: 'accepted' | 'rejected',
  ): Promise<void> {
    const operation = managementOperations['set-auth-set-status'];
    const path = pathOf(operation, { id: deviceId, aid: authSetId });
    await this.#send({ operation, path, body: { status } });
  }

  /** Creates a deployment and returns its ID. */
  async createDeployment(deployment: NewDeployment): Promise<string> {
    const operation = managementOperations['create-deployment'];
    const path = pathOf(operation);
    const response = await this.#send({ operation, path, body: deployment });
    const location = String(response.headers.location ?? '');
    const id = /(?<![0-9A-Za-z-])([0-9A-Za-z-]+)\/?$/.exec(location)?.[1];
    if (id !== undefined) return id;
    const message = `the Location header "${location}" names no deployment`;
    throw new ResponseError('shape', message, errorContextOf(response, this.#context(operation)));
  }

  /** Returns an existing deployment by ID. */
  async deployment(deploymentId: string): Promise<RunDeployment> {
    const operation = managementOperations['get-deployment'];
    const response = await this.#send({ operation, path: pathOf(operation, { id: deploymentId }) });
    const { artifact_name } = bodyOf(deploymentShape, response, this.#context(operation));
    return { deploymentId, artifactName: artifact_name };
  }

  /**
   * Returns the artifacts with this name, or all artifacts when the name is omitted, from one page
   * only. Returns undefined when the server does not support the list.
   */
  async artifacts(name?: string): Promise<readonly Artifact[] | undefined> {
    const operation = managementOperations['list-all-artifacts'];
    const query = new URLSearchParams({ per_page: String(limits.pageMax) });
    if (name !== undefined) query.set('name', name);
    try {
      const response = await this.#send({ operation, path: `${pathOf(operation)}?${query}` });
      return bodyOf(artifactsShape, response, this.#context(operation));
    } catch (error) {
      const failsToList = error instanceof ClientError && error.operation === operation.id;
      const isResponse = error instanceof StatusError || error instanceof ResponseError;
      if (failsToList && isResponse) return undefined;
      throw error;
    }
  }

  /**
   * Returns the unfinished deployment with this name and artifact; undefined when there is none.
   */
  async findUnfinishedDeployment(
    name: string,
    artifactName: string,
  ): Promise<RunDeployment | undefined> {
    const operation = managementOperations['list-deployments'];
    const path = `${pathOf(operation)}?${new URLSearchParams({ name })}`;
    const response = await this.#send({ operation, path });
    const deployments = bodyOf(operation.success[200].shape, response, this.#context(operation));
    const unfinished = deployments.find(
      (each) =>
        each.name === name && each.artifact_name === artifactName && each.status !== 'finished',
    );
    return unfinished && { deploymentId: unfinished.id, artifactName };
  }

  /** Yields the server's record of each device of a deployment, page by page. */
  deploymentDevices(deploymentId: string): AsyncGenerator<readonly DeploymentDevice[]> {
    const operation = managementOperations['list-deployment-devices'];
    const path = pathOf(operation, { id: deploymentId });
    return this.#pages({ operation, path }, { shape: deploymentDevicesShape });
  }

  /** Returns the number of devices per status of a deployment. */
  async deploymentStatistics(deploymentId: string): Promise<Readonly<Record<string, number>>> {
    const operation = managementOperations['get-deployment-statistics'];
    const response = await this.#send({ operation, path: pathOf(operation, { id: deploymentId }) });
    return bodyOf(operation.success[200].shape, response, this.#context(operation));
  }

  /** Returns the latest audit log entries about an object, at most one page. */
  async auditEntriesOf(objectId: string): Promise<readonly AuditLog[]> {
    const operation = operations['list-audit-logs'];
    const query = new URLSearchParams({ object_id: objectId, per_page: String(limits.pageMax) });
    const response = await this.#send({ operation, path: `${pathOf(operation)}?${query}` });
    return bodyOf(auditLogsShape, response, this.#context(operation));
  }

  /** Removes a device from the server; returns `not-found` when the device is unknown. */
  async decommission(deviceId: string): Promise<'removed' | 'not-found'> {
    const operation = managementOperations['decommission-device'];
    return this.#sendUnlessNotFound({ operation, path: pathOf(operation, { id: deviceId }) });
  }

  /**
   * Aborts a deployment for all its devices; returns `not-found` when it is finished or unknown.
   */
  async abortDeployment(deploymentId: string): Promise<'removed' | 'not-found'> {
    const operation = managementOperations['abort-deployment'];
    const path = pathOf(operation, { id: deploymentId });
    return this.#sendUnlessNotFound({ operation, path, body: { status: 'aborted' } });
  }

  async #sendUnlessNotFound(sending: ManagementRequest): Promise<'removed' | 'not-found'> {
    try {
      await this.#send(sending);
      return 'removed';
    } catch (error) {
      if (error instanceof StatusError && notFoundStatuses.includes(error.status))
        return 'not-found';
      throw error;
    }
  }

  /** Aborts every deployment in progress on one device. */
  async abortDeviceDeployments(deviceId: string): Promise<void> {
    const operation = managementOperations['abort-device-deployments'];
    await this.#send({ operation, path: pathOf(operation, { id: deviceId }) });
  }

  async *#pages<Item>(
    sending: ManagementRequest,
    wanted: {
      readonly shape: v.GenericSchema<unknown, Item[]>;
      readonly status?: AuthSetStatus;
    },
  ): AsyncGenerator<readonly Item[]> {
    for (let page = 1; page <= PAGES_MAX; page++) {
      const query = new URLSearchParams({ page: String(page), per_page: String(limits.pageMax) });
      if (wanted.status !== undefined) query.set('status', wanted.status);
      const response = await this.#send({ ...sending, path: `${sending.path}?${query}` });
      const items = bodyOf(wanted.shape, response, this.#context(sending.operation));
      yield items;
      if (items.length < limits.pageMax) return;
    }
  }

  async #send(sending: ManagementRequest): Promise<HttpResponse> {
    const context = this.#context(sending.operation);
    if (this.#token === undefined) await this.login();
    const response = await this.#exchange(sending, `Bearer ${this.#token}`);
    const isFixed = 'token' in this.#options.credentials;
    if (response.status !== 401 || isFixed) return expectSuccess(response, context);
    await this.login();
    const second = await this.#exchange(sending, `Bearer ${this.#token}`);
    if (second.status === 401) this.#token = undefined;
    return expectSuccess(second, context);
  }

  #exchange(sending: ManagementRequest, authorization: string): Promise<HttpResponse> {
    const { operation, path, body } = sending;
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    return this.#options.transport.exchange({
      operation: operation.id,
      caller: 'user',
      method: operation.method,
      target: path,
      headers: {
        authorization,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...json,
      responseMaxBytes: PAGE_MAX_BYTES,
    });
  }

  #context(operation: ManagementRequest['operation']): ResponseContext {
    return { operation, caller: 'user', clock: this.#options.clock };
  }
}
