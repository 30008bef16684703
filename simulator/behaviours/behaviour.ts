/**
 * The type of a behaviour: which real device it represents, how a good server treats that
 * device, and hooks for the points where the device differs from a steady one. The engine calls the
 * hooks and never looks up a behaviour by name.
 */
import type { Random } from '../../fixtures/base/random.ts';
import type { Alert, DeploymentLog } from '../../fixtures/contract/resources.ts';
import type { NetworkShape } from '../plan/policy.ts';

/**
 * Numeric parameters of a behaviour. The suffix of each name is its unit (see `parameterUnits`).
 * Every behaviour has `installMs` and `rebootMs`: how long the device installs and reboots.
 */
export interface BehaviourParameters {
  readonly installMs: number;
  readonly rebootMs: number;
}

/** Context passed to every hook. */
interface HookContext<Parameters extends BehaviourParameters = BehaviourParameters> {
  readonly parameters: Parameters;
  /** Zero-based index of the device in the fleet. */
  readonly index: number;
  /**
   * Time of the run's clock in milliseconds since the Unix epoch, without the skew of the device's
   * clock.
   */
  readonly nowMs: number;
  /** Poll interval of the device's cohort in milliseconds. */
  readonly pollIntervalMs: number;
  /** Numbers that the behaviour stores for this device between hook calls. */
  readonly memory: Record<string, number>;
  /** Returns a random generator of this device; the same seed and name give the same values. */
  chance(name: string): Random;
}

/** Context of a hook that can wait. */
export interface ActiveHookContext<Parameters extends BehaviourParameters = BehaviourParameters>
  extends HookContext<Parameters> {
  /**
   * Waits for a time.
   * @throws FleetStopped when the run ends first
   */
  sleep(waitMs: number): Promise<void>;
}

/**
 * Context of a hook that runs between two polls. If the server refuses a request that the hook
 * sends, the run counts the refusal and the hook does not fail.
 */
export interface CycleContext<Parameters extends BehaviourParameters = BehaviourParameters>
  extends ActiveHookContext<Parameters> {
  /** Sends the alerts in one request, up to the contract's limit on alerts per request. */
  postAlerts(alerts: readonly Alert[]): Promise<void>;
  /** Discards the device's key and authenticates with a new key that the server does not know. */
  rotateKey(): Promise<void>;
  /** Reports the final status of the most recently finished deployment again. */
  reportFinishedAgain(): Promise<void>;
  /**
   * Authenticates a second device with this device's identity and key, sends its inventory, and
   * polls.
   */
  runClone(artifactName: string): Promise<void>;
}

/** Context of hooks that run during an update. */
interface UpdateContext<Parameters extends BehaviourParameters = BehaviourParameters>
  extends ActiveHookContext<Parameters> {
  /** Deployment ID as sent to the device. */
  readonly deploymentId: string;
  /** Number of times that the device has started this deployment; 1 at the first start. */
  readonly attempt: number;
  /** Adds a line to the update log. */
  log(level: LogLevel, message: string): void;
  /**
   * Asks the user to abort this device's deployment. Returns false when the run has no user
   * or the server refuses.
   */
  requestAbort(): Promise<boolean>;
  /** Fails the update with a one-sentence reason. */
  fail(reason: string): never;
  /**
   * Switches the device off for `offMs`; then it restarts and authenticates again. An interrupted
   * download resumes by range, an interrupted installation is rolled back and fails, and an
   * interrupted reboot counts as completed.
   */
  losePower(offMs: number): never;
}

/** Severity levels of a log line. */
export type LogLevel = 'debug' | 'info' | 'warning' | 'error';
/** One line of an uploaded deployment log. */
export type LogLine = DeploymentLog['messages'][number];

/** Facts available when the device is created. */
interface StartFacts {
  /** Name of the artifact that the run deploys, if any. */
  readonly deployedArtifact: string | undefined;
}

/** A failed request, after which the device waits before the next one. */
interface FailedRequest {
  /** Status of the response; undefined when no response arrived. */
  readonly status: number | undefined;
  /**
   * Wait that the server requested with Retry-After, in milliseconds; undefined without a request.
   */
  readonly retryAfterMs: number | undefined;
  /** Number of consecutive errors; 1 after the first. */
  readonly attempt: number;
}

