/**
 * The form of a behaviour: which real device it stands for, what a good server does with it, and
 * what it does otherwise than others. The engine asks for hooks, never for a behaviour by name.
 */
import type { Alert, DeploymentLog } from '../../fixtures/contract/resources.ts';
import type { Random } from '../../fixtures/random.ts';
import type { LinkShape } from '../plan/policy.ts';

/**
 * The numbers of a behaviour; the end of each name is its unit (see `parameterUnits`). The first
 * two are how long an update takes on the device itself.
 */
export interface BehaviourParameters {
  readonly installMs: number;
  readonly rebootMs: number;
}

/** What every hook is told. */
interface HookContext<Parameters extends BehaviourParameters = BehaviourParameters> {
  readonly parameters: Parameters;
  /** The device's place in the fleet, from 0. */
  readonly index: number;
  /** True time in milliseconds since the Unix epoch, however wrong the device's own clock is. */
  readonly nowMs: number;
  /** How often the fleet's plan lets the device poll. */
  readonly pollIntervalMs: number;
  /** Numbers that the behaviour keeps of this device from one moment to the next. */
  readonly memory: Record<string, number>;
  /** Chance of this device alone; the same for the same seed and name. */
  chance(name: string): Random;
}

/** A moment in which the behaviour may act. */
export interface ActiveHookContext<Parameters extends BehaviourParameters = BehaviourParameters>
  extends HookContext<Parameters> {
  /** Waits; ends with the run. */
  rest(waitMs: number): Promise<void>;
}

/** Between two polls. What the server refuses here is counted and otherwise left at that. */
export interface CycleContext<Parameters extends BehaviourParameters = BehaviourParameters>
  extends ActiveHookContext<Parameters> {
  /** Sends alerts in one message; at most as many as the contract's limits allow. */
  postAlerts(alerts: readonly Alert[]): Promise<void>;
  /** Throws the key away and signs in with a new one; the server has not seen it before. */
  rotateKey(): Promise<void>;
  /** Reports the last status of the latest deployment that is over once more. */
  reportFinishedAgain(): Promise<void>;
  /** Lets a second device of the same identity and key sign in, tell its inventory, and poll. */
  letCloneSpeak(artifactName: string): Promise<void>;
}

/** While an update is underway. */
interface UpdateContext<Parameters extends BehaviourParameters = BehaviourParameters>
  extends ActiveHookContext<Parameters> {
  /** The deployment's id, as the device was given it. */
  readonly deploymentId: string;
  /** How often the device has begun this deployment; 1 the first time. */
  readonly beginning: number;
  /** Adds a line to the update's log. */
  log(level: LogLevel, message: string): void;
  /**
   * Asks the operator to abort this device's part in the deployment; false when there is none, or
   * when the server refuses.
   */
  askForAbort(): Promise<boolean>;
  /** Ends the update as a failure, with the reason in one sentence. */
  fail(because: string): never;
  /**
   * Cuts the power: the device is silent for so long, then it starts anew and signs in again. A
   * download goes on by range where it was, an installation is rolled back and fails, a reboot that
   * was cut short is over.
   */
  losePower(offMs: number): never;
}

/** As severe as a line of a log can be. */
export type LogLevel = 'debug' | 'info' | 'warning' | 'error';
/** A line of the log, as it is uploaded. */
export type LogLine = DeploymentLog['messages'][number];

/** What a behaviour knows when its device is made. */
interface StartFacts {
  /** The artifact that the run deploys, where it deploys one. */
  readonly deployedArtifact: string | undefined;
}

/** A fault after which the device is about to wait. */
interface FaultFacts {
  /** Status of the answer; undefined when there was none. */
  readonly status: number | undefined;
  /** The wait that the server asked for. */
  readonly retryAfterMs: number | undefined;
  /** 1 after the first fault in a row. */
  readonly attempt: number;
}

/** What a behaviour changes; whatever is absent goes as it does for a steady device. */
export interface BehaviourHooks<Parameters extends BehaviourParameters = BehaviourParameters> {
  /** Name of the artifact that is installed at the start; undefined for the usual one. */
  installedAtStart?(facts: StartFacts): string | undefined;
  /** The network between device and server, instead of that of its cohort. */
  link?(parameters: Parameters): LinkShape;
  /** How far the device's own clock is ahead of the true time; below zero behind it. */
  clockSkewMs?(parameters: Parameters): number;
  /** Whether it gets a new token when the old one runs out or is refused. */
  renewsToken?(parameters: Parameters): boolean;
  /** How long a persistent connection is held before the device drops it. */
  socketHoldsMs?(parameters: Parameters): number;
  /** How long from now the device is switched off; 0 while it is on. Asked before each cycle. */
  offForMs?(moment: HookContext<Parameters>): number;
  /** How long until the next cycle, where the usual wait is `usualMs`. */
  nextCycleMs?(moment: HookContext<Parameters>, usualMs: number): number;
  /** How long to wait after a fault, where the usual wait is `usualMs`. */
  waitAfterFaultMs?(moment: HookContext<Parameters>, fault: FaultFacts, usualMs: number): number;
  /** Called at the end of each cycle that went well. */
  eachCycle?(moment: CycleContext<Parameters>): Promise<void>;
  /** Called before the first report: goes through the update, or only claims to have done so. */
  whenOffered?(moment: UpdateContext<Parameters>): Promise<'update' | 'claim-success'>;
  /** Called for each piece of the file; what it gives back is what the device has received. */
  whileDownloading?(moment: DownloadContext<Parameters>, piece: Buffer): Promise<Buffer>;
  /** Called in the middle of the installation. */
  whileInstalling?(moment: UpdateContext<Parameters>): Promise<void>;
  /** Called after each reboot of an update: whether it is up, or goes down once more. */
  afterReboot?(moment: RebootContext<Parameters>): Promise<'up' | 'down-again'>;
  /** Called before the new artifact is made permanent; a failure here rolls back. */
  whileCommitting?(moment: UpdateContext<Parameters>): Promise<void>;
  /** Whether it stops an update whose report was answered with 409. */
  stopsWhenAborted?(parameters: Parameters): boolean;
}

/** While the artifact streams in. */
export interface DownloadContext<Parameters extends BehaviourParameters = BehaviourParameters>
  extends UpdateContext<Parameters> {
  /** Bytes of the file before this piece. */
  readonly fromByte: number;
}

/** Right after a reboot. */
export interface RebootContext<Parameters extends BehaviourParameters = BehaviourParameters>
  extends UpdateContext<Parameters> {
  /** Reboots of this update so far; 1 after the first. */
  readonly reboots: number;
}

/** One way to live, and to fail, as a device of the fleet. */
export interface Behaviour<Parameters extends BehaviourParameters = BehaviourParameters> {
  readonly name: string;
  /** One sentence: the real device that acts like this. */
  readonly description: string;
  /** One sentence: how a good server treats such a device. */
  readonly expectedServerBehavior: string;
  readonly parameters: Parameters;
  readonly hooks: BehaviourHooks<Parameters>;
}

/**
 * A behaviour with the types of its own parameters; in a behaviour file, for the editor's sake.
 * @returns the same row
 */
export function defineBehaviour<Parameters extends BehaviourParameters>(
  row: Behaviour<Parameters>,
): Behaviour {
  return row;
}

/** An update that fails on the device, with the reason in one sentence. */
export class UpdateFailure extends Error {
  override readonly name = 'UpdateFailure';
}
