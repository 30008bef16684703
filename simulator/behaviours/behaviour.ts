/**
 * The shape of a behaviour: the real device it represents, how a good server treats that device,
 * and where it differs from others. The engine calls hooks and never looks up a behaviour by name.
 */
import type { Alert, DeploymentLog } from '../../fixtures/contract/resources.ts';
import type { Random } from '../../fixtures/random.ts';
import type { LinkShape } from '../plan/policy.ts';

/**
 * Numeric parameters of a behaviour; the suffix of each name is its unit (see `parameterUnits`).
 * The first two are how long an update takes on the device itself.
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
  /** True time in milliseconds since the Unix epoch, regardless of the device's own clock. */
  readonly nowMs: number;
  /** Poll interval of the fleet's plan. */
  readonly pollIntervalMs: number;
  /** Numbers that the behaviour keeps for this device between hook calls. */
  readonly memory: Record<string, number>;
  /** Random generator of this device; the same seed and name give the same values. */
  chance(name: string): Random;
}

/** Context of a hook that may act. */
export interface ActiveHookContext<Parameters extends BehaviourParameters = BehaviourParameters>
  extends HookContext<Parameters> {
  /** Waits; ends early when the run ends. */
  rest(waitMs: number): Promise<void>;
}

/**
 * Context between two polls. A request that the server refuses here is counted and otherwise
 * ignored.
 */
export interface CycleContext<Parameters extends BehaviourParameters = BehaviourParameters>
  extends ActiveHookContext<Parameters> {
  /** Sends alerts in one message, up to the contract's limit. */
  postAlerts(alerts: readonly Alert[]): Promise<void>;
  /** Discards the key and signs in with a new one that the server has not seen. */
  rotateKey(): Promise<void>;
  /** Repeats the final status of the most recent finished deployment. */
  reportFinishedAgain(): Promise<void>;
  /** Has a second device with the same identity and key sign in, send its inventory, and poll. */
  runClone(artifactName: string): Promise<void>;
}

/** Context of hooks that run during an update. */
interface UpdateContext<Parameters extends BehaviourParameters = BehaviourParameters>
  extends ActiveHookContext<Parameters> {
  /** Deployment ID as sent to the device. */
  readonly deploymentId: string;
  /** How many times the device has started this deployment, 1 the first time. */
  readonly beginning: number;
  /** Adds a line to the update log. */
  log(level: LogLevel, message: string): void;
  /**
   * Asks the operator to abort this device's deployment; false when there is no operator, or when
   * the server refuses.
   */
  askForAbort(): Promise<boolean>;
  /** Fails the update with a one-sentence reason. */
  fail(because: string): never;
  /**
   * Cuts the power: the device is silent for `offMs`, then restarts and signs in again. A download
   * resumes by range, an interrupted installation is rolled back and fails, and an interrupted
   * reboot counts as done.
   */
  losePower(offMs: number): never;
}

/** Severity levels of a log line. */
export type LogLevel = 'debug' | 'info' | 'warning' | 'error';
/** A log line as uploaded. */
export type LogLine = DeploymentLog['messages'][number];

/** Facts available when the device is created. */
interface StartFacts {
  /** Name of the artifact that the run deploys, if any. */
  readonly deployedArtifact: string | undefined;
}

/** An error that the device is about to back off from. */
interface FailedRequest {
  /** Status of the response; undefined when there was none. */
  readonly status: number | undefined;
  /** Wait requested by the server. */
  readonly retryAfterMs: number | undefined;
  /** Consecutive errors so far, 1 after the first. */
  readonly attempt: number;
}

/** Hooks of a behaviour; where one is absent, the device acts like a steady device. */
export interface BehaviourHooks<Parameters extends BehaviourParameters = BehaviourParameters> {
  /** Returns the name of the artifact installed at the start; undefined for the default. */
  installedAtStart?(facts: StartFacts): string | undefined;
  /** Returns the network between device and server, replacing that of its cohort. */
  link?(parameters: Parameters): LinkShape;
  /** Returns how far the device's clock is ahead of true time; negative when it is behind. */
  clockSkewMs?(parameters: Parameters): number;
  /** Returns true when the device gets a new token once the old one expires or is refused. */
  renewsToken?(parameters: Parameters): boolean;
  /** Returns how long a persistent connection is held before the device drops it. */
  socketHoldsMs?(parameters: Parameters): number;
  /** Returns how long the device stays off from now; 0 while it is on. Called before each cycle. */
  offForMs?(context: HookContext<Parameters>): number;
  /** Returns the wait until the next cycle; `defaultMs` is the default. */
  nextCycleMs?(context: HookContext<Parameters>, defaultMs: number): number;
  /** Returns the wait after an error; `defaultMs` is the default. */
  waitAfterErrorMs?(
    context: HookContext<Parameters>,
    failed: FailedRequest,
    defaultMs: number,
  ): number;
  /** Called at the end of each successful cycle. */
  eachCycle?(context: CycleContext<Parameters>): Promise<void>;
  /** Called before the first report: runs the update, or only claims to have done so. */
  whenOffered?(context: UpdateContext<Parameters>): Promise<'update' | 'claim-success'>;
  /** Called for each chunk of the file; the return value is what the device receives. */
  whileDownloading?(context: DownloadContext<Parameters>, piece: Buffer): Promise<Buffer>;
  /** Called halfway through the installation. */
  whileInstalling?(context: UpdateContext<Parameters>): Promise<void>;
  /**
   * Called after each reboot of an update; returns `down-again` when the device reboots once more.
   */
  afterReboot?(context: RebootContext<Parameters>): Promise<'up' | 'down-again'>;
  /** Called before the new artifact is made permanent; a failure here rolls back. */
  whileCommitting?(context: UpdateContext<Parameters>): Promise<void>;
  /** Returns true when the device stops an update whose report was answered with 409. */
  stopsWhenAborted?(parameters: Parameters): boolean;
}

/** Context of hooks that run while the artifact downloads. */
export interface DownloadContext<Parameters extends BehaviourParameters = BehaviourParameters>
  extends UpdateContext<Parameters> {
  /** Bytes of the file before this chunk. */
  readonly fromByte: number;
}

/** Context of the hook that runs right after a reboot. */
export interface RebootContext<Parameters extends BehaviourParameters = BehaviourParameters>
  extends UpdateContext<Parameters> {
  /** Reboots of this update so far, 1 after the first. */
  readonly reboots: number;
}

/** One way in which a device of the fleet works or fails. */
export interface Behaviour<Parameters extends BehaviourParameters = BehaviourParameters> {
  readonly name: string;
  /** One sentence: the real device that behaves like this. */
  readonly description: string;
  /** One sentence: how a good server treats such a device. */
  readonly expectedServerBehavior: string;
  readonly parameters: Parameters;
  readonly hooks: BehaviourHooks<Parameters>;
}

/**
 * Types a behaviour by its own parameters, so that editors can check a behaviour file.
 * @returns the same row
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
