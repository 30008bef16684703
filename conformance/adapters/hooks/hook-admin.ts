/** The user that controls a target by hooks. */
import type { NewDeployment } from '../../../fixtures/contract/management/deployments.ts';
import type { SettableAuthSetStatus } from '../../../fixtures/contract/vocabulary.ts';
import type { UserToken } from '../../context/management-admin.ts';
import {
  type DeviceDeployment,
  type ManagedDevice,
  type ShownAlert,
  type ShownAttribute,
  type ShownConfiguration,
  type ShownMonitor,
  sentAttributes,
  type TargetAdmin,
} from '../../context/target-admin.ts';
import type { SigningKey } from '../../signing/signing-key.ts';
import { ApiCaller, bearer } from '../../target/call.ts';
import type { TargetClient } from '../../target/target.ts';
import { MissingCapability } from '../missing-capability.ts';
import type { HookStep, StepResponse } from './hook-steps.ts';
import type { Hooks } from './hooks.ts';

const decisions = {
  accepted: 'accept',
  rejected: 'reject',
  pending: 'postpone',
} as const satisfies Readonly<Record<SettableAuthSetStatus, HookStep>>;

type HookIdentity = Readonly<Record<string, unknown>>;

/** A user that acts by hooks, whose runs are recorded by one client. */
export class HookAdmin implements TargetAdmin {
  readonly #hooks: Hooks;
  readonly #client: TargetClient;
  readonly #user: UserToken | undefined;

  /** @param user the user of the management API; without it the audit log is unavailable */
  constructor(hooks: Hooks, client: TargetClient, user: UserToken | undefined) {
    this.#hooks = hooks;
    this.#client = client;
    this.#user = user;
  }

  get caller(): ApiCaller {
    if (this.#user) return new ApiCaller(this.#client, bearer(this.#user.token));
    const reason = 'no login hook and no credentials are given';
    throw new MissingCapability('user/login', reason);
  }

  async findDevice(identity: HookIdentity, status?: string): Promise<ManagedDevice | undefined> {
    const { device } = await this.#run('find-device', { identity, status: status ?? null });
    return device ?? undefined;
  }

  async device(deviceId: string): Promise<ManagedDevice | undefined> {
    return (await this.#run('show-device', { deviceId })).device ?? undefined;
  }

  async preauthorize(identity: HookIdentity, { publicKeyPem }: SigningKey): Promise<string> {
    return (await this.#run('preauthorize', { identity, publicKeyPem })).deviceId;
  }

  async decide(
    deviceId: string,
    { publicKeyPem }: SigningKey,
    status: SettableAuthSetStatus,
  ): Promise<void> {
    await this.#run(decisions[status], { deviceId, publicKeyPem });
  }

  async decommission(deviceId: string): Promise<boolean> {
    await this.#run('decommission', { deviceId });
    return true;
  }

  async uploadArtifact(fileName: string, bytes: Buffer): Promise<string | undefined> {
    const contentBase64 = bytes.toString('base64');
    return (
      (await this.#run('upload-artifact', { fileName, contentBase64 })).artifactId ?? undefined
    );
  }

  async findArtifact(name: string, deviceType: string): Promise<string | undefined> {
    return (await this.#run('find-artifact', { name, deviceType })).artifactId ?? undefined;
  }

  async deleteArtifact(artifactId: string): Promise<boolean> {
    await this.#run('delete-artifact', { artifactId });
    return true;
  }

  describeArtifact(): Promise<void> {
    const reason = 'no step changes the description of an artifact';
    return Promise.reject(new MissingCapability('user/describe-artifact', reason));
  }

  changeControlMap(): Promise<void> {
    const reason = 'no step changes the control map of a deployment';
    return Promise.reject(new MissingCapability('user/change-control-map', reason));
  }

  async deploy(deployment: NewDeployment): Promise<string> {
    return (await this.#run('deploy', { deployment })).deploymentId;
  }

  async findDeployment(name: string): Promise<string | undefined> {
    return (await this.#run('find-deployment', { name })).deploymentId ?? undefined;
  }

  async abort(deploymentId: string): Promise<void> {
    await this.#run('abort', { deploymentId });
  }

  async deviceDeployment(
    deploymentId: string,
    deviceId: string,
  ): Promise<DeviceDeployment | undefined> {
    return (
      (await this.#run('device-deployment', { deploymentId, deviceId })).deviceDeployment ??
      undefined
    );
  }

  async deploymentLog(deploymentId: string, deviceId: string): Promise<string | undefined> {
    return (await this.#run('deployment-log', { deploymentId, deviceId })).log ?? undefined;
  }

  async configure(
    deviceId: string,
    configuration: Readonly<Record<string, string>>,
  ): Promise<void> {
    await this.#run('configure', { deviceId, configuration });
  }

  async deployConfiguration(deviceId: string): Promise<string> {
    return (await this.#run('deploy-configuration', { deviceId })).deploymentId;
  }

  configuration(deviceId: string): Promise<ShownConfiguration> {
    return this.#run('show-configuration', { deviceId });
  }

  async connection(deviceId: string): Promise<string | undefined> {
    return (await this.#run('show-connection', { deviceId })).status ?? undefined;
  }

  async attributes(deviceId: string): Promise<readonly ShownAttribute[]> {
    return sentAttributes(await this.#run('show-inventory', { deviceId }));
  }

  async alerts(deviceId: string): Promise<readonly ShownAlert[]> {
    return (await this.#run('list-alerts', { deviceId })).alerts;
  }

  async monitorConfiguration(deviceId: string): Promise<readonly ShownMonitor[]> {
    return (await this.#run('show-monitors', { deviceId })).monitors;
  }

  #run<Step extends HookStep>(step: Step, input: object): Promise<StepResponse<Step>> {
    return this.#hooks.run(this.#client, step, input);
  }
}
