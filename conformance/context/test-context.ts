/**
 * The tools of one case: a client of the target, a target admin, new devices, and the
 * `CreatedResources`, which removes everything that the case created.
 */
import type { Clock } from '../../fixtures/base/clock.ts';
import type { Random } from '../../fixtures/base/random.ts';
import type { NewDeployment } from '../../fixtures/contract/management/deployments.ts';
import type { OperationId } from '../../fixtures/contract/operations.ts';
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import type { SigningKey } from '../signing/signing-key.ts';
import { ApiCaller, bearer } from '../target/call.ts';
import { NotObservable } from '../target/expectations.ts';
import type { MaskSecret } from '../target/mask.ts';
import type { HttpResponse } from '../target/response.ts';
import type { TargetClient } from '../target/target.ts';
import type { Capability } from './capabilities.ts';
import { type CleanupLedger, noLedger } from './cleanup-ledger.ts';
import type { Control } from './control.ts';
import { CreatedResources } from './created-resources.ts';
import type { ModelOptions } from './model-options.ts';
import { removeResource } from './resource.ts';
import type { SampleName } from './sample-artifacts.ts';
import { SharedArtifacts, type UploadedArtifact } from './shared-artifacts.ts';
import { SuiteDevice } from './suite-device.ts';
import type { TargetAdmin } from './target-admin.ts';

/** Time limit for an effect that may be delayed, and the pause between two reads. */
const EFFECT_TIME_LIMIT_MS = 5000;
const EFFECT_PAUSE_MS = 50;

export interface ContextParts {
  readonly client: TargetClient;
  readonly admin: TargetAdmin | undefined;
  readonly control: Control | undefined;
  /** The operations that the target has, which depend on its plan and edition. */
  readonly operations: ReadonlySet<OperationId>;
  /** The `tenant_token` of devices in the tenant of this context. */
  readonly tenantToken?: string | undefined;
  readonly artifacts: SharedArtifacts;
  /** The ledger to which the case announces each resource before it creates it. */
  readonly ledger: CleanupLedger;
  readonly caseId: string;
  /** Returns a key; RSA keys are slow to create, so the devices of a run share one. */
  readonly keyFor: (keyType: KeyType) => SigningKey | Promise<SigningKey>;
  readonly names: VendorNames;
  readonly runId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly maskSecret: MaskSecret;
  /** Options of the run for its random cases. */
  readonly model?: ModelOptions | undefined;
}

/** The context of one case. */
export class TestContext {
  readonly created: CreatedResources;
  readonly client: TargetClient;
  readonly names: VendorNames;
  readonly random: Random;
  readonly clock: Clock;
  readonly model: ModelOptions;
  readonly #parts: ContextParts;

  constructor(parts: ContextParts) {
    this.#parts = parts;
    this.created = new CreatedResources(parts.ledger, parts.caseId);
    this.client = parts.client;
    this.names = parts.names;
    this.random = parts.random;
    this.clock = parts.clock;
    this.model = parts.model ?? {};
  }

  /** The target admin. A case that uses it must declare that in its needs. */
  get admin(): TargetAdmin {
    const { admin } = this.#parts;
    if (!admin) throw new Error('the case uses the target admin without needing it');
    return admin;
  }

  /** Registers a secret to be masked in all records from now on. */
  get maskSecret(): MaskSecret {
    return this.#parts.maskSecret;
  }

  /** Control over the target. A case that uses it must declare that in its needs. */
  get control(): Control {
    const { control, client } = this.#parts;
    if (!control) throw new Error('the case uses control without needing it');
    return control.on(client);
  }

  /** Returns the rows of a table, keyed by operation, whose operation the target has. */
  offered<Row>(
    rows: Readonly<Partial<Record<OperationId, Row>>>,
  ): Readonly<Partial<Record<OperationId, Row>>> {
    const { operations } = this.#parts;
    const here = Object.entries(rows).filter(([id]) => operations.has(id as OperationId));
    return Object.fromEntries(here);
  }

  /**
   * Returns the context for a case that needs control of the target. It is in a new tenant if the
   * case needs `tenant-control`, or if each tenant has its own time, faults and limits; otherwise
   * it is this context.
   */
  isolated(needs: readonly Capability[]): Promise<TestContext> | TestContext {
    const isApart = this.control.isolates || needs.includes('tenant-control');
    return isApart ? this.inNewTenant() : this;
  }

