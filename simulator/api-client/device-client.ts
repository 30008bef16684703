/**
 * The device side of the API: one method for each operation that a device calls. One client serves
 * the whole fleet; the sessions hold the state of each device.
 */
import type * as v from 'valibot';
import type { Clock } from '../../fixtures/base/clock.ts';
import { type Operation, pathOf } from '../../fixtures/contract/operation.ts';
import { operations, tokenMediaType } from '../../fixtures/contract/operations.ts';
import {
  type Alert,
  type Attribute,
  type DeploymentInstructionsV2,
  type DeploymentLog,
  type DeploymentStatus,
  type DeviceConfiguration,
  deploymentInstructionsV1Shape,
  deploymentInstructionsV2Shape,
  deviceConfigurationShape,
  type MonitorConfiguration,
  type UpdateControlMap,
  wrappedControlMapShape,
} from '../../fixtures/contract/resources.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import { signatureOf } from '../identity/key-types.ts';
import { ResponseError } from '../network/errors.ts';
import type { HttpResponse, Transport } from '../network/transport.ts';
import {
  bodyOf,
  errorContextOf,
  expectSuccess,
  type ResponseContext,
  statusError,
} from './responses.ts';
import {
  type ClientSession,
  exchangerOf,
  type NextEndpoint,
  nextEndpoints,
  takeDueMs,
} from './session.ts';

/** Settings of the requests that all devices of a fleet share. */
export interface DeviceClientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Prefix of the names of the vendor's headers, such as `X-SVC`. */
  readonly headerPrefix: string;
  readonly tenantToken?: string | undefined;
}

/** The attributes that a device sends when it requests its next deployment. */
export interface DeviceProvides {
  readonly device_type: string;
  readonly artifact_name: string;
  readonly [name: string]: string;
}

type ContractOperation = Pick<Operation, 'id' | 'method' | 'success'>;

interface DeviceRequest {
  readonly operation: ContractOperation;
  /** Path and query of the request, below the base URL. */
  readonly path: string;
  readonly body?: unknown;
}

/** Signs devices in and sends their requests. Every method throws ClientError or FleetStopped. */
export class DeviceClient {
  readonly #options: DeviceClientOptions;
  readonly #signatureHeader: string;

  constructor(options: DeviceClientOptions) {
    this.#options = options;
    this.#signatureHeader = vendorNames(options.headerPrefix).signature;
  }

  /**
   * Requests a token and stores it in the session.
   * @throws StatusError with status 401 when the server has not accepted the device
   * Spec: POST /auth_requests
   */
  async authenticate(session: ClientSession): Promise<void> {
    const operation = operations['post-auth-request'];
    const { idData, key } = session;
    const { tenantToken } = this.#options;
    const request = {
      id_data: idData,
      pubkey: key.publicKeyPem,
      ...(tenantToken === undefined ? {} : { tenant_token: tenantToken }),
    };
    const body = Buffer.from(JSON.stringify(request));
    const response = await exchangerOf(session, this.#options.transport).exchange({
      operation: operation.id,
      caller: session.caller,
      method: operation.method,
      target: pathOf(operation),
      headers: {
        'content-type': 'application/json',
        accept: `${tokenMediaType}, application/json`,
        [this.#signatureHeader]: signatureOf(body, key.keyType, key.privateKey),
      },
      body,
      dueMs: takeDueMs(session),
    });
    if (response.status === 401 && saysSignature(response)) {
      this.#options.transport.observer.recordRefusedSignature(operation.id);
    }
    const context = this.#context(operation, session);
    session.token = tokenIn(expectSuccess(response, context), context);
    session.renewAtMs = undefined;
  }

