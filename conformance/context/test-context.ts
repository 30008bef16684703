/**
 * What one case has at hand: a line to the target, a target admin, devices of its own, and a place for
 * all that it makes, so that it is removed afterwards.
 */

import type { Clock } from '../../fixtures/clock.ts';
import type { NewDeployment } from '../../fixtures/contract/management/deployments.ts';
import type { OperationId } from '../../fixtures/contract/operations.ts';
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import type { Random } from '../../fixtures/random.ts';
import type { SigningKey } from '../signing/signing-key.ts';
import type { Answer } from '../target/answer.ts';
import { bearer, Caller } from '../target/call.ts';
import { NotObservable } from '../target/expectations.ts';
import type { LearnSecret } from '../target/mask.ts';
import type { Session } from '../target/target.ts';
import type { Capability } from './capabilities.ts';
import { type CleanupLedger, noLedger } from './cleanup-ledger.ts';
import type { Control } from './control.ts';
import type { ModelOptions } from './model-options.ts';
import { Ownership, type Removal } from './ownership.ts';
import { removeResource } from './resource.ts';
import type { SampleName } from './sample-artifacts.ts';
import { SharedArtifacts, type UploadedArtifact } from './shared-artifacts.ts';
import { SuiteDevice } from './suite-device.ts';
import type { TargetAdmin } from './target-admin.ts';

/** How long an effect that may come later is waited for, and the pause between two looks. */
const SETTLE_TIME_LIMIT_MS = 5000;
const SETTLE_PAUSE_MS = 50;

/** What a context is made of. */
export interface ContextParts {
  readonly session: Session;
  readonly admin: TargetAdmin | undefined;
  readonly control: Control | undefined;
  /** The operations that the target has; some plans and editions lack some. */
  readonly operations: ReadonlySet<OperationId>;
  /** What devices say in `tenant_token` to belong to the tenant of this context. */
  readonly tenantToken?: string | undefined;
  readonly artifacts: SharedArtifacts;
  /** Where all that the case makes is announced. */
  readonly ledger: CleanupLedger;
  readonly caseId: string;
  /** Keys of one run; RSA keys are costly and shared, since the identity makes the device. */
  readonly keyFor: (keyType: KeyType) => SigningKey | Promise<SigningKey>;
  readonly names: VendorNames;
  readonly runId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly learnSecret: LearnSecret;
  /** What the run says of its random cases. */
  readonly model?: ModelOptions | undefined;
}

/** The context of one case. */
export class TestContext {
  readonly ownership: Ownership;
  readonly session: Session;
  readonly names: VendorNames;
  readonly random: Random;
  readonly clock: Clock;
  readonly model: ModelOptions;
  readonly #parts: ContextParts;

  constructor(parts: ContextParts) {
    this.#parts = parts;
    this.ownership = new Ownership(parts.ledger, parts.caseId);
    this.session = parts.session;
    this.names = parts.names;
    this.random = parts.random;
    this.clock = parts.clock;
    this.model = parts.model ?? {};
  }

  /** The target admin. A case that uses it has to say so in its needs. */
  get admin(): TargetAdmin {
    const { admin } = this.#parts;
    if (!admin) throw new Error('the case uses the target admin without needing it');
    return admin;
  }

  /** From now on the secret is masked in all that is written down. */
  get learnSecret(): LearnSecret {
    return this.#parts.learnSecret;
  }

  /** Powers over the target. A case that uses them has to say so in its needs. */
  get control(): Control {
    const { control, session } = this.#parts;
    if (!control) throw new Error('the case uses control without needing it');
    return control.on(session);
  }

  /** Those rows of a table by operations that the target has. */
  offered<Row>(
    rows: Readonly<Partial<Record<OperationId, Row>>>,
  ): Readonly<Partial<Record<OperationId, Row>>> {
    const { operations } = this.#parts;
    const here = Object.entries(rows).filter(([id]) => operations.has(id as OperationId));
    return Object.fromEntries(here);
  }

  /**
   * The context for a case that needs control of the target: in a tenant of its own where tenants are
   * what is steered, or have time, faults and limits of their own; else this one.
   */
  ofItsOwn(needs: readonly Capability[]): Promise<TestContext> | TestContext {
    const isApart = this.control.isolates || needs.includes('tenant-control');
    return isApart ? this.inNewTenant() : this;
  }

