/** By what a run steers its target: who the operator is, which powers there are, which parts. */
import { type Capability, capabilitiesOf } from '../capabilities.ts';
import { type Credentials, logIn } from '../setup.ts';
import type { Mask } from '../target/mask.ts';
import type { Session, Target } from '../target/target.ts';
import type { Control } from './control.ts';
import { type ControlAddress, HttpControl } from './http-control.ts';
import type { OperatorSource } from './operator-source.ts';

/** What a caller gives of the target beside its address. */
export interface SteeringOptions {
  /** A user of the management API; with `none` only the cases that need no user are played. */
  readonly credentials: Credentials;
  /** The control listener of a testbed. */
  readonly control?: ControlAddress;
}

/** What a run has in its hands. */
export interface Steering {
  readonly operator: OperatorSource;
  readonly control: Control | undefined;
  /** The parts of the API that the target has. */
  readonly parts: readonly Capability[];
}

/** Logs in and finds out what there is. @throws SetupError */
export async function openSteering(
  { target, session, mask }: { target: Target; session: Session; mask: Mask },
  { credentials, control }: SteeringOptions,
): Promise<Steering> {
  learnSecrets(mask, credentials, control);
  return {
    operator: await logIn(session, credentials, mask),
    control: control && new HttpControl(control, target.session()),
    parts: capabilitiesOf('part'),
  };
}

function learnSecrets(mask: Mask, credentials: Credentials, control?: ControlAddress): void {
  if (control) mask.learn(control.token, 'control-token');
  if (credentials === 'none') return;
  if ('token' in credentials) mask.learn(credentials.token, 'user-token');
  else mask.learn(credentials.password, 'password');
}