  /**
   * Returns the next deployment, or undefined when the server has none. Tries the newest endpoint
   * first, falls back to the next older one after a 404, and remembers in the session which one
   * responded.
   * Spec: POST /device/deployments/next
   */
  async nextDeployment(
    session: ClientSession,
    provides: DeviceProvides,
  ): Promise<DeploymentInstructionsV2 | undefined> {
    for (const endpoint of nextEndpoints.slice(nextEndpoints.indexOf(session.nextEndpoint))) {
      const { sending, shape } = nextRequests[endpoint](provides);
      const response = await this.#authorized(session, sending);
      if (response.status === 404 && endpoint !== 'get-v1') continue;
      const context = this.#context(sending.operation, session);
      expectSuccess(response, context);
      session.nextEndpoint = endpoint;
      return response.status === 204 ? undefined : bodyOf(shape, response, context);
    }
    return undefined;
  }

  /**
   * Reports a status. Returns `aborted` when the server responds with 409.
   * Spec: PUT /device/deployments/{id}/status
   */
  async reportStatus(
    session: ClientSession,
    deploymentId: string,
    report: DeploymentStatus,
  ): Promise<'recorded' | 'aborted'> {
    const operation = operations['put-deployment-status'];
    const path = pathOf(operation, { id: deploymentId });
    const response = await this.#authorized(session, { operation, path, body: report });
    if (response.status === 409) return 'aborted';
    expectSuccess(response, this.#context(operation, session));
    return 'recorded';
  }

  /** Uploads a deployment log. Spec: PUT /device/deployments/{id}/log */
  async uploadLog(session: ClientSession, deploymentId: string, log: DeploymentLog): Promise<void> {
    const operation = operations['put-deployment-log'];
    await this.#send(session, {
      operation,
      path: pathOf(operation, { id: deploymentId }),
      body: log,
    });
  }

  /**
   * Returns the control map of a deployment. Returns undefined when the deployment has none, and
   * `not-found` when the server answers 404: the deployment is finished or unknown.
   * Spec: GET /device/deployments/{id}/update_control_map
   */
  async controlMap(
    session: ClientSession,
    deploymentId: string,
  ): Promise<UpdateControlMap | 'not-found' | undefined> {
    const operation = operations['get-update-control-map'];
    const path = pathOf(operation, { id: deploymentId });
    const response = await this.#authorized(session, { operation, path });
    if (response.status === 404) return 'not-found';
    const context = this.#context(operation, session);
    return bodyOf(wrappedControlMapShape, expectSuccess(response, context), context)
      .update_control_map;
  }

  /** Returns the configuration that the device should apply. Spec: GET /configuration */
  async configuration(session: ClientSession): Promise<DeviceConfiguration> {
    const operation = operations['get-configuration'];
    const response = await this.#send(session, { operation, path: pathOf(operation) });
    return bodyOf(deviceConfigurationShape, response, this.#context(operation, session));
  }

  /** Reports the configuration that the device has applied. Spec: PUT /configuration */
  async reportConfiguration(session: ClientSession, applied: DeviceConfiguration): Promise<void> {
    const operation = operations['put-configuration'];
    await this.#send(session, { operation, path: pathOf(operation), body: applied });
  }

  /** Sends alerts. Spec: POST /alert */
  async postAlerts(session: ClientSession, alerts: readonly Alert[]): Promise<void> {
    const operation = operations['post-alerts'];
    await this.#send(session, { operation, path: pathOf(operation), body: alerts });
  }

  /** Sends the monitor configuration. Spec: POST /config */
  async postMonitorConfiguration(
    session: ClientSession,
    monitors: readonly MonitorConfiguration[],
  ): Promise<void> {
    const operation = operations['post-monitor-configuration'];
    await this.#send(session, { operation, path: pathOf(operation), body: monitors });
  }

  /**
   * Sends the whole inventory with PUT. Uses PATCH when the server answers 405 to PUT.
   * Spec: PUT /device/attributes, PATCH /device/attributes
   */
  async sendInventory(session: ClientSession, attributes: readonly Attribute[]): Promise<void> {
    const operation = operations['put-attributes'];
    const sending = { operation, path: pathOf(operation), body: attributes };
    const response = await this.#authorized(session, sending);
    if (response.status === 405) return this.#patchInventory(session, attributes);
    expectSuccess(response, this.#context(operation, session));
  }

  async #patchInventory(session: ClientSession, attributes: readonly Attribute[]): Promise<void> {
    const operation = operations['patch-attributes'];
    await this.#send(session, { operation, path: pathOf(operation), body: attributes });
  }

  async #send(session: ClientSession, sending: DeviceRequest): Promise<HttpResponse> {
    const response = await this.#authorized(session, sending);
    return expectSuccess(response, this.#context(sending.operation, session));
  }

  /**
   * Sends a request with the session's token. Authenticates first when there is no token.
   * Authenticates again and repeats the request once when the server answers 401.
   */
  async #authorized(session: ClientSession, sending: DeviceRequest): Promise<HttpResponse> {
    const response = await this.#exchange(session, sending);
    if (response.status !== 401 || !session.renewsToken) return response;
    session.token = undefined;
    const second = await this.#exchange(session, sending);
    if (second.status !== 401) return second;
    session.token = undefined;
    throw statusError(second, this.#context(sending.operation, session));
  }

  async #exchange(session: ClientSession, sending: DeviceRequest): Promise<HttpResponse> {
    if (session.token === undefined) await this.authenticate(session);
    const { operation, path, body } = sending;
    const json = body === undefined ? undefined : JSON.stringify(body);
    return exchangerOf(session, this.#options.transport).exchange({
      operation: operation.id,
      caller: session.caller,
      method: operation.method,
      target: path,
      headers: {
        authorization: `Bearer ${session.token}`,
        accept: 'application/json',
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(json === undefined ? {} : { body: json }),
      dueMs: takeDueMs(session),
    });
  }

  #context(operation: ContractOperation, session: ClientSession): ResponseContext {
    return { operation, caller: session.caller, clock: this.#options.clock };
  }
}

