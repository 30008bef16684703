/** The form of a behaviour: which real device it stands for and what it does otherwise than others. */

/** What a behaviour may do while the device installs. */
interface InstallMoment {
  /** Adds a line to the update's log. */
  log(level: 'debug' | 'info' | 'warning' | 'error', message: string): void;
  /**
   * Asks the operator to abort this device's part in the deployment; false when there is none, or
   * when the server refuses.
   */
  askForAbort(): Promise<boolean>;
}

/** What a behaviour knows when its device is made. */
interface StartFacts {
  /** The artifact that the run deploys, where it deploys one. */
  readonly deployedArtifact: string | undefined;
}

/** What a behaviour changes; whatever is absent goes as it does for a steady device. */
export interface BehaviourHooks {
  /** Name of the artifact that is installed at the start; undefined for the usual one. */
  installedAtStart?(facts: StartFacts): string | undefined;
  /** Called in the middle of the installation. Throws UpdateFailure to make it fail. */
  whileInstalling?(moment: InstallMoment): Promise<void>;
}

/** How long the parts of an update take on the device itself, in milliseconds. */
export interface BehaviourParameters {
  readonly installMs: number;
  readonly rebootMs: number;
}

/** One way to live, and to fail, as a device of the fleet. */
export interface Behaviour {
  readonly name: string;
  /** One sentence: which real device does this. */
  readonly standsFor: string;
  readonly parameters: BehaviourParameters;
  readonly hooks: BehaviourHooks;
}

/** An update that fails on the device, with the reason in one sentence. */
export class UpdateFailure extends Error {
  override readonly name = 'UpdateFailure';
}