/** Hooks of a behaviour. All are optional: without a hook the device acts like a steady device. */
export interface BehaviourHooks<Parameters extends BehaviourParameters = BehaviourParameters> {
  /**
   * Returns the name of the artifact installed at the start; undefined selects the plan's default.
   */
  installedAtStart?(facts: StartFacts): string | undefined;
  /** Returns the simulated network of the device, which replaces the network of its cohort. */
  network?(parameters: Parameters): NetworkShape;
  /** Returns how far the device's clock is ahead of the run's clock; negative when it is behind. */
  clockSkewMs?(parameters: Parameters): number;
  /** Returns true when the device requests a new token after its token expired or was refused. */
  renewsToken?(parameters: Parameters): boolean;
  /**
   * Returns how long the device keeps a persistent connection open before it drops the connection.
   */
  socketHoldsMs?(parameters: Parameters): number;
  /** Called before each cycle. Returns how long the device is off, from now; 0 when it is on. */
  offForMs?(context: HookContext<Parameters>): number;
  /** Returns the wait until the next cycle; `defaultMs` is the wait of a steady device. */
  nextCycleMs?(context: HookContext<Parameters>, defaultMs: number): number;
  /** Returns the wait after an error; `defaultMs` is the wait of a steady device. */
  waitAfterErrorMs?(
    context: HookContext<Parameters>,
    failed: FailedRequest,
    defaultMs: number,
  ): number;
  /** Called at the end of each successful cycle. */
  eachCycle?(context: CycleContext<Parameters>): Promise<void>;
  /**
   * Called before the first status report. Returns `update` to run the update, or `claim-success`
   * to report success without installing.
   */
  whenOffered?(context: UpdateContext<Parameters>): Promise<'update' | 'claim-success'>;
  /**
   * Called for each received chunk of the file; the device processes the returned bytes instead.
   */
  whileDownloading?(context: DownloadContext<Parameters>, chunk: Buffer): Promise<Buffer>;
  /** Called halfway through the installation. */
  whileInstalling?(context: UpdateContext<Parameters>): Promise<void>;
  /**
   * Called after each reboot of an update; returns `down-again` when the device reboots once more.
   */
  afterReboot?(context: RebootContext<Parameters>): Promise<'up' | 'down-again'>;
  /** Called before the new artifact is committed; an error thrown here rolls the update back. */
  whileCommitting?(context: UpdateContext<Parameters>): Promise<void>;
  /**
   * Returns true when the device stops its update after the server answered a status report with
   * 409.
   */
  stopsWhenAborted?(parameters: Parameters): boolean;
}

/** Context of hooks that run while the artifact downloads. */
export interface DownloadContext<Parameters extends BehaviourParameters = BehaviourParameters>
  extends UpdateContext<Parameters> {
  /** Offset of this chunk in the file, in bytes. */
  readonly fromByte: number;
}

/** Context of the hook that runs right after a reboot. */
export interface RebootContext<Parameters extends BehaviourParameters = BehaviourParameters>
  extends UpdateContext<Parameters> {
  /** Number of reboots in this update; 1 after the first. */
  readonly reboots: number;
}

/** One kind of device behaviour in a fleet, such as `steady` or `reboot-loop`. */
export interface Behaviour<Parameters extends BehaviourParameters = BehaviourParameters> {
  readonly name: string;
  /** One sentence about the real device that behaves like this. */
  readonly description: string;
  /** One sentence about how a good server treats such a device. */
  readonly expectedServerBehaviour: string;
  readonly parameters: Parameters;
  readonly hooks: BehaviourHooks<Parameters>;
}

/**
 * Gives a behaviour the type of its own parameters, so that editors can check a behaviour file.
 * @returns the unchanged behaviour
 */
export function defineBehaviour<Parameters extends BehaviourParameters>(
  row: Behaviour<Parameters>,
): Behaviour {
  return row;
}

/** Thrown when an update fails on the device; carries a one-sentence reason. */
export class UpdateFailure extends Error {
  override readonly name = 'UpdateFailure';
}