  /** Returns a context in another tenant, which is removed with everything that belongs to it. */
  async inNewTenant(): Promise<TestContext> {
    const { client, maskSecret } = this.#parts;
    const name = this.newName();
    let removal = async (): Promise<boolean> => {
      throw new Error('unknown whether the target created it');
    };
    const resource = { kind: 'tenant', name } as const;
    const announcement = await this.created.announce(resource, () => removal());
    const tenant = await this.control.newTenant({ client, maskSecret, name });
    announcement.made(tenant.id);
    const { tenantToken, admin, control } = tenant;
    // Everything created in the tenant is removed with it.
    const artifacts = new SharedArtifacts(this.#parts.runId);
    const shared = { artifacts, ledger: noLedger };
    const context = new TestContext({ ...this.#parts, ...shared, admin, control, tenantToken });
    removal = async () => {
      await context.created.release(undefined);
      await tenant.remove();
      return true;
    };
    return context;
  }

  /** Returns a caller with this token, or without any. */
  caller(token?: string): ApiCaller {
    return new ApiCaller(this.client, token === undefined ? {} : bearer(token));
  }

  /**
   * Creates a device that the target has never seen. At the end it is decommissioned, if the target
   * may have recorded it. `members` are added to its identity.
   */
  async newDevice(
    keyType: KeyType = 'ecdsa',
    members: Readonly<Record<string, unknown>> = {},
  ): Promise<SuiteDevice> {
    const { runId, names, random, maskSecret, tenantToken } = this.#parts;
    const serial = random.bytes(8).toString('hex');
    const identity = { maker: 'conformance suite', run: runId, serial, ...members };
    const key = await this.#parts.keyFor(keyType);
    const resource = { kind: 'device', identity } as const;
    const announcement = await this.created.announce(resource, async (_, admin) => {
      const isUnknown = !device.known && device.id === '';
      return isUnknown ? false : removeResource(resource, device.id || undefined, admin);
    });
    const onId = (id: string): void => announcement.made(id);
    const options = { identity, key, names, tenantToken, maskSecret, onId };
    const device = new SuiteDevice(this.client, options);
    return device;
  }

  /** Creates a key that does not belong to a device yet. */
  newKey(keyType: KeyType = 'ecdsa'): SigningKey | Promise<SigningKey> {
    return this.#parts.keyFor(keyType);
  }

  /** Returns one of the sample artifacts, on the target. */
  artifact(name: SampleName): Promise<UploadedArtifact> {
    return this.#parts.artifacts.get(name, this.admin, this.client.exchangeList);
  }

  /**
   * Uploads an artifact for this case only, with a name unique to this run; it is deleted at the
   * end.
   */
  async upload(file: {
    readonly name: string;
    readonly deviceType: string;
    readonly bytes: Buffer;
    readonly fields?: Readonly<Record<string, string>>;
  }): Promise<string> {
    const { name, deviceType, bytes, fields } = file;
    const announcement = await this.created.announce({ kind: 'artifact', name, deviceType });
    const id = await this.admin.uploadArtifact(`${name}.mender`, bytes, fields);
    if (id === undefined)
      throw new NotObservable(`the target does not accept the artifact ${name}`);
    announcement.made(id);
    return id;
  }

  /** Deploys the configuration that was set for a device; the deployment is aborted at the end. */
  async deployConfiguration(device: SuiteDevice): Promise<string> {
    // The target chooses the real name, so this name serves only for the ledger and for messages.
    const name = `configuration of device ${device.identity.serial}`;
    const announcement = await this.created.announce({ kind: 'deployment', name });
    const id = await this.admin.deployConfiguration(device.id);
    announcement.made(id);
    return id;
  }

  /**
   * Creates a deployment by the target admin, named after the run unless it has a name; it is
   * aborted at the end.
   */
  async deploy({
    name = this.newName(),
    ...deployment
  }: Omit<NewDeployment, 'name'> & Partial<Pick<NewDeployment, 'name'>>): Promise<{
    readonly id: string;
    readonly name: string;
  }> {
    const announcement = await this.created.announce({ kind: 'deployment', name });
    const id = await this.admin.deploy({ name, ...deployment });
    announcement.made(id);
    return { id, name };
  }

  /**
   * Returns the target's time from the Date header, in milliseconds since the Unix epoch; the time
   * of the suite's clock if the response has no valid Date.
   */
  serverNowMs({ headers }: Pick<HttpResponse, 'headers'>): number {
    const serverMs = Date.parse(headers.date ?? '');
    return Number.isNaN(serverMs) ? this.clock.now() : serverMs;
  }

  /** Returns a name unique to this run. */
  newName(): string {
    return `conformance-${this.#parts.runId}-${this.random.bytes(4).toString('hex')}`;
  }

  /**
   * Reads until `holds`, since effects on a server may be delayed. Returns the last value read,
   * whether or not the predicate holds: the case checks it.
   */
  async eventually<T>(
    read: () => Promise<T>,
    holds: (value: T) => boolean,
    limitMs = EFFECT_TIME_LIMIT_MS,
  ): Promise<T> {
    const { clock, signal, client } = this.#parts;
    // Time that requests spent waiting for the rate limit does not count towards `limitMs`.
    const givenMs = (): number => clock.monotonicMs() - client.waitedMs;
    const startedMs = givenMs();
    for (;;) {
      const value = await read();
      if (holds(value) || givenMs() - startedMs >= limitMs) return value;
      await clock.sleep(EFFECT_PAUSE_MS, signal);
    }
  }
}