interface PollRequest {
  readonly sending: DeviceRequest;
  readonly shape: v.GenericSchema<unknown, DeploymentInstructionsV2>;
}

const nextRequests: Readonly<Record<NextEndpoint, (provides: DeviceProvides) => PollRequest>> = {
  'post-v2': (provides) => {
    const operation = operations['post-next-deployment-v2'];
    const body = { device_provides: provides, update_control_map: true };
    return {
      sending: { operation, path: pathOf(operation), body },
      shape: deploymentInstructionsV2Shape,
    };
  },
  'post-v1': (provides) => {
    const operation = operations['post-next-deployment'];
    return {
      sending: { operation, path: pathOf(operation), body: provides },
      shape: deploymentInstructionsV1Shape,
    };
  },
  'get-v1': ({ artifact_name, device_type }) => {
    const operation = operations['get-next-deployment'];
    const query = new URLSearchParams({ artifact_name, device_type });
    return {
      sending: { operation, path: `${pathOf(operation)}?${query}` },
      shape: deploymentInstructionsV1Shape,
    };
  },
};

/**
 * Returns true when the response names the signature as its reason. A pending device gets the same
 * status 401, so only the text of the error identifies a refused signature.
 */
function saysSignature({ body }: HttpResponse): boolean {
  return /signature/i.test(body.subarray(0, REASON_MAX_BYTES).toString('latin1'));
}

const REASON_MAX_BYTES = 4096;
const TOKEN_MAX_CHARACTERS = 16_384;

/**
 * Returns the token of a response. The device sends the token back in a header unchanged, where
 * quotes or a line break would break every request, so anything but a JWT is refused here.
 */
function tokenIn(response: HttpResponse, context: ResponseContext): string {
  const token = response.body.toString('latin1');
  if (token.length <= TOKEN_MAX_CHARACTERS && /^[\w-]+(\.[\w-]*){2}$/.test(token)) return token;
  const message = 'the response is not a JWT (three base64url parts joined by dots)';
  throw new ResponseError('not-a-token', message, errorContextOf(response, context));
}