  /** The context of another tenant, which is removed with all that belongs to it. */
  async inNewTenant(): Promise<TestContext> {
    const { session, learnSecret } = this.#parts;
    const name = this.newName();
    let removal: Removal = async () => {
      throw new Error('it is not known whether the target created it');
    };
    const resource = { kind: 'tenant', name } as const;
    const owned = await this.ownership.intend(resource, (_, admin) => removal(admin));
    const tenant = await this.control.newTenant({ session, learnSecret, name });
    owned.made(tenant.id);
    const { tenantToken, admin, control } = tenant;
    // All that is made in the tenant goes with it, so that nobody has to remove it.
    const artifacts = new SharedArtifacts(this.#parts.runId);
    const own = { artifacts, ledger: noLedger };
    const context = new TestContext({ ...this.#parts, ...own, admin, control, tenantToken });
    removal = async () => {
      await context.ownership.release(undefined);
      await tenant.remove();
    };
    return context;
  }

  /** Someone who calls with this token, or without any. */
  caller(token?: string): Caller {
    return new Caller(this.session, token === undefined ? {} : bearer(token));
  }

  /**
   * A device that the target has never seen; decommissioned if the target gets to know it.
   * `members` are added to its identity.
   */
  async newDevice(
    keyType: KeyType = 'ecdsa',
    members: Readonly<Record<string, unknown>> = {},
  ): Promise<SuiteDevice> {
    const { runId, names, random, learnSecret, tenantToken } = this.#parts;
    const serial = random.bytes(8).toString('hex');
    const identity = { maker: 'conformance suite', run: runId, serial, ...members };
    const key = await this.#parts.keyFor(keyType);
    const resource = { kind: 'device', identity } as const;
    const owned = await this.ownership.intend(resource, async (_, admin) => {
      if (device.known || device.id !== '')
        await removeResource(resource, device.id || undefined, admin);
    });
    const onId = (id: string): void => owned.made(id);
    const given = { identity, key, names, tenantToken, learnSecret, onId };
    const device = new SuiteDevice(this.session, given);
    return device;
  }

  /** A key that belongs to no device yet. */
  newKey(keyType: KeyType = 'ecdsa'): SigningKey | Promise<SigningKey> {
    return this.#parts.keyFor(keyType);
  }

  /** One of the sample artifacts, on the target. */
  artifact(name: SampleName): Promise<UploadedArtifact> {
    return this.#parts.artifacts.get(name, this.admin, this.session.record);
  }

  /** An artifact of this case alone, with a name that only this run uses; deleted in the end. */
  async upload(file: {
    readonly name: string;
    readonly deviceType: string;
    readonly bytes: Buffer;
  }): Promise<string> {
    const { name, deviceType, bytes } = file;
    const owned = await this.ownership.intend({ kind: 'artifact', name, deviceType });
    const id = await this.admin.uploadArtifact(`${name}.mender`, bytes);
    if (id === undefined)
      throw new NotObservable(`the target does not accept the artifact ${name}`);
    owned.made(id);
    return id;
  }

  /** Sends a device the configuration that was set; aborted in the end. */
  async deployConfiguration(device: SuiteDevice): Promise<string> {
    // The target names it; a configuration that was never sent is found by no name.
    const name = `configuration of device ${device.identity.serial}`;
    const owned = await this.ownership.intend({ kind: 'deployment', name });
    const id = await this.admin.deployConfiguration(device.id);
    owned.made(id);
    return id;
  }

  /** A deployment by the target admin, named after the run and aborted in the end. */
  async deploy(
    deployment: Omit<NewDeployment, 'name'>,
  ): Promise<{ readonly id: string; readonly name: string }> {
    const name = this.newName();
    const owned = await this.ownership.intend({ kind: 'deployment', name });
    const id = await this.admin.deploy({ name, ...deployment });
    owned.made(id);
    return { id, name };
  }

  /** The target's own time, milliseconds since the Unix epoch, as it says in Date; ours if it does not. */
  serverNowMs({ headers }: Pick<Answer, 'headers'>): number {
    const reported = Date.parse(headers.date ?? '');
    return Number.isNaN(reported) ? this.clock.now() : reported;
  }

  /** A name that only this run uses. */
  newName(): string {
    return `conformance-${this.#parts.runId}-${this.random.bytes(4).toString('hex')}`;
  }

  /**
   * Reads until `holds`, since a server may bring about an effect after its answer. Gives the last
   * value that was read, whether it holds or not: the case judges it.
   */
  async settled<T>(
    read: () => Promise<T>,
    holds: (value: T) => boolean,
    limitMs = SETTLE_TIME_LIMIT_MS,
  ): Promise<T> {
    const { clock, signal, session } = this.#parts;
    // What requests wait for their turn is no time in which the server could act.
    const givenMs = (): number => clock.monotonicMs() - session.waitedMs;
    const startedMs = givenMs();
    for (;;) {
      const value = await read();
      if (holds(value) || givenMs() - startedMs >= limitMs) return value;
      await clock.sleep(SETTLE_PAUSE_MS, signal);
    }
  }
}
